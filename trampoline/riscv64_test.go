package trampoline

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"golang.org/x/arch/riscv64/riscv64asm"

	"trapline/kernel/arch"
)

const (
	riscv64PC   = 0xffffffff80200ffe
	riscv64Slot = 0xffffffffe8000000
)

// riscv64Patterns are the instructions that name or save their own address (Unprivileged ISA, 24.1
// and 16.8).
var riscv64Patterns = []pattern{
	{4, 0x0000007f, 0x00000017}, // auipc
	{4, 0x0000007f, 0x0000006f}, // jal
	{4, 0x0000707f, 0x00000067}, // jalr
	{4, 0x0000507f, 0x00000063}, // beq, bne
	{4, 0x0000407f, 0x00004063}, // blt, bge, bltu, bgeu
	{2, 0x0000e003, 0x0000a001}, // c.j
	{2, 0x0000c003, 0x0000c001}, // c.beqz, c.bnez
	{2, 0x0000e07f, 0x00008002}, // c.jr, c.jalr
}

func TestRISCV64Rows(t *testing.T) { testRows(t, RISCV64, riscv64PC, riscv64Slot) }

// TestRISCV64Halves compares the plans of all instructions of two bytes with what x/arch
// takes them for, but for c.j, whose bits x/arch mixes up.
func TestRISCV64Halves(t *testing.T) {
	for h := range 1 << 16 {
		if h&3 != 3 && h&0xe003 != 0xa001 {
			checkRISCV64(t, binary.LittleEndian.AppendUint16(nil, uint16(h)))
		}
	}
}

// TestRISCV64Words does so for random instructions of four bytes, many of them branches.
func TestRISCV64Words(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	opcodes := []uint32{0x17, 0x6f, 0x67, 0x63, 0x63, 0x73, 0x2f}
	for range 50_000 {
		w := rnd.Uint32() | 3
		if rnd.IntN(4) > 0 {
			w = w&^0x7f | opcodes[rnd.IntN(len(opcodes))]
		}
		if w&0x1f != 0x1f {
			checkRISCV64(t, binary.LittleEndian.AppendUint32(nil, w))
		}
	}
}

func checkRISCV64(t *testing.T, code []byte) {
	p := RISCV64.Plan(code, riscv64PC)
	in, err := riscv64asm.Decode(code)
	if err != nil || in.Len != len(code) { // not an instruction, or not one of RV64GC
		if p.Kind != Copy && p.Kind != Emulate {
			t.Errorf("% x is not an instruction: %v", code, p.Kind)
		}
		return
	}
	want, emulated := riscv64Oracle(in)
	switch {
	case in.Op == riscv64asm.EBREAK:
		if p.Kind != Guest {
			t.Errorf("% x (%v): %v, want guest", code, in, p.Kind)
		}
	case !emulated:
		if p.Kind != Copy {
			t.Errorf("% x (%v): %v, want copy", code, in, p.Kind)
		}
	default:
		if got := RISCV64.Do(p, code, riscv64PC); p.Kind != Emulate || p.InSlot() || got != want {
			t.Errorf("% x (%v): %v %s, want %s", code, in, p.Kind, got.Text(arch.RISCV64), want.Text(arch.RISCV64))
		}
	}
}

var riscv64Branches = map[riscv64asm.Op]arch.Op{
	riscv64asm.BEQ: arch.OpIfEQ, riscv64asm.BNE: arch.OpIfNE, riscv64asm.BLT: arch.OpIfLT,
	riscv64asm.BGE: arch.OpIfGE, riscv64asm.BLTU: arch.OpIfLTU, riscv64asm.BGEU: arch.OpIfGEU,
}

// riscv64Oracle is what a machine has to do for an instruction that must not be copied.
// x/arch decodes short forms as the long ones they stand for.
func riscv64Oracle(in riscv64asm.Inst) (arch.Emulation, bool) {
	reg := func(a riscv64asm.Arg) arch.Reg {
		if r := a.(riscv64asm.Reg); r != riscv64asm.X0 {
			return arch.RISCV64X0 + arch.Reg(r-riscv64asm.X0)
		}
		return arch.NoReg
	}
	imm := func(a riscv64asm.Arg) int64 { return int64(a.(riscv64asm.Simm).Imm) }
	if op, ok := riscv64Branches[in.Op]; ok {
		return arch.Emulation{Op: op, A: arch.NoReg, B: reg(in.Args[0]), C: uint8(reg(in.Args[1])), Imm: imm(in.Args[2])}, true
	}
	switch in.Op {
	case riscv64asm.AUIPC:
		upper := int64(int32(in.Args[1].(riscv64asm.Uimm).Imm << 12))
		return arch.Emulation{Op: arch.OpSet, A: reg(in.Args[0]), B: arch.NoReg, Imm: upper}, true
	case riscv64asm.JAL:
		return arch.Emulation{Op: arch.OpJump, A: reg(in.Args[0]), B: arch.NoReg, Imm: imm(in.Args[1])}, true
	case riscv64asm.JALR:
		to := in.Args[1].(riscv64asm.RegOffset)
		return arch.Emulation{Op: arch.OpJumpReg, A: reg(in.Args[0]), B: reg(to.OfsReg), C: 1, Imm: imm(to.Ofs)}, true
	}
	return arch.Emulation{}, false
}
