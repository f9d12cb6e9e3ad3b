package guestos

import (
	"testing"

	"trapline/kernel/arch"
)

// A kernel runs where the register with its anchor says; until that has been set, and while
// it is set to something else, its place is not known.
func TestSlide(t *testing.T) {
	l := &linux{isa: arm64, anchor: 0xffff800008010800}
	for _, tt := range []struct {
		reg, delta uint64
		known      bool
	}{
		{0, 0, false},
		{0xffff800008010800, 0, true},
		{0xffffdec856810800, 0xffffdec856810800 - 0xffff800008010800, true},
		{0xffffdec856810900, 0, false}, // other code
		{0x40210800, 0, false},         // an address of early in the boot
	} {
		delta, known := l.Slide(fakeRegs{arch.ARM64VBAR: tt.reg})
		if known != tt.known || known && delta != tt.delta {
			t.Errorf("%#x: %#x, %v", tt.reg, delta, known)
		}
	}
	if _, known := (&linux{isa: arm64}).Slide(fakeRegs{arch.ARM64VBAR: 0xffff800008000000}); known {
		t.Error("the place of a kernel without the anchor is known")
	}
}

// Every architecture has an anchor.
func TestAnchor(t *testing.T) {
	for _, a := range arch.All {
		isa, err := isaFor(a)
		if err != nil {
			t.Fatal(err)
		}
		if isa.anchor.symbol == "" || int(isa.anchor.reg) >= len(a.Regs) {
			t.Errorf("%s: %+v", a, isa.anchor)
		}
	}
}
