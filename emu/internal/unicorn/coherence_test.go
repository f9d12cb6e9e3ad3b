package unicorn

import (
	"encoding/binary"
	"testing"

	"trapline/kernel/arch"
)

// Registers and instructions of these tests.
const t0, t1, a0 = 5, 6, 10

func sw(from, base int) uint32 { return uint32(from)<<20 | uint32(base)<<15 | 2<<12 | 0x23 }

// twoCPUs is a machine with two, the second with the page tables of the first.
func twoCPUs(t *testing.T, h Handler, code []uint32) (a, b *Engine) {
	t.Helper()
	a = openRISCV64(t, h, 8*mib, code)
	b, err := a.Another(8 * mib)
	if err != nil {
		t.Fatal(err)
	}
	b.StartRISCV64(riscv64Base+1*mib, 0)
	b.riscv64Paging(8<<60 | (a.RAMBase()+0x10000)>>12)
	return a, b
}

// hang runs an engine from an instruction of its code on until it waits.
func hang(t *testing.T, e *Engine, instr int) {
	t.Helper()
	e.SetReg(arch.RISCV64PC, riscv64Base+1*mib+uint64(instr)*4)
	if end, err := e.Run(); end != Hung || err != nil {
		t.Fatalf("CPU %d: end %v, %v", e.ID(), end, err)
	}
}

// What one CPU stores, or the host, the others execute, whoever has executed the old code. It
// is the same on a page with breakpoints.
func TestCodeIsCoherent(t *testing.T) {
	const adds, stores = 0, 4
	code := []uint32{adds: addi(a0, a0, 1), 1: wfi, stores: sw(t1, t0), stores + 1: wfi}
	const at = riscv64Base + 1*mib + adds*4
	for _, split := range []bool{false, true} {
		c := &counter{}
		a, b := twoCPUs(t, c, code)
		want := uint64(0)
		run := func(e *Engine, adding uint64) {
			t.Helper()
			want = e.Reg(a0) + adding
			hang(t, e, adds)
			if e.Reg(a0) != want {
				t.Errorf("split %v: CPU %d has %d, want %d", split, e.ID(), e.Reg(a0), want)
			}
		}
		store := func(e *Engine, adding int) {
			t.Helper()
			e.SetReg(t0, at)
			e.SetReg(t1, uint64(addi(a0, a0, adding)))
			hang(t, e, stores)
		}
		run(a, 1)
		if split { // a breakpoint that does nothing, beside
			beside := arch.Break{Addr: riscv64Base + 1*mib + 0x400, Len: 4}
			if err := a.SetBreak(Break{beside, beside.Addr - riscv64Base}); err != nil {
				t.Fatal(err)
			}
			a.Commit()
			run(a, 1)
		}
		store(b, 2)
		run(a, 2)
		run(b, 2)
		store(a, 3)
		run(b, 3)
		run(a, 3)
		store(b, 4)
		run(a, 4)
		a.Store(1*mib, binary.LittleEndian.AppendUint32(nil, addi(a0, a0, 5)))
		run(a, 5)
		run(b, 5)
		a.Close()
	}
}

// A breakpoint is there for every CPU, when it is set and when it is taken away, and each has
// its own way through the trampoline.
func TestBreakOnEachCPU(t *testing.T) {
	c := &counter{}
	a, b := twoCPUs(t, c, []uint32{addi(a0, a0, 1), wfi})
	const slot = riscv64Base + 0x10000000
	a.SetSlots(slot)
	hits := func(want int) {
		t.Helper()
		c.hits = 0
		for _, e := range []*Engine{a, b, b, a} {
			hang(t, e, 0)
		}
		if c.hits != want {
			t.Errorf("%d hits, want %d", c.hits, want)
		}
	}
	hits(0)
	instr := binary.LittleEndian.AppendUint32(nil, addi(a0, a0, 1))
	if err := a.WriteSlots(slot, binary.LittleEndian.AppendUint32(instr, 0x00100073)); err != nil {
		t.Fatal(err)
	}
	if err := b.SetBreak(Break{arch.Break{Addr: riscv64Base + 1*mib, Slot: slot, Len: 4}, 1 * mib}); err != nil {
		t.Fatal(err)
	}
	b.Commit()
	hits(4)
	a.ClearBreak(riscv64Base + 1*mib)
	a.Commit()
	hits(0)
	if a.Reg(a0) != 6 || b.Reg(a0) != 1+6 {
		t.Errorf("a0: %d, %d, want 6 and 7", a.Reg(a0), b.Reg(a0))
	}
}

// A slice ends at the first transfer of control after its time, and the run goes on as if it
// had not.
func TestSlice(t *testing.T) {
	a, b := twoCPUs(t, nothing{}, []uint32{li(t0, 10), addi(t0, t0, -1), bnez(t0, -4), wfi})
	a.SetSlice(30)
	if end, err := a.Run(); end != Sliced || err != nil || a.Total() != 4+4*8 {
		t.Errorf("end %v, %v at %d", end, err, a.Total())
	}
	hang(t, b, 0)
	a.SetSlice(Never)
	if end, err := a.Run(); end != Hung || err != nil || a.Total() != b.Total() || a.Reg(t0) != 0 {
		t.Errorf("end %v, %v at %d, want at %d", end, err, a.Total(), b.Total())
	}
}
