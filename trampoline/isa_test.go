package trampoline

import (
	"bytes"
	"testing"
	"unsafe"

	"trapline/kernel/arch"
)

// conformance is what the shared test needs to know of an architecture: some addresses, and
// some instructions, by how they are displaced.
var conformance = []struct {
	isa      *ISA
	pc, slot uint64
	code     map[Kind][][]byte
}{{
	isa: AMD64, pc: testPC, slot: testSlot,
	code: map[Kind][][]byte{
		Refuse:   {{0x0f, 0x05}, {0x06}, {}},
		Copy:     {{0x55}, {0x0f, 0x0b}, {0xf3, 0x48, 0xa5}},
		Relocate: {{0x74, 0x05}, {0x48, 0x8d, 0x05, 1, 2, 3, 4}, {0xe3, 0xfe}},
		Emulate:  {{0xe8, 1, 2, 3, 4}, {0xff, 0x14, 0x24}, {0xff, 0xd0}},
		Guest:    {{0xcc}},
	},
}}

// TestISA holds every architecture to what the fields of ISA promise.
func TestISA(t *testing.T) {
	if len(conformance) != len(ISAs) {
		t.Errorf("%d architectures, %d are tested", len(ISAs), len(conformance))
	}
	for _, c := range conformance {
		t.Run(c.isa.Arch.Name, func(t *testing.T) {
			if isa, err := For(c.isa.Arch); err != nil || isa != c.isa {
				t.Errorf("For: %v", err)
			}
			testBreakpoint(t, c.isa, c.pc)
			testFill(t, c.isa)
			for kind, codes := range c.code {
				for _, code := range codes {
					testPlan(t, c.isa, kind, code, c.pc, c.slot)
				}
			}
		})
	}
}

// testBreakpoint: the architecture's breakpoint is an instruction, the guest's own.
func testBreakpoint(t *testing.T, isa *ISA, pc uint64) {
	b := isa.Arch.Breakpoint(isa.Arch.MinInstr)
	if n, err := isa.Length(b); n != len(b) || err != nil {
		t.Errorf("length of the breakpoint % x: %d, %v", b, n, err)
	}
	if p := isa.Plan(b, pc); p.Kind != Guest || int(p.Len) != len(b) {
		t.Errorf("plan of the breakpoint: %s, %d bytes", p.Kind, p.Len)
	}
}

// testFill: a slot full of Fill traps wherever it is entered, and slots make whole pages.
func testFill(t *testing.T, isa *ISA) {
	b := isa.Arch.Breakpoint(isa.Arch.MinInstr)
	if SlotPage%isa.SlotSize != 0 || isa.SlotSize%len(b) != 0 || !bytes.Equal(isa.Fill, b) {
		t.Errorf("slots of %d bytes % x", isa.SlotSize, isa.Fill)
	}
}

// testPlan: one instruction has the plan of that kind, and its trampoline is as it must be.
func testPlan(t *testing.T, isa *ISA, kind Kind, code []byte, pc, slot uint64) {
	p := isa.Plan(code, pc)
	if p.Kind != kind || (kind == Refuse) != (p.Reason() != "") {
		t.Errorf("% x: %s %q, want %s", code, p.Kind, p.Reason(), kind)
	}
	out, err := isa.Encode(p, code, pc, slot)
	if kind == Refuse || kind == Guest {
		if err == nil {
			t.Errorf("% x: %s has a trampoline % x", code, kind, out)
		}
		return
	}
	if err != nil {
		t.Errorf("% x: %v", code, err)
		return
	}
	testTrampoline(t, isa, p, code, out, pc, slot)
}

// testTrampoline: it fits, is made of instructions, has one at Head, and its last
// instruction is position-dependent: a jump to pc+len.
func testTrampoline(t *testing.T, isa *ISA, p Plan, code, out []byte, pc, slot uint64) {
	if n, err := isa.Length(code); n != int(p.Len) || err != nil {
		t.Errorf("% x: Len is %d, Length %d, %v", code, p.Len, n, err)
	}
	var last int
	head := p.Head == 0
	if err := Walk(isa, out, slot, func(off, n int) bool {
		last = off
		head = head || off == int(p.Head)
		return true
	}); err != nil || !head || len(out) > isa.SlotSize {
		t.Errorf("% x: trampoline % x, Head %d: %v", code, out, p.Head, err)
	}
	if to := jumpTarget(t, isa, out[last:], slot+uint64(last)); to != pc+uint64(p.Len) {
		t.Errorf("% x: trampoline % x ends in a jump to %#x", code, out, to)
	}
}

// jumpTarget is where the jump at addr goes.
func jumpTarget(t *testing.T, isa *ISA, code []byte, addr uint64) uint64 {
	switch {
	case isa == AMD64 && len(code) == 5 && code[0] == 0xe9:
		return addr + 5 + uint64(int32At(code, 1, 4))
	}
	t.Errorf("% x is not a jump of %s", code, isa.Arch)
	return 0
}

func TestForUnknown(t *testing.T) {
	if _, err := For(&arch.Arch{Name: "vax"}); err == nil {
		t.Error("there is an ISA for vax")
	}
}

func TestPlanSize(t *testing.T) {
	if n := unsafe.Sizeof(Plan{}); n > 16 {
		t.Errorf("a Plan has %d bytes", n)
	}
}

func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for r, text := range reasonTexts {
		if text == "" || seen[text] {
			t.Errorf("reason %d has no text of its own: %q", r, text)
		}
		seen[text] = true
	}
	if (Plan{Kind: Copy}).Reason() != "" {
		t.Error("a plan that does not refuse has a reason")
	}
}
