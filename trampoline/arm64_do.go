package trampoline

import "trapline/kernel/arch"

// armDo returns what the machine does for an instruction.
func armDo(p Plan, code []byte, pc uint64) arch.Emulation {
	if len(code) < 4 || p.Kind == Refuse {
		return arch.Emulation{}
	}
	if c := armClassOf(armWord(code)); c != nil && c.do != nil {
		return c.do(armWord(code), pc)
	}
	return arch.Emulation{}
}

// signed is the number in n bits of w from bit lo on.
func signed(w uint32, lo, n uint) int64 { return int64(int32(w<<(32-lo-n)) >> (32 - n)) }

func armADR(w uint32, pc uint64) arch.Emulation {
	imm := signed(w, 5, 19)<<2 | int64(w>>29&3)
	if w>>31 == 1 { // adrp counts in pages of 4096 bytes, from its own
		imm = imm<<12 - int64(pc&0xfff)
	}
	return arch.Emulation{Op: arch.OpSet, A: armReg(w), B: arch.NoReg, Imm: imm}
}

func armB(w uint32, _ uint64) arch.Emulation {
	e := arch.Emulation{Op: arch.OpJump, A: arch.NoReg, B: arch.NoReg, Imm: signed(w, 0, 26) * 4}
	if w>>31 == 1 {
		e.A = arch.ArmLR
	}
	return e
}

func armBCond(w uint32, _ uint64) arch.Emulation {
	return arch.Emulation{Op: arch.OpIfFlags, A: arch.NoReg, B: arch.NoReg, C: uint8(w & 15), Imm: signed(w, 5, 19) * 4}
}

// armCBZ: the form for W registers looks at 32 bits.
func armCBZ(w uint32, _ uint64) arch.Emulation {
	op := [2][2]arch.Op{{arch.OpIfEQ32, arch.OpIfNE32}, {arch.OpIfEQ, arch.OpIfNE}}[w>>31][w>>24&1]
	return arch.Emulation{Op: op, A: arch.NoReg, B: armReg(w), C: uint8(arch.NoReg), Imm: signed(w, 5, 19) * 4}
}

func armTBZ(w uint32, _ uint64) arch.Emulation {
	op := [2]arch.Op{arch.OpIfBitClr, arch.OpIfBitSet}[w>>24&1]
	bit := uint8(w>>31<<5 | w>>19&31)
	return arch.Emulation{Op: op, A: arch.NoReg, B: armReg(w), C: bit, Imm: signed(w, 5, 14) * 4}
}

func armBR(w uint32, _ uint64) arch.Emulation {
	return arch.Emulation{Op: arch.OpJumpReg, A: arch.NoReg, B: armReg(w >> 5)}
}

func armBLR(w uint32, _ uint64) arch.Emulation {
	return arch.Emulation{Op: arch.OpJumpReg, A: arch.ArmLR, B: armReg(w >> 5)}
}

func armLink(uint32, uint64) arch.Emulation {
	return arch.Emulation{Op: arch.OpLendOut, A: arch.ArmLR, B: arch.NoReg}
}

func armLendTo(w uint32, _ uint64) arch.Emulation {
	return arch.Emulation{Op: arch.OpLend, A: armBorrowed(w), B: armWritten(w), Imm: signed(w, 5, 19) * 4}
}
