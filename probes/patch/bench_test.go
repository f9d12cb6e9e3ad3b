package patch

import (
	"testing"

	"trapline/kernel/arch"
	"trapline/probes"
	"trapline/probes/probetest"
)

// BenchmarkHit is one hit, alternating between two pages, up to the sink.
func BenchmarkHit(b *testing.B) {
	funcs, err := probetest.ParseFuncs("f ffffffff81000ffe 55|5d|90|c3")
	if err != nil {
		b.Fatal(err)
	}
	target := probetest.New(arch.AMD64)
	target.Map(funcs[0].Addr, funcs[0].Code)
	n := 0
	set, err := New(target, probetest.Symbols(funcs).File, probes.SinkFunc(func(*probes.Firing) { n++ }))
	if err != nil {
		b.Fatal(err)
	}
	reg := probes.NewRegistry()
	f := set.Func(funcs[0].Addr, 4)
	instrs, err := f.Instrs()
	if err != nil {
		b.Fatal(err)
	}
	var ps []*probes.Probe
	for _, in := range instrs {
		set.Add(f, in)
		ps = append(ps, reg.Group(owner{set}, "m", "f", f.Start).Numbered(in.Off, f.Start+uint64(in.Off)))
	}
	if err := reg.Enable(ps); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := range b.N {
		set.hit(&target.CPU, f.Start+uint64(i&3))
	}
	if n != b.N {
		b.Errorf("%d firings of %d hits", n, b.N)
	}
}
