package device

import (
	"math/rand/v2"
	"testing"
)

// Offsets of the supervisor's context.
const (
	plicSEnable    = plicEnable + plicEnableStride
	plicSThreshold = plicContext + plicContextStride
	plicSClaim     = plicSThreshold + 4
)

func TestPLIC(t *testing.T) {
	var m, s wire
	p := NewPLIC(&m, &s)
	r := p.Registers()
	a, b := p.Line(10), p.Line(40)
	r.Store(4*10, 4, 1)
	r.Store(4*40, 4, 3)
	r.Store(plicSEnable, 4, 1<<10)
	r.Store(plicSEnable+4, 4, 1<<(40-32))

	claim := func(want uint32) {
		t.Helper()
		if got := r.Load(plicSClaim, 4); got != want {
			t.Errorf("claimed %d, want %d", got, want)
		}
	}
	level := func(want bool) {
		t.Helper()
		if s.high != want || m.high {
			t.Errorf("lines %v, %v, want %v, false", s.high, m.high, want)
		}
	}
	level(false)
	claim(0)
	a.Set(true)
	b.Set(true)
	level(true)
	if got := r.Load(plicPending, 4); got != 1<<10 {
		t.Errorf("pending %#x", got)
	}
	claim(40) // the higher priority first
	claim(10)
	claim(0)
	level(false)
	r.Store(plicSClaim, 4, 10) // completed while its line stays high: not again
	level(false)
	a.Set(true) // until the device reports it again
	level(true)
	claim(10)
	a.Set(true) // which it may do before the completion
	level(false)
	r.Store(plicSClaim, 4, 10)
	level(true)
	r.Store(plicSThreshold, 4, 1) // only higher priorities
	level(false)
	b.Set(true)
	r.Store(plicSClaim, 4, 40)
	level(true)
	b.Set(false)
	level(false)
	r.Store(plicSThreshold, 4, 0)
	a.Set(false)
	level(false)
	claim(0)
}

func TestPLICState(t *testing.T) {
	offsets := append(words(0, 12), plicPending, plicSEnable, plicEnable, plicSThreshold, plicSClaim)
	testMemState(t, offsets, func(r *memRig) {
		p := NewPLIC(r.line("machine"), r.line("supervisor"))
		r.dev, r.mem = p, p.Registers()
		r.prod = func(rng *rand.Rand) { p.Line(1 + rng.IntN(12)).Set(rng.IntN(2) == 0) }
	})
}
