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
	armPC   = 0xffff800008010ff8
	armSlot = 0xffffffffd0000000
)

func TestARM64Rows(t *testing.T) { testRows(t, ARM64, armPC, armSlot) }

// TestARM64Words compares the plans of random words, many of them branches, with what
// x/arch takes them for.
func TestARM64Words(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	emulated := 0
	for range 60_000 {
		w := rnd.Uint32()
		if rnd.IntN(2) > 0 {
			c := armClasses[rnd.IntN(len(armClasses))]
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
	p := ARM64.Plan(code, armPC)
	do := ARM64.Do(p, code, armPC)
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
				return int64(rel) - armPC&0xfff, true
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
		return arch.ArmX0 + arch.Reg(r-arm64asm.W0)
	case ok && r >= arm64asm.X0 && r <= arm64asm.X30:
		return arch.ArmX0 + arch.Reg(r-arm64asm.X0)
	}
	return arch.NoReg
}

// checkLiteral: the load in the slot is of the same size and register as the load in place,
// through the register that is lent.
func checkLiteral(t *testing.T, in arm64asm.Inst, p Plan, code []byte, do arch.Emulation) {
	out, err := ARM64.Encode(p, code, armPC, armSlot)
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
