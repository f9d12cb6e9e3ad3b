package verify

import (
	"math/rand/v2"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/trampoline"
)

// place is where random instructions are written: a function of tiny that is long enough.
const place = "awk_breakpoint"

// Instructions of random bytes do the same displaced as they do in place, if they are probed at all.
func TestRandom(t *testing.T) {
	for _, a := range arch.All {
		t.Run(a.Name, func(t *testing.T) {
			g, r := open(t, a), rand.New(rand.NewPCG(11, 12))
			for range 400 {
				g.bytes(t, randomCode(r))
			}
		})
	}
}

// randomCode is 16 bytes; some are what instructions often begin with.
func randomCode(r *rand.Rand) []byte {
	code := make([]byte, 16)
	for i := range code {
		code[i] = byte(r.Uint32())
		if r.IntN(4) == 0 {
			code[i] = "\x48\x0f\xff\xf3\x66\x65\x8b\x05"[r.IntN(8)]
		}
	}
	return code
}

func FuzzAMD64(f *testing.F)   { fuzz(f, arch.AMD64) }
func FuzzARM64(f *testing.F)   { fuzz(f, arch.ARM64) }
func FuzzRISCV64(f *testing.F) { fuzz(f, arch.RISCV64) }

func fuzz(f *testing.F, a *arch.Arch) {
	f.Add([]byte{0x48, 0x8b, 0x05, 0, 0, 0, 0, 0x90})
	g := open(f, a)
	f.Fuzz(func(t *testing.T, code []byte) {
		g.bytes(t, code[:min(len(code), 16)])
	})
}

// bytes verifies the instructions that code begins with, up to the first that is refused: the
// emulator does not survive the translation of all that is none. They stand at the
// beginning of a function that is otherwise as it was.
func (g *guest) bytes(t *testing.T, code []byte) {
	fn := kernel.Symbol{Name: place}
	for _, f := range g.funcs {
		if f.Name == place {
			fn.Addr = f.Addr
		}
	}
	g.isa.Walk(code, fn.Addr, func(off, n int) bool {
		fine := g.isa.Plan(code[off:], fn.Addr+uint64(off)).Kind != trampoline.Refuse
		if fine {
			fn.Size = uint64(off + n)
		}
		return fine
	})
	original := make([]byte, fn.Size)
	err := g.Machine.ReadMem(fn.Addr, original)
	if err == nil {
		err = g.Machine.WriteMem(fn.Addr, code[:fn.Size])
	}
	if err != nil {
		t.Fatal(err)
	}
	defer g.Machine.WriteMem(fn.Addr, original)
	r := new(Report)
	if err := g.Function(fn, r); err != nil {
		t.Fatal(err)
	}
	if len(r.Mismatches) > 0 {
		t.Errorf("% x:\n%s", code, text(r))
	}
}
