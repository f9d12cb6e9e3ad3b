package callsite

import (
	"debug/elf"

	"trapline/kernel/arch"
)

// See psABI of x86-64, 4.4.1.
var _ = calls.Row(arch.AMD64, call{
	before: 1,
	length: 5,
	types:  []uint32{uint32(elf.R_X86_64_PLT32), uint32(elf.R_X86_64_PC32)},
	nops:   "\x0f\x1f\x44\x00\x00", // nopl 0(%rax,%rax)
	none:   uint32(elf.R_X86_64_NONE),
})
