package callsite

import (
	"debug/elf"

	"trapline/kernel/arch"
)

// See RISC-V ELF psABI, 8.4.
var _ = calls.Row(arch.RISCV64, call{
	before: 0,
	length: 8,
	types:  []uint32{uint32(elf.R_RISCV_CALL), uint32(elf.R_RISCV_CALL_PLT)},
	nops:   "\x13\x00\x00\x00\x13\x00\x00\x00",
	none:   uint32(elf.R_RISCV_RELAX), // the loader of Linux knows no R_RISCV_NONE
})
