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
	r.d, r.c = r.Distributor(), r.CPUInterface()
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
	if !r.PPIEnabled(11) {
		r.enable(27, 0)
	}
	if !r.PPIEnabled(11) {
		t.Error("the timer's interrupt is not enabled")
	}
}

func TestGICState(t *testing.T) {
	offsets := []uint64{
		gicdCtlr, gicdSetEnable, gicdSetEnable + 4, gicdClearEnable, gicdSetPending, gicdClearPending + 4,
		gicdSetActive, gicdClearActive, gicdPriority + 32, gicdConfig + 8, gicdSGI, gicdClearSGI, gicdSetSGI,
	}
	cpu := []uint64{giccCtlr, giccMask, giccBinary, giccAck, giccEnd, giccRunning, giccHighest, giccDeactivate}
	for _, half := range []struct {
		offsets []uint64
		mem     func(*GIC) Mem
	}{{offsets, (*GIC).Distributor}, {cpu, (*GIC).CPUInterface}} {
		testMemState(t, half.offsets, func(r *memRig) {
			g := NewGIC(r.line("irq"))
			r.dev, r.mem = g, half.mem(g)
			g.Distributor().Store(gicdSetEnable+4, 4, ^uint32(0))
			r.prod = func(rng *rand.Rand) { g.SPI(rng.IntN(32)).Set(rng.IntN(2) == 0) }
		})
	}
}
