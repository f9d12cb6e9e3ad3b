package trampoline

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unsafe"

	"trapline/kernel/arch"
)

// conformance is what the shared test needs to know of an architecture: some addresses, how
// a trampoline ends, and some instructions, by how they are displaced.
var conformance = []struct {
	isa      *ISA
	pc, slot uint64
	// back is where the last instruction of a trampoline goes on, which lies at addr: at
	// the end of the instruction at pc, which has n bytes.
	back func(last []byte, addr, pc, n uint64) uint64
	code map[Kind][][]byte
}{{
	isa: AMD64, pc: testPC, slot: testSlot, back: jumpBack,
	code: map[Kind][][]byte{
		Refuse:   {{0x0f, 0x05}, {0x06}, {}},
		Copy:     {{0x55}, {0x0f, 0x0b}, {0xf3, 0x48, 0xa5}},
		Relocate: {{0x74, 0x05}, {0x48, 0x8d, 0x05, 1, 2, 3, 4}, {0xe3, 0xfe}},
		Emulate:  {{0xe8, 1, 2, 3, 4}, {0xff, 0x14, 0x24}, {0xff, 0xd0}},
		Guest:    {{0xcc}},
	},
}, {
	isa: ARM64, pc: arm64PC, slot: arm64Slot, back: secondBreakpoint(arch.ARM64),
	code: map[Kind][][]byte{
		Refuse:   {{0xfe, 0xa3, 0xc1, 0xda}, {1, 2, 3}, {}},                             // paciasppc
		Copy:     {{0xfd, 0x7b, 0xbf, 0xa9}, {0, 0, 0, 0}, {0xff, 0x0f, 0x5f, 0xd6}},    // stp, udf, retab
		Relocate: {{0x40, 0, 0, 0x58}, {0x5f, 0, 0, 0xd8}},                              // ldr, prfm
		Emulate:  {{0, 0, 0, 0x94}, {0xc0, 0x03, 0x5f, 0xd6}, {0x1f, 0x08, 0x3f, 0xd6}}, // bl, ret, blraaz
		Guest:    {{0, 0, 0x20, 0xd4}, {0x40, 0x8e, 0x2e, 0xd4}},
	},
}, {
	isa: RISCV64, pc: riscv64PC, slot: riscv64Slot, back: secondBreakpoint(arch.RISCV64),
	code: map[Kind][][]byte{
		Refuse:  {{0x1f, 0, 0, 0, 0, 0}, {0x13, 0, 0}, {1}, {}},
		Copy:    {{0x01, 0x00}, {0x13, 0, 0, 0}, {0, 0}, {0x73, 0, 0x20, 0x10}},    // c.nop, nop, c.unimp, sret
		Emulate: {{0x01, 0xa0}, {0x6f, 0, 0, 0}, {0x67, 0x80, 0, 0}, {0x82, 0x80}}, // c.j, j, ret, c.ret
		Guest:   {{0x02, 0x90}, {0x73, 0, 0x10, 0}},
	},
}}

// TestISA holds every architecture to what the fields of ISA promise.
func TestISA(t *testing.T) {
	if len(conformance) != len(arch.All) {
		t.Errorf("%d architectures, %d are tested", len(arch.All), len(conformance))
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
	if do := isa.Do(p, code, pc); kind == Refuse && do != (arch.Emulation{}) || p.InSlot() && !do.InSlot() {
		t.Errorf("% x: %s, and the machine does %v", code, kind, do)
	}
	if !p.InSlot() {
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

// testTrampoline: it fits, is made of instructions, and its last instruction goes on at pc+len.
func testTrampoline(t *testing.T, isa *ISA, p Plan, code, out []byte, pc, slot uint64) {
	if n, err := isa.Length(code); n != int(p.Len) || err != nil {
		t.Errorf("% x: Len is %d, Length %d, %v", code, p.Len, n, err)
	}
	var last int
	if err := isa.Walk(out, slot, func(off, n int) bool {
		last = off
		return true
	}); err != nil || len(out) > isa.SlotSize {
		t.Errorf("% x: trampoline % x: %v", code, out, err)
	}
	for _, c := range conformance {
		if c.isa != isa {
			continue
		}
		if to := c.back(out[last:], slot+uint64(last), pc, uint64(p.Len)); to != pc+uint64(p.Len) {
			t.Errorf("% x: trampoline % x goes on at %#x", code, out, to)
		}
	}
}

// jumpBack is where amd64's jmp rel32 goes.
func jumpBack(last []byte, addr, _, _ uint64) uint64 {
	if len(last) != 5 || last[0] != 0xe9 {
		return 0
	}
	return addr + 5 + uint64(int32(binary.LittleEndian.Uint32(last[1:])))
}

// secondBreakpoint is the end of a trampoline of 8 bytes.
func secondBreakpoint(a *arch.Arch) func([]byte, uint64, uint64, uint64) uint64 {
	return func(last []byte, addr, pc, n uint64) uint64 {
		if addr%8 != 4 || !bytes.Equal(last, a.Breakpoint(4)) {
			return 0
		}
		return pc + n
	}
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
