package trampoline

import (
	"bytes"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

func addRows(f *testing.F, isa *ISA) {
	for _, r := range readRows(f, isa) {
		if r.code != nil {
			f.Add(r.code)
		}
	}
}

// FuzzLength: no panic, no more than 15 bytes, nothing read behind the instruction, and
// x86asm agrees where it can be believed.
func FuzzLength(f *testing.F) {
	addRows(f, AMD64)
	f.Fuzz(func(t *testing.T, code []byte) {
		n, err := AMD64.Length(code)
		if err != nil {
			if n != 0 {
				t.Errorf("% x: %d bytes and %v", code, n, err)
			}
			return
		}
		if n < 1 || n > amd64MaxInstr || n > len(code) {
			t.Fatalf("% x: %d bytes", code, n)
		}
		if m, err := AMD64.Length(code[:n]); m != n || err != nil {
			t.Errorf("% x: %d bytes, alone %d, %v", code, n, m, err)
		}
		if m, err := AMD64.Length(code[:n-1]); err != ErrTruncated {
			t.Errorf("% x: %d bytes without the last of %d, %v", code, m, n, err)
		}
		if x, ok := believable(code[:n]); ok && x.Len != n {
			t.Errorf("% x: %d bytes, x86asm says %d (%v)", code, n, x.Len, x)
		}
		AMD64.Text(code, testPC, nil)
	})
}

// believable decodes with x86asm, unless the instruction is of a kind that it gets wrong:
// a 66 prefix on a branch, newer opcodes after 0f 38 and 0f 3a, vectors. It returns Op 0
// for some of what it does not know.
func believable(code []byte) (x86asm.Inst, bool) {
	in, err := decodeAMD64(code)
	if err != nil || in.space != spaceOne && in.space != space0F || in.opsize {
		return x86asm.Inst{}, false
	}
	x, err := x86asm.Decode(code, 64)
	return x, err == nil && x.Op != 0
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
