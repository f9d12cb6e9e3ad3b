package trampoline

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"

	"trapline/kernel/arch"
)

const (
	arm64PC   = 0xffff800008010ff8
	arm64Slot = 0xffffffffd0000000
)

func TestARM64Rows(t *testing.T) { testRows(t, ARM64, arm64PC, arm64Slot) }

// A pattern is the instructions of n bytes whose bits under mask are value.
type pattern struct {
	n           int
	mask, value uint32
}

// arm64Patterns are the instructions that name or save their own address, and their neighbours
// (Arm ARM, C4.1).
var arm64Patterns = []pattern{
	{4, 0x1f000000, 0x10000000}, // adr, adrp
	{4, 0x7c000000, 0x14000000}, // b, bl
	{4, 0xff000010, 0x54000000}, // b.cond
	{4, 0x7e000000, 0x34000000}, // cbz, cbnz
	{4, 0x7e000000, 0x36000000}, // tbz, tbnz
	{4, 0xff9ffc1f, 0xd61f0000}, // br, blr, ret
	{4, 0xff9ff800, 0xd61f0800}, // authenticated
	{4, 0xfe9ff800, 0xd61f0800},
	{4, 0x3b000000, 0x18000000}, // literals
	{4, 0xffe0001f, 0xd4200000}, // brk
}

// TestARM64Words compares the plans of random words, many of them branches, with what
// x/arch takes them for.
func TestARM64Words(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	emulated := 0
	for range 60_000 {
		w := rnd.Uint32()
		if rnd.IntN(2) > 0 {
			c := arm64Patterns[rnd.IntN(len(arm64Patterns))]
			w = w&^c.mask | c.value
		}
		if checkARM64(t, w) {
			emulated++
		}
	}
	if emulated < 10_000 {
		t.Errorf("only %d words named an address or were branches", emulated)
	}
}

// checkARM64 compares one word, and reports whether it must not be copied.
func checkARM64(t *testing.T, w uint32) bool {
	code := binary.LittleEndian.AppendUint32(nil, w)
	in, err := arm64asm.Decode(code)
	if err != nil {
		return false
	}
	p := ARM64.Plan(code, arm64PC)
	do := ARM64.Do(p, code, arm64PC)
	rel, ok := relativeARM64(in)
	switch {
	case in.Op == arm64asm.BR || in.Op == arm64asm.RET || in.Op == arm64asm.BLR:
		if p.Kind != Emulate || do.Op != arch.OpJumpReg || do.B != regARM64(in.Args[0]) || do.Imm != 0 || do.C != 0 {
			t.Errorf("%08x (%v): %v %s", w, in, p.Kind, do.Text(arch.ARM64))
		}
	case in.Op == arm64asm.BRK:
		if p.Kind != Guest {
			t.Errorf("%08x (%v): %v, want guest", w, in, p.Kind)
		}
	case !ok:
		if p.Kind == Emulate && !p.InSlot() || p.Kind == Relocate || p.Kind == Guest {
			t.Errorf("%08x (%v): %v", w, in, p.Kind)
		}
		return false
	case p.Kind != Emulate && p.Kind != Relocate || do.Imm != rel:
		t.Errorf("%08x (%v): %v %s, want pc%+#x", w, in, p.Kind, do.Text(arch.ARM64), rel)
	case do.Op == arch.OpSet && do.A != regARM64(in.Args[0]):
		t.Errorf("%08x (%v): %s", w, in, do.Text(arch.ARM64))
	case do.Op >= arch.OpIfEQ && do.Op <= arch.OpIfBitClr && do.B != regARM64(in.Args[0]):
		t.Errorf("%08x (%v): %s", w, in, do.Text(arch.ARM64))
	case strings.HasPrefix(in.Op.String(), "LDR"):
		checkLiteral(t, in, p, code, do)
	}
	return true
}

// relativeARM64 is the address that an instruction names, relative to its own.
func relativeARM64(in arm64asm.Inst) (int64, bool) {
	for _, a := range in.Args {
		if rel, ok := a.(arm64asm.PCRel); ok {
			if in.Op == arm64asm.ADRP {
				return int64(rel) - arm64PC&0xfff, true
			}
			return int64(rel), true
		}
	}
	return 0, false
}

// regARM64 is the general register of an operand; W registers are parts of X registers.
func regARM64(a arm64asm.Arg) arch.Reg {
	switch r, ok := a.(arm64asm.Reg); {
	case ok && r >= arm64asm.W0 && r <= arm64asm.W30:
		return arch.ARM64X0 + arch.Reg(r-arm64asm.W0)
	case ok && r >= arm64asm.X0 && r <= arm64asm.X30:
		return arch.ARM64X0 + arch.Reg(r-arm64asm.X0)
	}
	return arch.NoReg
}

// checkLiteral: the load in the slot is of the same size and register as the load in place,
// through the register that is lent.
func checkLiteral(t *testing.T, in arm64asm.Inst, p Plan, code []byte, do arch.Emulation) {
	out, err := ARM64.Encode(p, code, arm64PC, arm64Slot)
	if err != nil {
		t.Fatal(err)
	}
	slot, err := arm64asm.Decode(out)
	if err != nil || slot.Op != in.Op || slot.Args[0] != in.Args[0] {
		t.Errorf("%v has become %v, %v", in, slot, err)
		return
	}
	mem, ok := slot.Args[1].(arm64asm.MemImmediate)
	if !ok || regARM64(arm64asm.Reg(mem.Base)) != do.A || do.Op != arch.OpLend {
		t.Errorf("%v has become %v with %s", in, slot, do.Text(arch.ARM64))
	}
	if written := regARM64(in.Args[0]); do.B != written {
		t.Errorf("%v writes %v, not %v", in, written, do.B)
	}
}
