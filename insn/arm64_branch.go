package insn

import (
	"encoding/binary"

	"trapline/kernel/arch"
)

// An arm64Row is the instructions whose bits under mask are value, which name or save their own
// address.
type arm64Row struct {
	mask, value uint32
	do          func(w uint32, pc uint64) arch.Emulation
}

// arm64Rows are all but the authenticated branches, which need keys (Arm ARM, C4.1).
var arm64Rows = []arm64Row{
	{0x1f000000, 0x10000000, arm64ADR}, // adr, adrp
	{0x7c000000, 0x14000000, arm64B},   // b, bl
	{0xff000010, 0x54000000, arm64BCond},
	{0x7e000000, 0x34000000, arm64CBZ}, // cbz, cbnz
	{0x7e000000, 0x36000000, arm64TBZ}, // tbz, tbnz
	{0xfffffc1f, 0xd61f0000, arm64BR},  // br
	{0xfffffc1f, 0xd65f0000, arm64BR},  // ret
	{0xfffffc1f, 0xd63f0000, arm64BLR},
}

// ARM64Emulation returns what an instruction at pc does that names or saves its own address, of
// the type OpNone for every other, and for authenticated branches.
func ARM64Emulation(code []byte, pc uint64) arch.Emulation {
	if len(code) < 4 {
		return arch.Emulation{}
	}
	return arm64Emulation(arm64Word(code), pc)
}

func arm64Emulation(w uint32, pc uint64) arch.Emulation {
	for i := range arm64Rows {
		if r := &arm64Rows[i]; w&r.mask == r.value {
			return r.do(w, pc)
		}
	}
	return arch.Emulation{}
}

// ARM64Literal returns how far from its own address the literal lies that an instruction loads
// or prefetches. It is not ok for other instructions.
func ARM64Literal(w uint32) (off int64, ok bool) {
	undefined := w>>24 == 0xdc // a literal of no size
	return signedField(w, 5, 19) * 4, w&0x3b000000 == 0x18000000 && !undefined
}

func arm64Word(code []byte) uint32 { return binary.LittleEndian.Uint32(code) }

// arm64Reg is the register in the lowest five bits of w. Number 31 is the zero register.
func arm64Reg(w uint32) arch.Reg {
	if w &= 31; w != 31 {
		return arch.ARM64X0 + arch.Reg(w)
	}
	return arch.NoReg
}

func arm64ADR(w uint32, pc uint64) arch.Emulation {
	imm := signedField(w, 5, 19)<<2 | int64(w>>29&3)
	if w>>31 == 1 { // adrp counts in pages of 4096 bytes, from its own
		imm = imm<<12 - int64(pc&0xfff)
	}
	return arch.Emulation{Op: arch.OpSet, A: arm64Reg(w), B: arch.NoReg, Imm: imm}
}

func arm64B(w uint32, _ uint64) arch.Emulation {
	e := arch.Emulation{Op: arch.OpJump, A: arch.NoReg, B: arch.NoReg, Imm: signedField(w, 0, 26) * 4}
	if w>>31 == 1 {
		e.A = arch.ARM64LR
	}
	return e
}

func arm64BCond(w uint32, _ uint64) arch.Emulation {
	return arch.Emulation{Op: arch.OpIfFlags, A: arch.NoReg, B: arch.NoReg, C: uint8(w & 15), Imm: signedField(w, 5, 19) * 4}
}

// arm64CBZ: the form for W registers looks at 32 bits.
func arm64CBZ(w uint32, _ uint64) arch.Emulation {
	op := [2][2]arch.Op{{arch.OpIfEQ32, arch.OpIfNE32}, {arch.OpIfEQ, arch.OpIfNE}}[w>>31][w>>24&1]
	return arch.Emulation{Op: op, A: arch.NoReg, B: arm64Reg(w), C: uint8(arch.NoReg), Imm: signedField(w, 5, 19) * 4}
}

func arm64TBZ(w uint32, _ uint64) arch.Emulation {
	op := [2]arch.Op{arch.OpIfBitClr, arch.OpIfBitSet}[w>>24&1]
	bit := uint8(w>>31<<5 | w>>19&31)
	return arch.Emulation{Op: op, A: arch.NoReg, B: arm64Reg(w), C: bit, Imm: signedField(w, 5, 14) * 4}
}

func arm64BR(w uint32, _ uint64) arch.Emulation {
	return arch.Emulation{Op: arch.OpJumpReg, A: arch.NoReg, B: arm64Reg(w >> 5)}
}

func arm64BLR(w uint32, _ uint64) arch.Emulation {
	return arch.Emulation{Op: arch.OpJumpReg, A: arch.ARM64LR, B: arm64Reg(w >> 5)}
}
