// Translations are kept on amd64 hosts alone (host.h).
//go:build amd64

package unicorn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"trapline/kernel/arch"
)

// keptCode has a loop, a call, stores and, over the end of a page, an instruction of two pages.
var keptCode = slices.Concat([]byte{
	0xb9, 0x64, 0x00, 0x00, 0x00, // mov $100,%ecx
	0xe8, 0xf1, 0x0f, 0x00, 0x00, // 1: call 2f
	0x89, 0x04, 0x24, // mov %eax,(%rsp)
	0xff, 0xc9, // dec %ecx
	0x75, 0xf4, // jnz 1b
	0xf4, // hlt
}, bytes.Repeat([]byte{0x90}, 0x1000-18-5), []byte{
	0x01, 0xc8, 0x90, // 2: add %ecx,%eax; nop
	0x48, 0x05, 0x07, 0x00, 0x00, 0x00, // add $7,%rax
	0xc3, // ret
})

// runKept runs code with translations kept, from a store if there is one; before may change things.
func runKept(t *testing.T, code, store []byte, before func(*Engine)) *Engine {
	t.Helper()
	e := open(t, nothing{})
	keep(t, e, store)
	load(e, code)
	if before != nil {
		before(e)
	}
	if end, err := e.Run(); end != Halted || err != nil {
		t.Fatalf("end %v, %v", end, err)
	}
	return e
}

func keep(t *testing.T, e *Engine, store []byte) {
	t.Helper()
	if err := keepStore(e, store); err != nil {
		t.Fatal(err)
	}
}

func keepStore(e *Engine, store []byte) error {
	return e.Keep(int64(len(store)), func(to []byte) error { copy(to, store); return nil })
}

// learnt is the store after code has run once, and what rax and the clock were.
func learnt(t *testing.T, code []byte) (store []byte, blocks, rax, clock uint64) {
	t.Helper()
	e := runKept(t, code, nil, nil)
	defer e.Close()
	s, blocks := e.Kept()
	if blocks == 0 || e.Placed() != 0 {
		t.Fatalf("%d blocks learned, %d used", blocks, e.Placed())
	}
	return slices.Clone(s), blocks, e.Reg(arch.RAX), e.Total()
}

func TestKept(t *testing.T) {
	store, blocks, rax, clock := learnt(t, keptCode)
	if again, _, _, _ := learnt(t, keptCode); !bytes.Equal(again, store) {
		t.Error("the same run makes another store")
	}
	e := runKept(t, keptCode, store, nil)
	if e.Reg(arch.RAX) != rax || e.Total() != clock {
		t.Errorf("rax %d, clock %d; without what was kept %d, %d", e.Reg(arch.RAX), e.Total(), rax, clock)
	}
	if _, n := e.Kept(); e.Placed() != blocks || n != blocks {
		t.Errorf("%d of %d blocks used, %d in the end", e.Placed(), blocks, n)
	}
}

// Code that is not what it was is translated, wherever in the block the difference is.
func TestKeptChanged(t *testing.T) {
	store, blocks, rax, _ := learnt(t, keptCode)
	for _, c := range []struct {
		name string
		at   int
		by   uint64 // what one more makes of the result
	}{
		{"first page", 1, 101 + 7}, // one more round
		{"second page", len(keptCode) - 5, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			code := slices.Clone(keptCode)
			code[c.at]++
			e := runKept(t, code, store, nil)
			if got := e.Reg(arch.RAX); got != rax+c.by {
				t.Errorf("rax %d, want %d", got, rax+c.by)
			}
			if _, n := e.Kept(); e.Placed() >= blocks || n <= blocks {
				t.Errorf("%d of %d blocks used, %d in the end", e.Placed(), blocks, n)
			}
		})
	}
}

// A translation that is not what it would be now is found.
func TestKeptCheck(t *testing.T) {
	store, blocks, rax, _ := learnt(t, keptCode)
	e := runKept(t, keptCode, store, (*Engine).CheckKept)
	if n, _ := e.KeptDiffering(); n != 0 || e.Placed() != blocks || e.Reg(arch.RAX) != rax {
		t.Errorf("%d of %d differ; rax %d, want %d", n, e.Placed(), e.Reg(arch.RAX), rax)
	}
	e.Close()
	store[len(store)-40]++ // host code of the newest
	e = runKept(t, keptCode, store, (*Engine).CheckKept)
	if n, at := e.KeptDiffering(); n != 1 || at == 0 {
		t.Errorf("%d differ, the first at 0x%x; one byte does", n, at)
	}
}

// A block with a breakpoint is not kept, though the run may use what was; with the code hook in
// translated code nothing is.
func TestKeptProbed(t *testing.T) {
	store, blocks, rax, clock := learnt(t, keptCode)
	const base, at = kernelBase + 0x10000000, 0x100ffd
	probe := func(hooked bool) func(*Engine) {
		return func(e *Engine) {
			e.SetHooked(hooked)
			e.SetSlots(base)
			if err := e.WriteSlots(base, []byte{0x90, 0xe9, 0xf8, 0x0f, 0x10, 0xf0}); err != nil { // nop; jmp
				t.Fatal(err)
			}
			if err := e.SetBreak(Break{arch.Break{Addr: kernelBase + at, Slot: base, Len: 1}, at}); err != nil {
				t.Fatal(err)
			}
			e.Commit()
		}
	}
	for _, hooked := range []bool{false, true} {
		e := runKept(t, keptCode, store, probe(hooked))
		if hits := e.Counters().Hits; e.Reg(arch.RAX) != rax || e.Total() != clock || hits != 100 {
			t.Errorf("hooked %v: rax %d, want %d; clock %d, want %d; %d hits", hooked, e.Reg(arch.RAX), rax, e.Total(), clock, hits)
		}
		if used := e.Placed(); used >= blocks || (used == 0) != hooked {
			t.Errorf("hooked %v: %d of %d blocks used", hooked, used, blocks)
		}
		if _, n := e.Kept(); hooked && n != blocks {
			t.Errorf("hooked: %d blocks, there were %d", n, blocks)
		}
		e.Close()
	}
	e := runKept(t, keptCode, nil, probe(false))
	kept, _ := e.Kept()
	probed := slices.Clone(kept)
	e.Close()
	if e = runKept(t, keptCode, probed, nil); e.Placed() != blocks-1 || e.Reg(arch.RAX) != rax {
		t.Errorf("behind a run with a breakpoint, %d of %d blocks used; rax %d, want %d", e.Placed(), blocks, e.Reg(arch.RAX), rax)
	}
}

// What is stepped calls this process's stepper in translated code.
func TestKeptStepped(t *testing.T) {
	store, blocks, _, _ := learnt(t, keptCode)
	e := open(t, nothing{})
	keep(t, e, store)
	load(e, keptCode)
	s, err := e.NewStepper()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if o := s.Step(s.State(), How{}); o == nil {
		t.Fatal("no outcome")
	}
	if _, n := e.Kept(); e.Placed() != 0 || n != blocks {
		t.Errorf("%d blocks used; %d kept, there were %d", e.Placed(), n, blocks)
	}
}

// Places of fields in a translation: struct tl_kept.
const (
	keptPC, keptSize, keptRead, keptICount    = 0, 26, 28, 30
	keptBytes, keptFixes, keptReset, keptJump = 32, 34, 36, 40
	keptHead                                  = 48
)

// A store is refused if anything in it leads out of it, and nothing is kept.
func TestKeptUnsound(t *testing.T) {
	store, _, rax, _ := learnt(t, keptCode)
	le := binary.LittleEndian
	half := func(at int, v uint16) func([]byte) []byte {
		return func(b []byte) []byte { le.PutUint16(b[at:], v); return b }
	}
	word := func(at int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { le.PutUint32(b[at:], v); return b }
	}
	for name, change := range map[string]func([]byte) []byte{
		"nothing but zeros": func(b []byte) []byte { return make([]byte, len(b)) },
		"half a head":       func(b []byte) []byte { return b[:24] },
		"cut short":         func(b []byte) []byte { return b[:len(b)-8] },
		"longer":            func(b []byte) []byte { return append(b, make([]byte, 8)...) },
		"icount 0":          half(keptICount, 0),
		"icount":            half(keptICount, 513),
		"icount at the end": half(keptICount, 512),
		"code 0":            half(keptBytes, 0),
		"code":              half(keptBytes, 1<<16-1),
		"fixes":             half(keptFixes, 1025),
		"fixes at the end":  half(keptFixes, 1024),
		"size 0":            half(keptSize, 0),
		"size":              half(keptSize, 8192),
		"read":              half(keptRead, 1<<16-1),
		"end of two pages": func(b []byte) []byte {
			b[keptPC] = 0xff
			b[keptPC+1] = 0xff
			return half(keptRead, 4098)(b)
		},
		"jump":      word(keptJump, 1<<31),
		"jump back": func(b []byte) []byte { return half(keptReset, 1<<15)(word(keptJump, 1<<16)(b)) },
	} {
		t.Run(name, func(t *testing.T) {
			e := open(t, nothing{})
			if err := keepStore(e, change(slices.Clone(store))); !errors.Is(err, ErrStore) {
				t.Errorf("error %v, want ErrStore", err)
			}
			if s, _ := e.Kept(); s != nil {
				t.Error("it is kept")
			}
			load(e, keptCode)
			if e.Run(); e.Reg(arch.RAX) != rax {
				t.Errorf("rax %d, want %d", e.Reg(arch.RAX), rax)
			}
			e.Close()
		})
	}
}

// A store that cannot be filled is not used.
func TestKeptNotFilled(t *testing.T) {
	store, _, _, _ := learnt(t, keptCode)
	e := open(t, nothing{})
	wrong := errors.New("wrong")
	if err := e.Keep(int64(len(store)), func(to []byte) error { copy(to, store); return wrong }); !errors.Is(err, wrong) {
		t.Errorf("error %v", err)
	}
	if s, _ := e.Kept(); s != nil {
		t.Error("it is kept")
	}
}

// However the fields of a store are changed, it is refused or within its bounds: what is used of it
// is found by other code here.
func TestKeptMutations(t *testing.T) {
	store, _, _, _ := learnt(t, keptCode)
	e := open(t, nothing{})
	rng := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 3000 {
		b := slices.Clone(store)
		for range 1 + rng.IntN(2) {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		if keepStore(e, b) != nil {
			refused++
			continue
		}
		for len(b) > 0 {
			b = b[checkKept(t, b):]
		}
	}
	if refused == 0 || refused == 3000 {
		t.Errorf("%d refused", refused)
	}
}

// checkKept checks the translation at the start of k, and returns how many bytes it has.
func checkKept(t *testing.T, k []byte) int {
	t.Helper()
	half := func(at int) int { return int(binary.LittleEndian.Uint16(k[at:])) }
	icount, fixes, code := half(keptICount), half(keptFixes), half(keptBytes)
	data := keptHead + icount*2*8
	end := (data + fixes*8 + icount*2 + half(keptRead) + code + 7) &^ 7
	if end > len(k) {
		t.Fatalf("it ends %d bytes behind the store", end-len(k))
	}
	for i := range fixes {
		if at := half(data + 8*i); at+4 > code {
			t.Fatalf("a value at %d of %d bytes", at, code)
		}
	}
	return end
}
