//go:build linuximage

package kinst

import (
	"os"
	"runtime"
	"testing"
	"time"

	"trapline/kernel"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/ktext"
	"trapline/probes/patch"
	"trapline/probes/probetest"
)

// TestLinuxAll puts a breakpoint on every instruction of a Linux kernel, on a target that
// has not mapped its text yet.
func TestLinuxAll(t *testing.T) {
	img, err := kernel.Open(os.Getenv("TRAPLINE_VMLINUX"))
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	guest, err := guestos.Detect(img, "")
	if err != nil {
		t.Fatal(err)
	}
	target := &countingTarget{Target: probetest.New(img.Arch())}
	set, err := patch.New(target, img.Text, probes.SinkFunc(func(*probes.Firing) {}))
	if err != nil {
		t.Fatal(err)
	}
	p := New(probes.NewRegistry(), &ktext.Text{Set: set, Symbols: img.Symtab(), Arch: img.Arch(), Unsafe: guest.Unsafe}, img.Arch().Args)
	p.registry.Add(p)

	start, before := time.Now(), heap()
	ps, err := p.Provide(probes.Desc{Provider: "kinst", Function: "*"})
	if err != nil {
		t.Fatal(err)
	}
	made := heap()
	t.Logf("%d probes in %v, %d bytes each", len(ps), time.Since(start), (made-before)/uint64(len(ps)))
	start = time.Now()
	if err := p.registry.Enable(ps); err != nil {
		t.Fatal(err)
	}
	t.Logf("enabled in %v, %d bytes more each", time.Since(start), (heap()-made)/uint64(len(ps)))
	for _, line := range p.Report() {
		t.Log(line)
	}
	if len(ps) < 2_500_000 || target.breaks != len(set.Enabled()) {
		t.Errorf("%d probes, %d breakpoints at %d addresses", len(ps), target.breaks, len(set.Enabled()))
	}
	runtime.KeepAlive(ps)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// countingTarget does not keep what it is given.
type countingTarget struct {
	*probetest.Target
	breaks int
}

func (t *countingTarget) Slots() (base, size uint64) { return 0xffffffffa0000000, 256 << 20 }

func (t *countingTarget) WriteSlots(uint64, []byte) error { return nil }

func (t *countingTarget) SetBreaks(b []probes.Break) error {
	t.breaks += len(b)
	return nil
}
