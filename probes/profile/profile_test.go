package profile

import (
	"fmt"
	"slices"
	"testing"

	"trapline/kernel/arch"
	"trapline/probes"
	"trapline/probes/probetest"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name string
		want uint64 // 0: no such probe
	}{
		{"tick-1s", 1e9}, {"tick-1sec", 1e9}, {"profile-10ms", 10e6}, {"tick-5msec", 5e6}, {"tick-1000ns", 1000}, {"tick-2000nsec", 2000},
		{"tick-7us", 7000}, {"tick-7usec", 7000}, {"tick-2m", 120e9}, {"tick-2min", 120e9}, {"tick-1h", 3600e9}, {"tick-1hour", 3600e9},
		{"tick-1d", 86400e9}, {"tick-1day", 86400e9}, {"tick-100", 10e6}, {"profile-997hz", 1003009}, {"tick-1hz", 1e9},
		{"tick-0", 0}, {"tick-", 0}, {"tick", 0}, {"tick-s", 0}, {"tick-1x", 0}, {"tock-1s", 0}, {"tick--1", 0}, {"tick-+1", 0},
		{"tick-999ns", 0}, {"tick-1000001hz", 0}, {"tick-99999999999999999999", 0}, {"tick-999999999999d", 0}, {"tick-*", 0}, {"", 0},
	}
	for _, tt := range tests {
		if got, ok := parse(tt.name); ok != (tt.want != 0) || ok && got != tt.want {
			t.Errorf("%s: %d, %v, want %d", tt.name, got, ok, tt.want)
		}
	}
}

// log is a sink that writes down time, name and args.
type log struct {
	t     *probetest.Target
	lines []string
}

func (l *log) Fire(f *probes.Firing) {
	l.lines = append(l.lines, fmt.Sprintf("%d %s %x %x", l.t.Now(), f.Probe.Name(), f.Args[0], f.Args[1]))
}

func setup(t *testing.T, names ...string) (*probes.Registry, *probetest.Target, *log, []*probes.Probe) {
	t.Helper()
	r, target := probes.NewRegistry(), probetest.New(arch.AMD64)
	l := &log{t: target}
	r.Add(New(r, target, l))
	var all []*probes.Probe
	for _, n := range names {
		ps, err := r.Match(probes.Desc{Provider: "profile", Name: n})
		if err != nil || len(ps) != 1 {
			t.Fatalf("%s: %d probes, %v", n, len(ps), err)
		}
		all = append(all, ps...)
	}
	return r, target, l, all
}

func TestConformance(t *testing.T) {
	for _, name := range []string{"tick-1s", "profile-97", "tick-1s"} {
		r, target, _, _ := setup(t)
		probetest.TestProvider(t, r, r.Providers()[0], name)
		if target.Err != nil {
			t.Error(target.Err)
		}
	}
}

func TestFire(t *testing.T) {
	r, target, l, ps := setup(t, "profile-3ms", "tick-2ms", "tick-6ms")
	target.Advance(500)
	if err := r.Enable(ps); err != nil {
		t.Fatal(err)
	}
	target.CPU.SetReg(arch.RIP, 0xffffffff81000000)
	target.Advance(6e6)
	target.CPU.SetReg(arch.RIP, 0x401000)
	target.CPU.SetReg(arch.CS, 0x33)
	target.Advance(2e6)
	want := []string{
		"2000500 tick-2ms ffffffff81000000 0", "3000500 profile-3ms ffffffff81000000 0", "4000500 tick-2ms ffffffff81000000 0",
		"6000500 profile-3ms ffffffff81000000 0", "6000500 tick-2ms ffffffff81000000 0", "6000500 tick-6ms ffffffff81000000 0",
		"8000500 tick-2ms 0 401000",
	}
	if !slices.Equal(l.lines, want) {
		t.Errorf("got %q\nwant %q", l.lines, want)
	}
	l.lines = nil
	if err := r.Disable(ps); err != nil {
		t.Fatal(err)
	}
	target.Advance(1e9)
	if len(l.lines) != 0 {
		t.Errorf("fired after Disable: %q", l.lines)
	}
}

// The CPU's mode says what was running: there are kernels in the lower half, and any kernel
// begins there.
func TestMode(t *testing.T) {
	for _, c := range []struct {
		a    *arch.Arch
		mode arch.Reg
		v    uint64
		want string
	}{
		{arch.AMD64, arch.CS, 0x10, "1000000 tick-1ms 80001000 0"},
		{arch.AMD64, arch.CS, 0x33, "1000000 tick-1ms 0 80001000"},
		{arch.ARM64, arch.ARM64PSTATE, 5, "1000000 tick-1ms 80001000 0"},
		{arch.ARM64, arch.ARM64PSTATE, 0, "1000000 tick-1ms 0 80001000"},
		{arch.RISCV64, arch.RISCV64PRIV, 3, "1000000 tick-1ms 80001000 0"},
		{arch.RISCV64, arch.RISCV64PRIV, 0, "1000000 tick-1ms 0 80001000"},
	} {
		r, target := probes.NewRegistry(), probetest.New(c.a)
		l := &log{t: target}
		r.Add(New(r, target, l))
		ps, err := r.Match(probes.Desc{Provider: "profile", Name: "tick-1ms"})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Enable(ps); err != nil {
			t.Fatal(err)
		}
		target.CPU.SetReg(c.a.PC, 0x80001000)
		target.CPU.SetReg(c.mode, c.v)
		target.Advance(1e6)
		if !slices.Equal(l.lines, []string{c.want}) {
			t.Errorf("%s in mode %#x: %q, want %q", c.a.Name, c.v, l.lines, c.want)
		}
	}
}

// A guest that takes no interrupt for long gets all firings late, and later ones at
// their own times.
// A pair is a target with two CPUs, whose ticks the test lets come.
type pair struct {
	*probetest.Target
	at   [2]uint64
	tick [2]func(probes.CPU, bool)
}

func (*pair) CPUs() int { return 2 }

func (p *pair) OnCPUTick(cpu int, at uint64, f func(probes.CPU, bool)) {
	p.at[cpu], p.tick[cpu] = at, f
}

func TestCPUs(t *testing.T) {
	r, target := probes.NewRegistry(), &pair{Target: probetest.New(arch.AMD64)}
	l := &log{t: target.Target}
	r.Add(New(r, target, l))
	var all []*probes.Probe
	for _, name := range []string{"profile-1ms", "profile-2ms", "tick-1ms"} {
		ps, err := r.Match(probes.Desc{Provider: "profile", Name: name})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ps...)
	}
	if err := r.Enable(all); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		target.tick[0](&target.CPU, false)
	}
	target.tick[1](&target.CPU, true) // it is off
	want := []string{"0 profile-1ms 0 0", "0 profile-1ms 0 0", "0 profile-2ms 0 0"}
	if !slices.Equal(l.lines, want) || target.at != [2]uint64{3e6, 2e6} {
		t.Errorf("%q, then at %v", l.lines, target.at)
	}
	if err := r.Disable(all); err != nil || target.at != [2]uint64{^uint64(0), ^uint64(0)} {
		t.Errorf("disabled, at %v, %v", target.at, err)
	}
}

func TestLate(t *testing.T) {
	r, target, l, ps := setup(t, "tick-1ms", "tick-1500us")
	if err := r.Enable(ps); err != nil {
		t.Fatal(err)
	}
	p := r.Providers()[0].(*Provider)
	target.OnTick(^uint64(0), nil)
	target.Advance(3100000)
	p.tick(&target.CPU)
	target.Advance(1e6)
	want := []string{"3100000 tick-1ms 0 0", "3100000 tick-1500us 0 0", "3100000 tick-1ms 0 0", "3100000 tick-1ms 0 0", "3100000 tick-1500us 0 0", "4000000 tick-1ms 0 0"}
	if !slices.Equal(l.lines, want) {
		t.Errorf("got %q\nwant %q", l.lines, want)
	}
}

func TestEvery(t *testing.T) {
	r, target, l, ps := setup(t, "tick-2s")
	p := r.Providers()[0].(*Provider)
	p.Every(1e8, func() { t.Error("replaced, and called") })
	p.Every(1e9, func() { l.lines = append(l.lines, fmt.Sprintf("%d every", target.Now())) })
	if err := r.Enable(ps); err != nil {
		t.Fatal(err)
	}
	target.Advance(2e9)
	want := []string{"1000000000 every", "2000000000 every", "2000000000 tick-2s 0 0"}
	if !slices.Equal(l.lines, want) {
		t.Errorf("got %q\nwant %q", l.lines, want)
	}
}
