package device

import (
	"math/rand/v2"
	"testing"
)

// A gicRig is a controller with everything enabled for SPI 1.
type gicRig struct {
	*GIC
	irq wire
	d   Mem
	c   Mem
}

func newGICRig() *gicRig {
	r := &gicRig{}
	r.GIC = NewGIC(&r.irq)
	r.d, r.c = r.Distributor(0), r.CPUInterface(0)
	r.d.Store(gicdCtlr, 4, 1)
	r.c.Store(giccCtlr, 4, 1)
	r.c.Store(giccMask, 4, 0xf0)
	return r
}

func (r *gicRig) enable(n int, priority uint32) {
	r.d.Store(gicdSetEnable+uint64(n/32)*4, 4, 1<<(n%32))
	r.d.Store(gicdPriority+uint64(n), 1, priority)
}

func (r *gicRig) expect(t *testing.T, high bool, ack uint32) {
	t.Helper()
	if r.irq.high != high {
		t.Errorf("line %v, want %v", r.irq.high, high)
	}
	if got := r.c.Load(giccAck, 4); got != ack {
		t.Errorf("acknowledged %d, want %d", got, ack)
	}
}

func TestGICLevel(t *testing.T) {
	r := newGICRig()
	line := r.SPI(1)
	line.Set(true)
	r.expect(t, false, gicNone) // not enabled
	r.enable(33, 0x80)
	r.expect(t, true, 33)
	r.expect(t, false, gicNone) // active
	r.c.Store(giccEnd, 4, 33)
	r.expect(t, true, 33) // its line is still high
	line.Set(false)
	r.c.Store(giccEnd, 4, 33)
	r.expect(t, false, gicNone)
}

func TestGICPriority(t *testing.T) {
	r := newGICRig()
	r.enable(33, 0x80)
	r.enable(40, 0x40)
	r.enable(41, 0x40)
	r.SPI(33 - gicSPIs).Set(true)
	r.expect(t, true, 33)
	r.SPI(41 - gicSPIs).Set(true)
	r.SPI(40 - gicSPIs).Set(true)
	r.expect(t, true, 40) // more urgent than what runs, lowest number first
	if got := r.c.Load(giccRunning, 4); got != 0x40 {
		t.Errorf("running priority %#x", got)
	}
	r.expect(t, false, gicNone) // no more urgent than what runs
	r.SPI(40 - gicSPIs).Set(false)
	r.c.Store(giccEnd, 4, 40)
	r.expect(t, true, 41)
	r.SPI(41 - gicSPIs).Set(false)
	r.c.Store(giccEnd, 4, 41)
	r.c.Store(giccMask, 4, 0x40)
	r.c.Store(giccEnd, 4, 33)
	r.expect(t, false, gicNone) // masked
}

func TestGICEdgeAndSGI(t *testing.T) {
	r := newGICRig()
	r.enable(50, 0x10)
	r.d.Store(gicdConfig+50/16*4, 4, 2<<(50%16*2))
	if got := r.d.Load(gicdConfig+50/16*4, 4); got != 2<<(50%16*2) {
		t.Errorf("configuration %#x", got)
	}
	r.SPI(50 - gicSPIs).Set(true)
	r.SPI(50 - gicSPIs).Set(false) // remembered
	r.expect(t, true, 50)
	r.c.Store(giccEnd, 4, 50)
	r.expect(t, false, gicNone)

	r.d.Store(gicdSGI, 4, 2<<24|5) // to itself
	r.expect(t, true, 5)
	r.c.Store(giccEnd, 4, 5)
	r.d.Store(gicdSGI, 4, 2<<16|5) // to another CPU
	r.expect(t, false, gicNone)
}

// With EOImode the end drops the priority, and deactivating is a step of its own.
func TestGICSplitEnd(t *testing.T) {
	r := newGICRig()
	r.c.Store(giccCtlr, 4, 1|giccSplitEnd)
	r.enable(33, 0x80)
	r.enable(34, 0x80)
	r.SPI(1).Set(true)
	r.expect(t, true, 33)
	r.SPI(2).Set(true)
	r.expect(t, false, gicNone)
	r.c.Store(giccEnd, 4, 33)
	r.expect(t, true, 34)
	r.c.Store(giccEnd, 4, 34)
	r.expect(t, false, gicNone)
	r.c.Store(giccDeactivate, 4, 33)
	r.expect(t, true, 33)
}

func TestGICIdentity(t *testing.T) {
	r := newGICRig()
	if got := r.d.Load(gicdType, 4); got&31 != gicIRQs/32-1 || got>>5&7 != 0 {
		t.Errorf("type %#x", got)
	}
	if got := r.d.Load(gicdTargets, 4); got != 0x01010101 {
		t.Errorf("targets %#x", got)
	}
	if !r.PPIEnabled(0, 11) {
		r.enable(27, 0)
	}
	if !r.PPIEnabled(0, 11) {
		t.Error("the timer's interrupt is not enabled")
	}
}

func TestGICState(t *testing.T) {
	offsets := []uint64{
		gicdCtlr, gicdSetEnable, gicdSetEnable + 4, gicdClearEnable, gicdSetPending, gicdClearPending + 4,
		gicdSetActive, gicdClearActive, gicdPriority + 32, gicdTargets + 32, gicdConfig + 8, gicdSGI, gicdClearSGI, gicdSetSGI,
	}
	cpu := []uint64{giccCtlr, giccMask, giccBinary, giccAck, giccEnd, giccRunning, giccHighest, giccDeactivate}
	for _, half := range []struct {
		offsets []uint64
		mem     func(*GIC, int) Mem
	}{{offsets, (*GIC).Distributor}, {cpu, (*GIC).CPUInterface}} {
		for cpus := 1; cpus <= 3; cpus += 2 {
			testMemState(t, half.offsets, func(r *memRig) {
				g := NewGIC([]Line{r.line("irq 0"), r.line("irq 1"), r.line("irq 2")}[:cpus]...)
				r.dev, r.mem = g, half.mem(g, cpus-1)
				g.Distributor(0).Store(gicdSetEnable+4, 4, ^uint32(0))
				r.prod = func(rng *rand.Rand) { g.SPI(rng.IntN(32)).Set(rng.IntN(2) == 0) }
			})
		}
	}
}

// A gicPair is a controller of two CPUs, with everything enabled.
type gicPair struct {
	*GIC
	irq  [2]wire
	d, c [2]Mem
}

func newGICPair() *gicPair {
	p := &gicPair{}
	p.GIC = NewGIC(&p.irq[0], &p.irq[1])
	for i := range p.c {
		p.d[i], p.c[i] = p.Distributor(i), p.CPUInterface(i)
		p.c[i].Store(giccCtlr, 4, 1)
		p.c[i].Store(giccMask, 4, 0xf0)
	}
	p.d[0].Store(gicdCtlr, 4, 1)
	for word := range uint64(gicWords) {
		p.d[0].Store(gicdSetEnable+4*word, 4, ^uint32(0))
	}
	p.d[1].Store(gicdSetEnable, 4, ^uint32(0))
	return p
}

// expect checks what each CPU is sent, and takes it.
func (p *gicPair) expect(t *testing.T, want0, want1 uint32) {
	t.Helper()
	for i, want := range []uint32{want0, want1} {
		if high := p.irq[i].high; high != (want != gicNone) {
			t.Errorf("CPU %d: line %v", i, high)
		}
		if got := p.c[i].Load(giccAck, 4); got != want {
			t.Errorf("CPU %d: acknowledged %#x, want %#x", i, got, want)
		}
		p.c[i].Store(giccEnd, 4, want)
	}
}

// An SGI goes to those that it is for, once from each sender, and names it.
func TestGICSignals(t *testing.T) {
	p := newGICPair()
	p.expect(t, gicNone, gicNone)
	p.d[0].Store(gicdSGI, 4, 2<<16|5)
	p.expect(t, gicNone, 5)
	p.d[1].Store(gicdSGI, 4, 1<<24|5) // all others
	p.expect(t, 5|1<<10, gicNone)
	p.d[1].Store(gicdSGI, 4, 2<<24|6) // itself
	p.expect(t, gicNone, 6|1<<10)
	p.d[0].Store(gicdSGI, 4, 3<<16|7)
	p.d[1].Store(gicdSGI, 4, 3<<16|7)
	p.d[1].Store(gicdSGI, 4, 3<<16|7)
	if got := p.d[0].Load(gicdSetSGI+4, 4); got != 3<<24 {
		t.Errorf("senders of 4 to 7: %#x", got)
	}
	p.expect(t, 7, 7)
	p.d[1].Store(gicdClearSGI+7, 1, 2)
	p.expect(t, 7|1<<10, gicNone)
	p.expect(t, gicNone, gicNone)
}

// Private interrupts are each CPU's own, with their registers.
func TestGICPrivate(t *testing.T) {
	p := newGICPair()
	p.PPI(1, 11).Set(true)
	p.d[0].Store(gicdClearEnable, 4, 1<<27)
	p.d[0].Store(gicdPriority+27, 1, 0xf0)
	p.expect(t, gicNone, 27)
	if p.PPIEnabled(0, 11) || !p.PPIEnabled(1, 11) {
		t.Error("enabled for the wrong one")
	}
	if a, b := p.d[0].Load(gicdTargets, 1), p.d[1].Load(gicdTargets, 1); a != 1 || b != 2 {
		t.Errorf("targets of private interrupts: %d, %d", a, b)
	}
	if got := p.d[1].Load(gicdType, 4) >> 5 & 7; got != 1 {
		t.Errorf("%d CPUs besides the first", got)
	}
}

// A shared interrupt goes to its targets, and one of them gets it.
func TestGICTargets(t *testing.T) {
	p := newGICPair()
	line := p.SPI(1)
	line.Set(true)
	if !p.irq[0].high || p.irq[1].high {
		t.Error("it is not the first's from the start")
	}
	p.d[0].Store(gicdTargets+32, 4, 0x0100_ff00|0x0200)
	if got := p.d[1].Load(gicdTargets+32, 4); got != 0x0100_0300 {
		t.Errorf("targets %#x", got)
	}
	if !p.irq[0].high || !p.irq[1].high {
		t.Error("not all targets get it")
	}
	if got := p.c[1].Load(giccAck, 4); got != 33 || p.irq[0].high {
		t.Errorf("acknowledged %d, the other's line is %v", got, p.irq[0].high)
	}
	line.Set(false)
	p.c[1].Store(giccEnd, 4, 33)
	p.expect(t, gicNone, gicNone)
}
