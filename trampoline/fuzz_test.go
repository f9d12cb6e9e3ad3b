package trampoline

import (
	"bytes"
	"testing"
)

func addRows(f *testing.F, isa *ISA) {
	for _, r := range readRows(f, isa) {
		if r.code != nil {
			f.Add(r.code)
		}
	}
}

// FuzzPlan: whatever is planned can be encoded, fits, and decodes again.
func FuzzPlan(f *testing.F) {
	addRows(f, AMD64)
	f.Fuzz(func(t *testing.T, code []byte) {
		const pc, slot = 0xffffffffa0000000, 0xffffffffb0000000
		p := AMD64.Plan(code, pc)
		if p.Kind == Refuse || p.Kind == Guest {
			return
		}
		out, err := AMD64.Encode(p, code, pc, slot)
		if err != nil { // only for lack of reach
			if p.Kind == Copy {
				t.Errorf("% x: %v", code, err)
			}
			return
		}
		testTrampoline(t, AMD64, p, code, out, pc, slot)
		if p.Kind == Copy && !bytes.HasPrefix(out, code[:p.Len]) {
			t.Errorf("% x: copied as % x", code, out)
		}
	})
}

// BenchmarkPlan plans a function's worth of instructions: ns/op is for one.
func BenchmarkPlan(b *testing.B) {
	var codes [][]byte
	for _, r := range readRows(b, AMD64) {
		if r.code != nil {
			codes = append(codes, r.code)
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		amd64Plan(codes[i%len(codes)], testPC)
	}
}

func BenchmarkEncode(b *testing.B) {
	code := []byte{0x48, 0x8b, 0x05, 0, 0, 0, 0}
	p := amd64Plan(code, testPC)
	for b.Loop() {
		if _, err := amd64Encode(p, code, testPC, testSlot); err != nil {
			b.Fatal(err)
		}
	}
}
