package kernel

import (
	"debug/elf"
	"encoding/binary"
	"maps"

	"trapline/kernel/arch"
)

// See RISC-V ELF psABI, table 3.
var _ = relocators.Row(arch.RISCV64, riscv64Kinds())

func riscv64Kinds() map[uint32]relocator {
	kinds := map[uint32]relocator{
		uint32(elf.R_RISCV_64): put64, uint32(elf.R_RISCV_32): put32, uint32(elf.R_RISCV_32_PCREL): rel32,
		uint32(elf.R_RISCV_CALL): riscv64Call, uint32(elf.R_RISCV_CALL_PLT): riscv64Call,
		uint32(elf.R_RISCV_SET6): {1, func(r relocation) { r.place[0] = r.place[0]&0xc0 | byte(r.value)&0x3f }},
		uint32(elf.R_RISCV_SUB6): {1, func(r relocation) { r.place[0] = r.place[0]&0xc0 | (r.place[0]-byte(r.value))&0x3f }},
		riscv64SetULEB:           {1, func(r relocation) { riscv64ULEB(r.place, func(uint64) uint64 { return r.value }) }},
		riscv64SubULEB:           {1, func(r relocation) { riscv64ULEB(r.place, func(old uint64) uint64 { return old - r.value }) }},
	}
	maps.Copy(kinds, riscv64Sums)
	return kinds
}

// Two kinds that package elf does not know: a number in unsigned LEB128, whose length stays.
const riscv64SetULEB, riscv64SubULEB = 60, 61

var riscv64Sums = map[uint32]relocator{
	uint32(elf.R_RISCV_SET8): riscv64Sum(1, 0, 1), uint32(elf.R_RISCV_ADD8): riscv64Sum(1, 1, 1), uint32(elf.R_RISCV_SUB8): riscv64Sum(1, 1, -1),
	uint32(elf.R_RISCV_SET16): riscv64Sum(2, 0, 1), uint32(elf.R_RISCV_ADD16): riscv64Sum(2, 1, 1), uint32(elf.R_RISCV_SUB16): riscv64Sum(2, 1, -1),
	uint32(elf.R_RISCV_SET32): riscv64Sum(4, 0, 1), uint32(elf.R_RISCV_ADD32): riscv64Sum(4, 1, 1), uint32(elf.R_RISCV_SUB32): riscv64Sum(4, 1, -1),
	uint32(elf.R_RISCV_ADD64): riscv64Sum(8, 1, 1), uint32(elf.R_RISCV_SUB64): riscv64Sum(8, 1, -1),
}

// riscv64Sum makes a number of size bytes keep times itself, plus sign times the value.
func riscv64Sum(size int, keep, sign int64) relocator {
	return relocator{size, func(r relocation) {
		var word [8]byte
		copy(word[:], r.place[:size])
		le := binary.LittleEndian
		le.PutUint64(word[:], le.Uint64(word[:])*uint64(keep)+r.value*uint64(sign))
		copy(r.place[:size], word[:size])
	}}
}

func riscv64ULEB(p []byte, change func(old uint64) uint64) {
	n := 0
	for n < len(p)-1 && n < 9 && p[n]&0x80 != 0 {
		n++
	}
	old := uint64(0)
	for i := range n + 1 {
		old |= uint64(p[i]&0x7f) << (7 * i)
	}
	v := change(old)
	for i := range n + 1 {
		p[i] = p[i]&0x80 | byte(v)&0x7f
		v >>= 7
	}
}

// riscv64Call is an AUIPC and the JALR behind it.
var riscv64Call = relocator{8, func(r relocation) {
	le, d := binary.LittleEndian, uint32(r.value-r.at)
	le.PutUint32(r.place, le.Uint32(r.place)&0xfff|(d+0x800)&0xfffff000)
	le.PutUint32(r.place[4:], le.Uint32(r.place[4:])&0xfffff|d<<20)
}}

// RISC-V ELF psABI, 8.5.
var _ = slots.Row(arch.RISCV64, map[uint32]slot{
	uint32(elf.R_RISCV_64): slot64, uint32(elf.R_RISCV_JUMP_SLOT): slot64, irelative: slot64,
})

const irelative = 58 // R_RISCV_IRELATIVE
