package patch

import (
	"slices"
	"testing"

	"trapline/kernel/arch"
	"trapline/probes"
	"trapline/probes/probetest"
)

// A deferred hit leaves the one under way as it is, even if a target should deliver it while
// a probe fires: its firing, the probes at its place that are still to fire, and its handle.
func TestToldInsideHit(t *testing.T) {
	const f, g = 0xffffffff81000100, 0xffffffff81000200
	r := newRigOf(t, arch.AMD64, "f ffffffff81000100 55|c3\ng ffffffff81000200 55|c3")
	first, second, late := r.probes("f", "first")[:1], r.probes("f", "second")[:1], r.probes("g", "late")[:1]
	type firing struct {
		name     string
		cpu      int
		deferred bool
	}
	var fired []firing
	tell := false
	note := func(x *probes.Firing) {
		fired = append(fired, firing{x.Probe.Function(), x.CPU.ID(), x.Deferred})
	}
	r.set.sink = probes.SinkFunc(func(x *probes.Firing) {
		note(x)
		if tell {
			tell = false
			r.set.deferred(&probetest.CPU{Num: 7}, g)
			note(x)
			x.Hit.Defer(nil, false)
		}
	})
	r.enable(append(slices.Clone(first), late...))
	r.enable(second)
	tell = true
	r.target.Run(f)
	want := []firing{{"first", 0, false}, {"late", 7, true}, {"first", 0, false}, {"second", 0, false}}
	if !slices.Equal(fired, want) {
		t.Errorf("two probes at a place: fired %v, want %v", fired, want)
	}

	r.disable(second)
	fired, tell = nil, true
	r.target.Run(f)
	want = []firing{{"first", 0, false}, {"late", 7, true}, {"first", 0, false}}
	if !slices.Equal(fired, want) || r.target.Deferring() != 1 || r.set.point(f).deferral != probes.Deferring {
		t.Errorf("one: fired %v, want %v; deferral %v", fired, want, r.set.point(f).deferral)
	}
}
