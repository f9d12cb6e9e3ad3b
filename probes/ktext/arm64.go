package ktext

import (
	"encoding/binary"

	"trapline/probes/patch"
)

// arm64Function looks for stp x, x, [sp, #-n]! or sub sp, sp, #n, or for a nop at the
// beginning, the mark of assembly that may be traced; a bti before it does not count.
func arm64Function(instrs []patch.Instr) string {
	for i, in := range instrs {
		w := binary.LittleEndian.Uint32(in.Code)
		switch {
		case w&0xffc003e0 == 0xa98003e0, w&0xff8003ff == 0xd10003ff:
			return ""
		case w == 0xd503201f && (i == 0 || i == 1 && isBTI(instrs[0].Code)):
			return ""
		}
	}
	return "the function makes no room on the stack"
}

func isBTI(code []byte) bool { return binary.LittleEndian.Uint32(code)&0xffffff3f == 0xd503241f }

func arm64Instruction(instrs []patch.Instr, i int) string {
	switch w := binary.LittleEndian.Uint32(instrs[i].Code); {
	case w&0x1f000000 == 0x10000000:
		return "adr and adrp are not traced"
	case exclusive(instrs, i, arm64LoadExclusive, arm64StoreExclusive):
		return inExclusive
	}
	return ""
}

// arm64LoadExclusive tells ldxr, ldaxr and their like (Arm ARM, C4.1.94).
func arm64LoadExclusive(code []byte) bool {
	w := binary.LittleEndian.Uint32(code)
	return w&0x3fe00000 == 0x08400000 || w&0xbfe00000 == 0x88600000
}

// arm64StoreExclusive tells stxr, stlxr and their like.
func arm64StoreExclusive(code []byte) bool {
	w := binary.LittleEndian.Uint32(code)
	return w&0x3fe00000 == 0x08000000 || w&0xbfe00000 == 0x88200000
}
