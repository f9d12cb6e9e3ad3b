package kernel

import (
	"debug/elf"

	"trapline/kernel/arch"
)

// See System V ABI for AMD64, table 4.9.
var _ = relocators.Row(arch.AMD64, map[uint32]relocator{
	uint32(elf.R_X86_64_64): put64, uint32(elf.R_X86_64_32): put32, uint32(elf.R_X86_64_32S): put32,
	uint32(elf.R_X86_64_PC32): rel32, uint32(elf.R_X86_64_PLT32): rel32, uint32(elf.R_X86_64_PC64): rel64,
})
