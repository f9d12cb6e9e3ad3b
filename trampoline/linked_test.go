package trampoline

import (
	"bytes"
	"strings"
	"testing"

	"trapline/kernel/arch"
)

// FuzzLinked: on the architectures with slots of 8 bytes, whatever is planned can be
// encoded, or is done by the machine with registers that there are.
func FuzzLinked(f *testing.F) {
	isas := []*ISA{ARM64, RISCV64}
	for i, isa := range isas {
		for _, r := range readRows(f, isa) {
			if r.code != nil {
				f.Add(uint8(i), r.code)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, code []byte) {
		isa := isas[which%2]
		p := isa.Plan(code, arm64PC)
		n, err := isa.Length(code)
		if err == nil && int(p.Len) != n || err != nil && p.Kind != Refuse {
			t.Fatalf("% x: %v of %d bytes, Length %d, %v", code, p.Kind, p.Len, n, err)
		}
		do := isa.Do(p, code, arm64PC)
		checkRegs(t, isa.Arch, do)
		isa.Text(code, arm64PC, nil)
		if !p.InSlot() {
			if (p.Kind == Emulate) == do.InSlot() {
				t.Errorf("% x: %v, and the machine does %v", code, p.Kind, do)
			}
			return
		}
		out, err := isa.Encode(p, code, arm64PC, arm64Slot)
		if err != nil {
			t.Fatalf("% x: %v", code, err)
		}
		testTrampoline(t, isa, p, code, out, arm64PC, arm64Slot)
		if p.Kind == Copy && !bytes.HasPrefix(out, code[:n]) {
			t.Errorf("% x: copied as % x", code, out)
		}
	})
}

// checkRegs: the registers of an Emulation are general ones, or none.
func checkRegs(t *testing.T, a *arch.Arch, do arch.Emulation) {
	general := func(r arch.Reg) bool { return r == arch.NoReg || strings.HasPrefix(a.Regs[r].Name, "X") }
	if !general(do.A) || !general(do.B) || do.Op >= arch.OpLend && do.A == arch.NoReg {
		t.Errorf("%v", do)
	}
	if do.Op >= arch.OpIfEQ && do.Op <= arch.OpIfNE32 && !general(arch.Reg(do.C)) {
		t.Errorf("%v", do)
	}
	if do.Text(a) == "" && do.Op != arch.OpNone {
		t.Errorf("%v has no text", do)
	}
}
