package kernel

import (
	"debug/elf"
	"encoding/binary"

	"trapline/kernel/arch"
)

// See ELF for the Arm 64-bit Architecture, 5.7.
var _ = relocators.Row(arch.ARM64, map[uint32]relocator{
	uint32(elf.R_AARCH64_ABS64): put64, uint32(elf.R_AARCH64_ABS32): put32,
	uint32(elf.R_AARCH64_PREL64): rel64, uint32(elf.R_AARCH64_PREL32): rel32,
	uint32(elf.R_AARCH64_CALL26): arm64Branch, uint32(elf.R_AARCH64_JUMP26): arm64Branch,
})

var arm64Branch = relocator{4, func(r relocation) {
	const mask = 1<<26 - 1
	le := binary.LittleEndian
	le.PutUint32(r.place, le.Uint32(r.place)&^mask|uint32((r.value-r.at)>>2)&mask)
}}

// ELF for the Arm 64-bit Architecture, 5.7.11.
var _ = slots.Row(arch.ARM64, map[uint32]slot{
	uint32(elf.R_AARCH64_ABS64): slot64, uint32(elf.R_AARCH64_GLOB_DAT): slot64,
	uint32(elf.R_AARCH64_JUMP_SLOT): slot64, uint32(elf.R_AARCH64_IRELATIVE): slot64,
})
