package unicorn

import (
	"encoding/binary"
	"testing"

	"trapline/kernel/arch"
)

// Instructions of these tests.
const (
	arm64WFI  = 0xd503207f
	arm64NOP  = 0xd503201f
	arm64Skip = 0x14000002 // b over the next: an interrupt could be taken behind that
)

// twoARM64 is a machine with two CPUs, both at the first instruction of code.
func twoARM64(t *testing.T, h Handler, code []uint32) (a, b *Engine, base uint64) {
	t.Helper()
	a, base = openARM64(t, h, 8*mib, code)
	b, err := a.Another(8 * mib)
	if err != nil {
		t.Fatal(err)
	}
	b.StartARM64(base, 0)
	return a, b, base
}

// runARM64 runs an engine from an address on until it waits.
func runARM64(t *testing.T, e *Engine, pc uint64) {
	t.Helper()
	e.SetReg(arch.ARM64PC, pc)
	e.SetSlice(Never)
	if end, err := e.Run(); end != Hung || err != nil {
		t.Fatalf("CPU %d: end %v, %v at %#x", e.ID(), end, err, e.Reg(arch.ARM64PC))
	}
}

func TestMPIDR(t *testing.T) {
	a, b, base := twoARM64(t, nothing{}, []uint32{0xd53800a0, arm64WFI}) // mrs x0, mpidr_el1
	for i, e := range []*Engine{a, b} {
		runARM64(t, e, base)
		if got, want := e.Reg(arch.ARM64X0), 1<<31|uint64(i); got != want {
			t.Errorf("CPU %d: %#x, want %#x", i, got, want)
		}
	}
}

// A slice does not end between a load exclusive and its store, but behind them.
func TestExclusivePair(t *testing.T) {
	a, _, base := twoARM64(t, nothing{}, []uint32{
		0x885f7c02, // ldxr w2, [x0]
		0x11000442, // add w2, w2, #1
		arm64Skip, arm64NOP,
		0x88037c02, // stxr w3, w2, [x0]
		arm64Skip, arm64NOP,
		arm64WFI,
	})
	word := a.RAM()[2*mib : 2*mib+4]
	a.SetReg(arch.ARM64X0, a.RAMBase()+2*mib)
	a.SetReg(arch.ARM64X0+3, 7)
	a.SetSlice(4)
	if end, err := a.Run(); end != Sliced || err != nil || a.Reg(arch.ARM64PC) != base+28 {
		t.Errorf("end %v, %v at %#x", end, err, a.Reg(arch.ARM64PC))
	}
	if word[0] != 1 || a.Reg(arch.ARM64X0+3) != 0 {
		t.Errorf("stored %d, status %d", word[0], a.Reg(arch.ARM64X0+3))
	}
}

// Those that are far from each other can be parted. Then the store fails, even if the other
// CPU has put the old value back.
func TestExclusiveParted(t *testing.T) {
	a, b, base := twoARM64(t, nothing{}, []uint32{
		0x885f7c02, // ldxr w2, [x0]
		0xd2800504, // mov x4, #40
		0xd1000484, // 1: sub x4, x4, #1
		0xb5ffffe4, // cbnz x4, 1b
		0x88037c02, // stxr w3, w2, [x0]
		arm64WFI,
		0xb9000002, // str w2, [x0]
		arm64WFI,
	})
	for _, parted := range []bool{false, true} {
		a.SetReg(arch.ARM64X0, a.RAMBase()+2*mib)
		a.SetReg(arch.ARM64PC, base)
		a.SetSlice(Never)
		if parted {
			a.SetSlice(a.Total() + 4)
			if end, err := a.Run(); end != Sliced || err != nil || a.Reg(arch.ARM64PC) != base+8 {
				t.Fatalf("end %v, %v at %#x", end, err, a.Reg(arch.ARM64PC))
			}
			b.SetReg(arch.ARM64X0, a.RAMBase()+2*mib)
			runARM64(t, b, base+24)
		}
		runARM64(t, a, a.Reg(arch.ARM64PC))
		if failed := a.Reg(arch.ARM64X0+3) == 1; failed != parted {
			t.Errorf("parted %v, the store has failed: %v", parted, failed)
		}
	}
}

// alarm is over when it has rung.
type alarm struct {
	nothing
	e    *Engine
	rang uint64
}

func (a *alarm) Deadline() {
	a.rang = a.e.Clock()
	a.e.SetDeadline(Never)
}

// A CPU that waits for an event lets time pass, wherever its slice ends. What is due on the clock comes in
// time, and is not the end of it if it raises no interrupt.
func TestWFE(t *testing.T) {
	clock := &alarm{}
	a, _, base := twoARM64(t, clock, []uint32{0xd503205f, arm64WFI, 0xd503203f, arm64WFI}) // wfe; yield
	clock.e = a
	a.SetDeadline(50)
	a.SetSlice(100)
	if end, err := a.Run(); end != Sliced || err != nil || a.Total() != 20_004 || clock.rang != 50 || a.Reg(arch.ARM64PC) != base+4 {
		t.Errorf("end %v, %v at %d, %#x", end, err, a.Total(), a.Reg(arch.ARM64PC))
	}
	from := a.Total()
	a.SetSlice(Never)
	runARM64(t, a, base+8)
	if passed := a.Total() - from; passed != 1_004 {
		t.Errorf("%d ns have passed at a yield", passed)
	}
}

// parker parks the CPU that calls.
type parker struct {
	nothing
	e *Engine
}

func (p *parker) Call() { p.e.Park() }

func TestParkARM64(t *testing.T) {
	p := &parker{}
	a, _, base := twoARM64(t, p, []uint32{0xd4000002, arm64NOP, arm64WFI}) // hvc #0
	p.e = a
	if end, err := a.Run(); end != Parked || err != nil || a.Reg(arch.ARM64PC) != base+4 || a.Total() != 4 {
		t.Errorf("end %v, %v at %d, %#x", end, err, a.Total(), a.Reg(arch.ARM64PC))
	}
	runARM64(t, a, base+4)
}

// What one CPU changes in the page tables another sees after a TLBI for all, and only then.
func TestTLBIForAll(t *testing.T) {
	const (
		paging = 0
		load   = 5
		local  = 7
		page   = 9
		all    = 11
	)
	a, b, base := twoARM64(t, nothing{}, []uint32{
		0xd5182001,           // msr ttbr0_el1, x1
		0xd5182042,           // msr tcr_el1, x2
		0xd5181003,           // msr sctlr_el1, x3
		0xd5033fdf, arm64WFI, // isb
		0xf94000e6, arm64WFI, // ldr x6, [x7]
		0xd508871f, arm64WFI, // tlbi vmalle1
		0xd5088325, arm64WFI, // tlbi vae1is, x5
		0xd508831f, arm64WFI, // tlbi vmalle1is
	})
	const tables, va = 2 * mib, 0x80000000
	at := func(offset uint64) []byte { return a.RAM()[tables+offset:] }
	put := func(offset, v uint64) { binary.LittleEndian.PutUint64(at(offset), v) }
	put(8, 0x40000000|0x701)                 // RAM, as a block
	put(16, a.RAMBase()+tables+0x1000|3)     // va
	put(0x1000, a.RAMBase()+tables+0x2000|3) // its table
	show := func(n uint64) { put(0x2000, a.RAMBase()+tables+0x3000+n*0x1000|0x703) }
	for n := range uint64(4) {
		put(0x3000+n*0x1000, n)
	}
	for _, e := range []*Engine{a, b} {
		e.SetReg(arch.ARM64X0+1, a.RAMBase()+tables)
		e.SetReg(arch.ARM64X0+2, 1<<23|25) // 39 bits, TTBR0 alone
		e.SetReg(arch.ARM64X0+3, 0x00c50839)
		e.SetReg(arch.ARM64X0+5, va>>12)
		e.SetReg(arch.ARM64X0+7, va)
		runARM64(t, e, base+paging*4)
	}
	expect := func(want uint64) {
		t.Helper()
		runARM64(t, b, base+load*4)
		if got := b.Reg(arch.ARM64X0 + 6); got != want {
			t.Errorf("it sees page %d, want %d", got, want)
		}
	}
	show(0)
	expect(0)
	show(1)
	runARM64(t, a, base+local*4)
	expect(0)
	runARM64(t, a, base+page*4)
	expect(1)
	show(2)
	runARM64(t, a, base+all*4)
	expect(2)
}
