package insn

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// seeds are the instructions of trampoline's tables, which have all kinds of them.
func seeds(t testing.TB, s *Set) (codes [][]byte) {
	text, err := os.ReadFile("../trampoline/testdata/" + s.Arch.Name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "#" {
			code, err := hex.DecodeString(strings.Replace(f[0], "|", "", 1))
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			codes = append(codes, code)
		}
	}
	return codes
}

func addSeeds(f *testing.F, s *Set) {
	for _, code := range seeds(f, s) {
		f.Add(code)
	}
}

// FuzzLength: no panic, no more than 15 bytes, nothing read behind the instruction, and
// x86asm agrees where it can be believed.
func FuzzLength(f *testing.F) {
	addSeeds(f, AMD64)
	f.Fuzz(func(t *testing.T, code []byte) {
		n, err := AMD64.Length(code)
		if err != nil {
			if n != 0 {
				t.Errorf("% x: %d bytes and %v", code, n, err)
			}
			return
		}
		if n < 1 || n > maxInstr || n > len(code) {
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
		AMD64.Text(code, flowPC, nil)
	})
}

// believable decodes with x86asm, unless the instruction is of a kind that it gets wrong:
// a 66 prefix on a branch, newer opcodes after 0f 38 and 0f 3a, vectors. It returns Op 0
// for some of what it does not know.
func believable(code []byte) (x86asm.Inst, bool) {
	in, err := DecodeAMD64(code)
	if err != nil || in.space != spaceOne && in.space != space0F || in.OpSize {
		return x86asm.Inst{}, false
	}
	x, err := x86asm.Decode(code, 64)
	return x, err == nil && x.Op != 0
}
