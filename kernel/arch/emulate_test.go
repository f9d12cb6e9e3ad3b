package arch

import (
	"fmt"
	"strings"
	"testing"
)

// registers are a register file; those not set are 0.
type registers map[Reg]uint64

func (r registers) Reg(n Reg) uint64       { return r[n] }
func (r registers) SetReg(n Reg, v uint64) { r[n] = v }

const emulatePC = 0x10000

// What an operation does, as the comments of Op say: the program counter afterwards, the register
// that it writes, and how it reads. Instructions have 4 bytes at emulatePC, or 2.
func TestEmulation(t *testing.T) {
	const (
		x1, x2, x3 = ARM64X0 + 1, ARM64X0 + 2, ARM64X0 + 3
		minus      = ^uint64(0)
		next       = emulatePC + 4
	)
	for _, c := range []struct {
		do    Emulation
		regs  registers
		pc    uint64
		wrote map[Reg]uint64
		text  string
	}{
		{Emulation{Op: OpNone, A: x1, Imm: 8}, nil, emulatePC, nil, ""},
		{Emulation{Op: OpSet, A: x1, Imm: 0x1000}, nil, next, registers{x1: emulatePC + 0x1000}, "X1 = pc+0x1000"},
		{Emulation{Op: OpSet, A: x1, Imm: -0x1000}, nil, next, registers{x1: emulatePC - 0x1000}, "X1 = pc-0x1000"},
		{Emulation{Op: OpSet, A: x1}, nil, next, registers{x1: emulatePC}, "X1 = pc"},
		{Emulation{Op: OpSet, A: NoReg, Imm: 8}, nil, next, nil, "0 = pc+0x8"},
		{Emulation{Op: OpJump, A: NoReg, Imm: -0x20}, nil, emulatePC - 0x20, nil, "pc = pc-0x20"},
		{Emulation{Op: OpJump, A: x1, Imm: 0x20}, nil, emulatePC + 0x20, registers{x1: next}, "X1 = next; pc = pc+0x20"},
		{Emulation{Op: OpJumpReg, A: NoReg, B: x2}, registers{x2: 0x5001}, 0x5001, nil, "pc = X2"},
		{Emulation{Op: OpJumpReg, A: x1, B: x2, C: 1, Imm: 4}, registers{x2: 0x5001}, 0x5004, registers{x1: next}, "X1 = next; pc = (X2+0x4) &^ 1"},
		{Emulation{Op: OpJumpReg, A: x1, B: x1}, registers{x1: 0x5000}, 0x5000, registers{x1: next}, "X1 = next; pc = X1"}, // read before it is written
		{Emulation{Op: OpJumpReg, A: NoReg, B: NoReg, Imm: 0x40}, nil, 0x40, nil, "pc = 0+0x40"},

		{Emulation{Op: OpIfEQ, A: NoReg, B: x1, C: uint8(x2), Imm: 8}, registers{x1: 5, x2: 5}, emulatePC + 8, nil, "if X1 == X2: pc = pc+0x8"},
		{Emulation{Op: OpIfEQ, A: NoReg, B: x1, C: uint8(x2), Imm: 8}, registers{x1: 5 << 32, x2: 5}, next, nil, ""},
		{Emulation{Op: OpIfEQ, A: NoReg, B: x1, C: uint8(NoReg), Imm: 8}, nil, emulatePC + 8, nil, "if X1 == 0: pc = pc+0x8"},
		{Emulation{Op: OpIfNE, A: NoReg, B: x1, C: uint8(x2), Imm: 8}, registers{x1: 1 << 63}, emulatePC + 8, nil, "if X1 != X2: pc = pc+0x8"},
		{Emulation{Op: OpIfNE, A: NoReg, B: x1, C: uint8(x2), Imm: 8}, registers{x1: 3, x2: 3}, next, nil, ""},
		{Emulation{Op: OpIfLT, A: NoReg, B: x1, C: uint8(x2), Imm: 8}, registers{x1: minus, x2: 0}, emulatePC + 8, nil, "if X1 < X2: pc = pc+0x8"},
		{Emulation{Op: OpIfLT, A: NoReg, B: x1, C: uint8(x2), Imm: 8}, registers{x1: 7, x2: 7}, next, nil, ""},
		{Emulation{Op: OpIfGE, A: NoReg, B: x1, C: uint8(x2), Imm: 8}, registers{x1: 7, x2: 7}, emulatePC + 8, nil, "if X1 >= X2: pc = pc+0x8"},
		{Emulation{Op: OpIfGE, A: NoReg, B: x1, C: uint8(x2), Imm: 8}, registers{x1: minus, x2: 0}, next, nil, ""},
		{Emulation{Op: OpIfLTU, A: NoReg, B: x1, C: uint8(x2), Imm: 8}, registers{x1: minus, x2: 0}, next, nil, "if X1 < (unsigned) X2: pc = pc+0x8"},
		{Emulation{Op: OpIfLTU, A: NoReg, B: NoReg, C: uint8(x2), Imm: 8}, registers{x2: minus}, emulatePC + 8, nil, ""},
		{Emulation{Op: OpIfGEU, A: NoReg, B: x1, C: uint8(x2), Imm: 8}, registers{x1: minus, x2: 0}, emulatePC + 8, nil, "if X1 >= (unsigned) X2: pc = pc+0x8"},
		{Emulation{Op: OpIfGEU, A: NoReg, B: x1, C: uint8(x2), Imm: 8}, registers{x1: 0, x2: minus}, next, nil, ""},
		{Emulation{Op: OpIfEQ32, A: NoReg, B: x1, C: uint8(NoReg), Imm: 8}, registers{x1: 1 << 32}, emulatePC + 8, nil, "if X1 == (32 bits) 0: pc = pc+0x8"},
		{Emulation{Op: OpIfNE32, A: NoReg, B: x1, C: uint8(NoReg), Imm: 8}, registers{x1: 1 << 32}, next, nil, "if X1 != (32 bits) 0: pc = pc+0x8"},
		{Emulation{Op: OpIfNE32, A: NoReg, B: x1, C: uint8(NoReg), Imm: 8}, registers{x1: 1 << 31}, emulatePC + 8, nil, ""},
		{Emulation{Op: OpIfBitSet, A: NoReg, B: x3, C: 63, Imm: 8}, registers{x3: 1 << 63}, emulatePC + 8, nil, "if bit 63 of X3 is 1: pc = pc+0x8"},
		{Emulation{Op: OpIfBitSet, A: NoReg, B: x3, C: 62, Imm: 8}, registers{x3: 1 << 63}, next, nil, ""},
		{Emulation{Op: OpIfBitClr, A: NoReg, B: x3, C: 0, Imm: -8}, registers{x3: 6}, emulatePC - 8, nil, "if bit 0 of X3 is 0: pc = pc-0x8"},
		{Emulation{Op: OpIfBitClr, A: NoReg, B: x3, C: 1, Imm: -8}, registers{x3: 6}, next, nil, ""},

		{Emulation{Op: OpLend, A: x1, B: x2, Imm: 8}, nil, emulatePC, nil, "X1 = pc+0x8 in the slot"},
		{Emulation{Op: OpLendOut, A: x1, Imm: 8}, nil, emulatePC, nil, "X1 = next in the slot"},
	} {
		regs := registers{ARM64.PC: emulatePC}
		for r, v := range c.regs {
			regs[r] = v
		}
		want := registers{}
		for r, v := range regs {
			want[r] = v
		}
		for r, v := range c.wrote {
			want[r] = v
		}
		want[ARM64.PC] = c.pc
		c.do.Run(ARM64, 4, regs)
		if fmt.Sprint(regs) != fmt.Sprint(want) {
			t.Errorf("%+v with %x: %x, want %x", c.do, c.regs, regs, want)
		}
		if got := c.do.Text(ARM64); c.text != "" && got != c.text {
			t.Errorf("%+v is %q, want %q", c.do, got, c.text)
		}
		if slot := c.do.Op == OpNone || strings.Contains(c.text, "slot"); c.do.InSlot() != slot {
			t.Errorf("%+v in a slot: %t", c.do, c.do.InSlot())
		}
	}
}

// A compressed instruction ends two bytes on.
func TestEmulationLength(t *testing.T) {
	regs := registers{RISCV64.PC: emulatePC}
	Emulation{Op: OpJumpReg, A: RISCV64RA, B: RISCV64RA}.Run(RISCV64, 2, regs)
	if regs[RISCV64RA] != emulatePC+2 || regs[RISCV64.PC] != 0 {
		t.Errorf("%x", regs)
	}
	if got := (Emulation{Op: OpIfNE, A: NoReg, B: NoReg, C: uint8(NoReg), Imm: 8}).Next(RISCV64, 2, registers{RISCV64.PC: emulatePC}); got != emulatePC+2 {
		t.Errorf("a branch that is not taken goes to %#x", got)
	}
}

// The conditions of arm64, by the flags with which they hold (Arm ARM, table C1-1): 16 digits for
// NZCV = 0000 to 1111.
func TestFlagsHold(t *testing.T) {
	for cond, c := range []struct{ name, holds string }{
		{"eq", "0000111100001111"}, // Z
		{"ne", "1111000011110000"},
		{"cs", "0011001100110011"}, // C
		{"cc", "1100110011001100"},
		{"mi", "0000000011111111"}, // N
		{"pl", "1111111100000000"},
		{"vs", "0101010101010101"}, // V
		{"vc", "1010101010101010"},
		{"hi", "0011000000110000"}, // C and not Z
		{"ls", "1100111111001111"},
		{"ge", "1010101001010101"}, // N == V
		{"lt", "0101010110101010"},
		{"gt", "1010000001010000"}, // not Z, and N == V
		{"le", "0101111110101111"},
		{"al", "1111111111111111"},
		{"nv", "1111111111111111"},
	} {
		do := Emulation{Op: OpIfFlags, A: NoReg, C: uint8(cond), Imm: 0x40}
		for nzcv := range uint64(16) {
			to := do.Next(ARM64, 4, registers{ARM64.PC: emulatePC, ARM64.Flags: nzcv<<28 | 0x3c5})
			want := uint64(emulatePC + 4)
			if c.holds[nzcv] == '1' {
				want = emulatePC + 0x40
			}
			if to != want {
				t.Errorf("b.%s with NZCV = %04b goes to %#x, want %#x", c.name, nzcv, to, want)
			}
		}
		if got, want := do.Text(ARM64), "if "+c.name+": pc = pc+0x40"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
