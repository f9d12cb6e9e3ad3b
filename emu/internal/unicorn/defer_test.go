package unicorn

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"trapline/kernel/arch"
)

// teller writes down which hits are delivered at once (h) and later (d), by RCX, and what
// is wrong with their time.
type teller struct {
	nothing
	e     *Engine
	log   []string
	wrong string
	count uint64
	words []Word
}

func (t *teller) tell(how string, rcx, now uint64) {
	t.log = append(t.log, fmt.Sprint(how, rcx))
	if want := 7 + 13*(t.count-rcx); now != want {
		t.wrong = fmt.Sprintf("the hit with RCX %d was told to be at %d, not %d", rcx, now, want)
	}
}

func (t *teller) Hit(uint64) {
	t.tell("h", t.e.Reg(arch.RCX), t.e.Clock())
	t.e.Remember(t.words)
}

func (t *teller) Deferred(h *DeferredHit) { t.tell("d", h.Reg(arch.RCX), h.Now) }

// newTeller makes a guest that counts RCX down from n to 1, with a breakpoint in each round, and
// stores it behind that at 0x200000.
func newTeller(t *testing.T, n uint32) (*teller, uint64) {
	c := &teller{count: uint64(n)}
	c.e = open(t, c)
	base := uint64(kernelBase + 0x10000000)
	c.e.SetSlots(base)
	code := []byte{
		0x48, 0xc7, 0xc1, 0, 0, 0, 0, // mov $n,%rcx
		0x90,                                     // 1: nop
		0x48, 0x89, 0x0d, 0xf1, 0xff, 0x0f, 0x00, // mov %rcx,0xffff1(%rip)
		0x48, 0xff, 0xc9, // dec %rcx
		0x75, 0xf3, // jnz 1b
		0xf4, // hlt
	}
	binary.LittleEndian.PutUint32(code[3:], n)
	load(c.e, code)
	if err := c.e.WriteSlots(base, []byte{0x90, 0xe9, 0x02, 0x00, 0x10, 0xf0}); err != nil {
		t.Fatal(err)
	}
	at := uint64(kernelBase + 0x100007)
	if err := c.e.SetBreak(Break{arch.Break{Addr: at, Slot: base, Len: 1}, 0x100007}); err != nil {
		t.Fatal(err)
	}
	c.e.Commit()
	return c, at
}

func (t *teller) run(tt *testing.T) {
	tt.Helper()
	if end, err := t.e.Run(); end != Halted || err != nil || t.wrong != "" {
		tt.Fatalf("end %v, %v, %s", end, err, t.wrong)
	}
}

// A hit is deferred while the bits that were read are what they were; order is kept.
func TestDeferHits(t *testing.T) {
	c, at := newTeller(t, 10)
	stored := c.e.RAM()[0x200000:]
	c.words = []Word{c.e.Mode(), {At: (*uint64)(unsafe.Pointer(&stored[0])), Mask: ^uint64(3)}}
	if !c.e.DeferHits(at, []arch.Reg{arch.RCX}, true) {
		t.Fatal("hits are not deferred")
	}
	c.run(t)
	if got, want := fmt.Sprint(c.log), "[h10 h9 d8 d7 h6 d5 d4 d3 h2 d1]"; got != want {
		t.Errorf("told %s, want %s", got, want)
	}
	if n := c.e.Counters().Hits; n != 10 {
		t.Errorf("%d hits", n)
	}
}

// More hits than there is room for: those that find none are delivered at once, after the others.
func TestDeferMany(t *testing.T) {
	const n = 20000
	c, at := newTeller(t, n)
	if !c.e.DeferHits(at, []arch.Reg{arch.RCX, arch.RSI}, false) {
		t.Fatal("hits are not deferred")
	}
	c.run(t)
	direct := 0
	for i, told := range c.log {
		if told[1:] != fmt.Sprint(n-i) {
			t.Fatalf("hit %d is delivered as %s", i, told)
		}
		if told[0] == 'h' {
			direct++
		}
	}
	if len(c.log) != n || direct < 1 || direct > 10 {
		t.Errorf("%d hits are delivered, %d of them at once", len(c.log), direct)
	}
}

// What cannot be deferred is delivered at once.
func TestDeferNot(t *testing.T) {
	c, at := newTeller(t, 3)
	if c.e.DeferHits(at, []arch.Reg{arch.RFLAGS}, false) || c.e.DeferHits(at+1, nil, false) || c.e.DeferHits(at, make([]arch.Reg, 17), false) {
		t.Error("hits are deferred: of flags, of no breakpoint or with too many registers")
	}
	if !c.e.DeferHits(at, []arch.Reg{arch.RCX}, false) {
		t.Error("hits are not deferred")
	}
	c.e.UndeferHits(at)
	c.run(t)
	if got := fmt.Sprint(c.log); got != "[h3 h2 h1]" {
		t.Errorf("told %s", got)
	}
}

// With nothing remembered, or too much, hits that need it are delivered at once.
func TestRememberNothing(t *testing.T) {
	for _, words := range []int{0, 1000} {
		c, at := newTeller(t, 3)
		for range words {
			c.words = append(c.words, c.e.Mode())
		}
		c.e.DeferHits(at, []arch.Reg{arch.RCX}, true)
		c.run(t)
		if got := fmt.Sprint(c.log); got != "[h3 h2 h1]" {
			t.Errorf("%d words: told %s", words, got)
		}
		c.e.Close()
	}
}

// A register is what its place says.
func TestPlace(t *testing.T) {
	threads := map[*arch.Arch][]arch.Reg{
		arch.AMD64:   {arch.GSBase, arch.KernelGSBase, arch.CR0, arch.CR3, arch.CS},
		arch.ARM64:   {arch.ARM64SP_EL0, arch.ARM64TPIDR, arch.ARM64SCTLR, arch.ARM64TCR, arch.ARM64TTBR0, arch.ARM64TTBR1, arch.ARM64PSTATE},
		arch.RISCV64: {arch.RISCV64TP, arch.RISCV64SSCRATCH, arch.RISCV64STVEC, arch.RISCV64SATP, arch.RISCV64PRIV},
	}
	starts := map[*arch.Arch]func(*Engine){
		arch.AMD64:   func(e *Engine) { load(e, []byte{0xf4}) },
		arch.ARM64:   func(e *Engine) { e.StartARM64(e.RAMBase(), 0) },
		arch.RISCV64: func(e *Engine) { e.StartRISCV64(e.RAMBase(), 0) },
	}
	for _, a := range arch.All {
		e, err := Open(a, 16*mib, 8*mib, nothing{})
		if err != nil {
			t.Fatal(err)
		}
		starts[a](e)
		for _, r := range threads[a] {
			at, mask := e.Place(r)
			if at == nil {
				t.Errorf("%s: %s has no place", a, a.Regs[r].Name)
				continue
			}
			was := *at
			*at ^= 0xf00 & mask
			if e.Reg(r)&mask&math.MaxUint32 != *at&mask&math.MaxUint32 {
				t.Errorf("%s: %s is %#x, at its place is %#x", a, a.Regs[r].Name, e.Reg(r), *at)
			}
			*at = was
		}
		if w := e.Mode(); w.At == nil || *w.At&w.Mask == 0 {
			t.Errorf("%s: the mode of the kernel is %#x of %v", a, w.Mask, w.At)
		}
		e.Close()
	}
}
