package insn

import (
	"encoding/binary"

	"trapline/kernel/arch"
)

// A riscv64Row is the instructions of n bytes whose bits under mask are value, which name or save
// their own address.
type riscv64Row struct {
	n           int
	mask, value uint32
	do          func(w uint32) arch.Emulation
}

// riscv64Rows are all of them (Unprivileged ISA, 24.1 and 16.8).
var riscv64Rows = []riscv64Row{
	{4, 0x0000007f, 0x00000017, riscv64AUIPC},
	{4, 0x0000007f, 0x0000006f, riscv64JAL},
	{4, 0x0000707f, 0x00000067, riscv64JALR},
	{4, 0x0000707f, 0x00000063, riscv64Branch(arch.OpIfEQ)},  // beq
	{4, 0x0000707f, 0x00001063, riscv64Branch(arch.OpIfNE)},  // bne
	{4, 0x0000707f, 0x00004063, riscv64Branch(arch.OpIfLT)},  // blt
	{4, 0x0000707f, 0x00005063, riscv64Branch(arch.OpIfGE)},  // bge
	{4, 0x0000707f, 0x00006063, riscv64Branch(arch.OpIfLTU)}, // bltu
	{4, 0x0000707f, 0x00007063, riscv64Branch(arch.OpIfGEU)}, // bgeu
	{2, 0xe003, 0xa001, riscv64CJ},
	{2, 0xe003, 0xc001, riscv64CBranch(arch.OpIfEQ)}, // c.beqz
	{2, 0xe003, 0xe001, riscv64CBranch(arch.OpIfNE)}, // c.bnez
	{2, 0xf07f, 0x8002, riscv64CJR},
	{2, 0xf07f, 0x9002, riscv64CJALR},
}

// RISCV64Emulation returns what an instruction does that names or saves its own address, of the
// type OpNone for every other.
func RISCV64Emulation(code []byte) arch.Emulation {
	n, err := riscv64Length(code)
	if err != nil {
		return arch.Emulation{}
	}
	w := riscv64Word(code, n)
	if n == 2 && (w == 0x8002 || w == 0x9002) { // c.jr x0, which is reserved, and c.ebreak
		return arch.Emulation{}
	}
	for i := range riscv64Rows {
		if r := &riscv64Rows[i]; n == r.n && w&r.mask == r.value {
			return r.do(w)
		}
	}
	return arch.Emulation{}
}

// riscv64Word is an instruction of n bytes.
func riscv64Word(code []byte, n int) uint32 {
	if n == 2 {
		return uint32(binary.LittleEndian.Uint16(code))
	}
	return binary.LittleEndian.Uint32(code)
}

// riscv64Reg is the register in five bits of w from bit lo on. x0 is none.
func riscv64Reg(w uint32, lo uint) arch.Reg {
	if n := w >> lo & 31; n != 0 {
		return arch.RISCV64X0 + arch.Reg(n)
	}
	return arch.NoReg
}

// A piece is n bits of an instruction from bit from on, which are those of an immediate
// from bit to on.
type piece struct{ from, n, to uint }

// The immediates (Unprivileged ISA, 2.3 and 16.2); the first piece has the sign.
var (
	riscv64ImmJ  = []piece{{31, 1, 20}, {12, 8, 12}, {20, 1, 11}, {21, 10, 1}}
	riscv64ImmB  = []piece{{31, 1, 12}, {7, 1, 11}, {25, 6, 5}, {8, 4, 1}}
	riscv64ImmCJ = []piece{{12, 1, 11}, {8, 1, 10}, {9, 2, 8}, {6, 1, 7}, {7, 1, 6}, {2, 1, 5}, {11, 1, 4}, {3, 3, 1}}
	riscv64ImmCB = []piece{{12, 1, 8}, {5, 2, 6}, {2, 1, 5}, {10, 2, 3}, {3, 2, 1}}
)

// gather puts an immediate together.
func gather(w uint32, pieces []piece) (imm int64) {
	for _, p := range pieces {
		imm |= int64(w>>p.from&(1<<p.n-1)) << p.to
	}
	sign := int64(1) << pieces[0].to
	return imm&(sign-1) - imm&sign
}

func riscv64AUIPC(w uint32) arch.Emulation {
	return arch.Emulation{Op: arch.OpSet, A: riscv64Reg(w, 7), B: arch.NoReg, Imm: signedField(w, 12, 20) << 12}
}

func riscv64JAL(w uint32) arch.Emulation {
	return arch.Emulation{Op: arch.OpJump, A: riscv64Reg(w, 7), B: arch.NoReg, Imm: gather(w, riscv64ImmJ)}
}

// riscv64JALR reads its register before it writes one: they may be the same.
func riscv64JALR(w uint32) arch.Emulation {
	return arch.Emulation{Op: arch.OpJumpReg, A: riscv64Reg(w, 7), B: riscv64Reg(w, 15), C: 1, Imm: signedField(w, 20, 12)}
}

func riscv64Branch(op arch.Op) func(uint32) arch.Emulation {
	return func(w uint32) arch.Emulation {
		b, c := riscv64Reg(w, 15), riscv64Reg(w, 20)
		return arch.Emulation{Op: op, A: arch.NoReg, B: b, C: uint8(c), Imm: gather(w, riscv64ImmB)}
	}
}

func riscv64CJ(w uint32) arch.Emulation {
	return arch.Emulation{Op: arch.OpJump, A: arch.NoReg, B: arch.NoReg, Imm: gather(w, riscv64ImmCJ)}
}

// riscv64CBranch compares one of the eight registers from x8 on with zero.
func riscv64CBranch(op arch.Op) func(uint32) arch.Emulation {
	return func(w uint32) arch.Emulation {
		b := arch.RISCV64X0 + 8 + arch.Reg(w>>7&7)
		return arch.Emulation{Op: op, A: arch.NoReg, B: b, C: uint8(arch.NoReg), Imm: gather(w, riscv64ImmCB)}
	}
}

func riscv64CJR(w uint32) arch.Emulation {
	return arch.Emulation{Op: arch.OpJumpReg, A: arch.NoReg, B: riscv64Reg(w, 7), C: 1}
}

func riscv64CJALR(w uint32) arch.Emulation {
	return arch.Emulation{Op: arch.OpJumpReg, A: arch.RISCV64RA, B: riscv64Reg(w, 7), C: 1}
}
