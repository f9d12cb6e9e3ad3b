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

// The dynamic ones of the same table.
var _ = slots.Row(arch.AMD64, map[uint32]slot{
	uint32(elf.R_X86_64_64): slot64, uint32(elf.R_X86_64_32): slot32, uint32(elf.R_X86_64_32S): slot32,
	uint32(elf.R_X86_64_PC32): slotRel32, uint32(elf.R_X86_64_PLT32): slotRel32,
	uint32(elf.R_X86_64_GLOB_DAT): slot64, uint32(elf.R_X86_64_JMP_SLOT): slot64, uint32(elf.R_X86_64_IRELATIVE): slot64,
})
