package patch

import (
	"slices"
	"testing"

	"trapline/kernel/arch"
	"trapline/probes"
	"trapline/probes/probetest"
)

// A firing of a point that may come later is deferred, until another probe comes to the same
// place, or the instruction is another.
func TestDeferHits(t *testing.T) {
	const at = 0xffffffff81000100
	r := newRigOf(t, arch.AMD64, "f ffffffff81000100 55|31c0|c3")
	r.set.sink = probes.SinkFunc(func(f *probes.Firing) {
		how := "now "
		if f.Deferred {
			how = "later "
		}
		r.fired = append(r.fired, how+f.Probe.Function())
		if f.Hit != nil && f.Hit.Deferral() == probes.Untried {
			f.Hit.Defer(nil, false)
		}
	})
	ps, others := r.probes("f", "f"), r.probes("f", "other")
	r.enable(ps)
	want := func(deferring int, want ...string) {
		t.Helper()
		if !slices.Equal(r.fired, want) || r.target.Deferring() != deferring {
			t.Errorf("fired %q, %d deferring; want %q, %d", r.fired, r.target.Deferring(), want, deferring)
		}
		r.fired = nil
		r.check()
	}
	r.target.Run(at, at, at+3, at, at+3)
	want(2, "now f", "later f", "now f", "later f", "later f")
	r.enable(others[:1])
	r.target.Run(at, at, at+3)
	want(1, "now f", "now other", "now f", "now other", "later f")
	r.disable(others[:1])
	r.target.Run(at, at, at+3)
	want(2, "now f", "later f", "later f")
	r.target.Rewrite(at+3, []byte{0xf4}) // hlt
	r.target.Run(at+3, at, at+3)
	want(2, "now f", "later f", "later f")
	r.disable(ps)
	want(0)
	if n := r.set.Hits(at); n != 8 {
		t.Errorf("%d hits", n)
	}
}

// With trampolines that points share, no hit is deferred.
func TestDeferShared(t *testing.T) {
	r := newRig(t)
	r.target.Shared = true
	if err := r.set.Share(func(probes.CPU) Owner { return Owner{} }); err != nil {
		t.Fatal(err)
	}
	r.set.sink = probes.SinkFunc(func(f *probes.Firing) { f.Hit.Defer(nil, false) })
	r.enable(r.probes("plain", "p"))
	r.target.Run(r.fn("plain").Addr + 9)
	if n := r.target.Deferring(); n != 0 {
		t.Errorf("%d are deferred", n)
	}
}

var _ probes.Deferrer = (*probetest.Target)(nil)

// TestVoidHit: a handle that is kept beyond Fire does nothing.
func TestVoidHit(t *testing.T) {
	const at = 0xffffffff81000100
	r := newRigOf(t, arch.AMD64, "f ffffffff81000100 55|c3")
	var kept probes.Hit
	r.set.sink = probes.SinkFunc(func(f *probes.Firing) { kept = f.Hit })
	r.enable(r.probes("f", "f"))
	r.target.Run(at)
	kept.Defer(nil, false)
	kept.Count()
	if kept.Deferral() != probes.Immediate || r.target.Deferring() != 0 || r.set.point(at).deferral != probes.Untried {
		t.Errorf("deferral %d, %d deferring", kept.Deferral(), r.target.Deferring())
	}
	kept.NeverDefer()
	if r.set.point(at).deferral != probes.Untried {
		t.Error("a void handle settles how hits come")
	}
}
