package probetest

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"trapline/probes"
)

// TestProvider runs what every provider must do. desc asks for at least one probe of p,
// which must not be enabled; p is one of r's providers. The probes it makes stay.
func TestProvider(t *testing.T, r *probes.Registry, p probes.Provider, desc string) {
	t.Helper()
	d, err := probes.ParseDesc(desc)
	if err != nil {
		t.Fatal(err)
	}
	ps := provide(t, p, d)
	if len(ps) == 0 {
		t.Fatalf("%s: no probe", desc)
	}
	n := r.Len()
	if again := provide(t, p, d); !slices.Equal(again, ps) || r.Len() != n {
		t.Errorf("%s: asked twice, %d probes became %d, %d in the registry became %d", desc, len(ps), len(again), n, r.Len())
	}
	checkProbes(t, r, p, d, ps)
	checkAbout(t, p, ps)
	if other := provide(t, p, probes.Desc{Module: "no-such-module", Name: "no-such-name"}); len(other) != 0 {
		t.Errorf("%d probes for a module and a name that do not exist", len(other))
	}
	checkEnable(t, r, ps)
}

func provide(t *testing.T, p probes.Provider, d probes.Desc) []*probes.Probe {
	t.Helper()
	ps, err := p.Provide(d)
	if err != nil {
		t.Fatalf("%v: %v", d, err)
	}
	return ps
}

func checkProbes(t *testing.T, r *probes.Registry, p probes.Provider, d probes.Desc, ps []*probes.Probe) {
	t.Helper()
	last := probes.ID(0)
	for _, q := range ps {
		if q.ID() <= last {
			t.Errorf("probe %d comes after %d", q.ID(), last)
		}
		last = q.ID()
		if found, ok := r.Probe(q.ID()); !ok || found != q {
			t.Errorf("probe %d is not in the registry", q.ID())
		}
		if q.Provider() != p.Name() {
			t.Errorf("%v is not of provider %s", q.Desc(), p.Name())
		}
		d := d
		if d.Module != q.Module() { // a provider may know a module by several names
			d.Module = ""
		}
		if !d.Match(q.Desc()) {
			t.Errorf("%v does not match %v", q.Desc(), d)
		}
	}
}

// checkAbout compares the names of probes with what the provider says of them.
func checkAbout(t *testing.T, p probes.Provider, ps []*probes.Probe) {
	t.Helper()
	about := probes.AboutOf(p)
	for _, q := range ps {
		name := q.Desc().Name
		if len(about.Names) > 0 && !slices.Contains(about.Names, name) {
			t.Errorf("%v is not one of %q", q.Desc(), about.Names)
		}
		digits, _, _ := strings.Cut(name, "-") // behind it, one way of a conditional jump
		if _, err := strconv.Atoi(digits); about.Offsets && err != nil {
			t.Errorf("%v is not named by an offset", q.Desc())
		}
	}
}

// checkEnable switches on and off, all, twice, and half of them.
func checkEnable(t *testing.T, r *probes.Registry, ps []*probes.Probe) {
	t.Helper()
	half := ps[:(len(ps)+1)/2]
	steps := []struct {
		name string
		do   func([]*probes.Probe) error
		ps   []*probes.Probe
	}{
		{"enable", r.Enable, ps}, {"enable half again", r.Enable, half}, {"disable", r.Disable, ps}, {"disable half", r.Disable, half},
		{"enable half", r.Enable, half}, {"disable half", r.Disable, half},
	}
	for _, s := range steps {
		if err := s.do(s.ps); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
	for _, q := range ps {
		if r.Enabled(q) != 0 {
			t.Errorf("%v is still enabled", q.Desc())
		}
	}
}
