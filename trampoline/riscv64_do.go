package trampoline

import "trapline/kernel/arch"

// riscvDo returns what the machine does for an instruction.
func riscvDo(p Plan, code []byte, _ uint64) arch.Emulation {
	if p.form != formDo || len(code) < int(p.Len) {
		return arch.Emulation{}
	}
	n := int(p.Len)
	w := riscvWord(code, n)
	return riscvClassOf(w, n).do(w)
}

// riscvReg is the register in five bits of w from bit lo on. x0 is none.
func riscvReg(w uint32, lo uint) arch.Reg {
	if n := w >> lo & 31; n != 0 {
		return arch.RiscvX0 + arch.Reg(n)
	}
	return arch.NoReg
}

// A piece is n bits of an instruction from bit from on, which are those of an immediate
// from bit to on.
type piece struct{ from, n, to uint }

// The immediates (Unprivileged ISA, 2.3 and 16.2); the first piece has the sign.
var (
	riscvImmJ  = []piece{{31, 1, 20}, {12, 8, 12}, {20, 1, 11}, {21, 10, 1}}
	riscvImmB  = []piece{{31, 1, 12}, {7, 1, 11}, {25, 6, 5}, {8, 4, 1}}
	riscvImmCJ = []piece{{12, 1, 11}, {8, 1, 10}, {9, 2, 8}, {6, 1, 7}, {7, 1, 6}, {2, 1, 5}, {11, 1, 4}, {3, 3, 1}}
	riscvImmCB = []piece{{12, 1, 8}, {5, 2, 6}, {2, 1, 5}, {10, 2, 3}, {3, 2, 1}}
)

// gather puts an immediate together.
func gather(w uint32, pieces []piece) (imm int64) {
	for _, p := range pieces {
		imm |= int64(w>>p.from&(1<<p.n-1)) << p.to
	}
	sign := int64(1) << pieces[0].to
	return imm&(sign-1) - imm&sign
}

func riscvAUIPC(w uint32) arch.Emulation {
	return arch.Emulation{Op: arch.OpSet, A: riscvReg(w, 7), B: arch.NoReg, Imm: signed(w, 12, 20) << 12}
}

func riscvJAL(w uint32) arch.Emulation {
	return arch.Emulation{Op: arch.OpJump, A: riscvReg(w, 7), B: arch.NoReg, Imm: gather(w, riscvImmJ)}
}

// riscvJALR reads its register before it writes one: they may be the same.
func riscvJALR(w uint32) arch.Emulation {
	return arch.Emulation{Op: arch.OpJumpReg, A: riscvReg(w, 7), B: riscvReg(w, 15), C: 1, Imm: signed(w, 20, 12)}
}

func riscvBranch(op arch.Op) func(uint32) arch.Emulation {
	return func(w uint32) arch.Emulation {
		b, c := riscvReg(w, 15), riscvReg(w, 20)
		return arch.Emulation{Op: op, A: arch.NoReg, B: b, C: uint8(c), Imm: gather(w, riscvImmB)}
	}
}

func riscvCJ(w uint32) arch.Emulation {
	return arch.Emulation{Op: arch.OpJump, A: arch.NoReg, B: arch.NoReg, Imm: gather(w, riscvImmCJ)}
}

// riscvCBranch compares one of the eight registers from x8 on with zero.
func riscvCBranch(op arch.Op) func(uint32) arch.Emulation {
	return func(w uint32) arch.Emulation {
		b := arch.RiscvX0 + 8 + arch.Reg(w>>7&7)
		return arch.Emulation{Op: op, A: arch.NoReg, B: b, C: uint8(arch.NoReg), Imm: gather(w, riscvImmCB)}
	}
}

func riscvCJR(w uint32) arch.Emulation {
	return arch.Emulation{Op: arch.OpJumpReg, A: arch.NoReg, B: riscvReg(w, 7), C: 1}
}

func riscvCJALR(w uint32) arch.Emulation {
	return arch.Emulation{Op: arch.OpJumpReg, A: arch.RiscvRA, B: riscvReg(w, 7), C: 1}
}
