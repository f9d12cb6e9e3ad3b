package callsite

import (
	"debug/elf"

	"trapline/kernel/arch"
)

// See AAELF64, 5.7.8.
var _ = calls.Row(arch.ARM64, call{
	before: 0,
	length: 4,
	types:  []uint32{uint32(elf.R_AARCH64_CALL26)},
	nops:   "\x1f\x20\x03\xd5",
	none:   uint32(elf.R_AARCH64_NONE),
})
