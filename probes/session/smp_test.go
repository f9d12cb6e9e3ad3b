package session

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"trapline/kernel/arch"
	"trapline/probes/probetest"
)

// Aggregations and variables are of all CPUs together: what they come to does not depend on which
// CPU a firing is on, nor on whether it comes at once, later, or is counted by the target.
func TestAggregationsOverCPUs(t *testing.T) {
	const program = `
		kinst::vfs_read:0 { @n = count(); }
		kinst::vfs_read:1 { @sum = sum(arg0); @min = min(arg0); @max = max(arg0); @avg = avg(arg0); @dev = stddev(arg0); }
		kinst::vfs_read:4 { @q = quantize(arg0); @l = lquantize(arg0, 0, 100, 10); @by[arg1] = sum(arg0); }
		kinst::vfs_read:6 / *(char *)0xffffffff81000100 == 0x55 / { @now[arg1] = max(arg0); total += arg0; }
		END { printf("%d", total); }`
	run := func(cpus int, opt string) string {
		r, smp := newSMPRig(t, cpus, "quiet", "aggsortkey", opt)
		rnd, place := rand.New(rand.NewPCG(3, 4)), rand.New(rand.NewPCG(5, uint64(cpus)))
		if err := r.trace(func(*probetest.Target) {
			for range 500 {
				cpu := smp.On(place.IntN(cpus))
				cpu.Regs[arch.RDI], cpu.Regs[arch.RSI] = rnd.Uint64N(100), rnd.Uint64N(4)
				smp.Run(vfsRead, vfsRead+1, vfsRead+4, vfsRead+6)
			}
		}, spec(program)); err != nil || smp.Err != nil {
			t.Fatal(err, smp.Err)
		}
		return r.out.String() + r.errOut.String()
	}
	want := run(1, "defer=off")
	if !strings.Contains(want, "500") {
		t.Fatalf("%s", want)
	}
	for _, cpus := range []int{1, 2, 8} {
		for _, opt := range []string{"defer=on", "defer=off"} {
			if got := run(cpus, opt); got != want {
				t.Errorf("%d CPUs, %s:\n%s\nwant\n%s", cpus, opt, got, want)
			}
		}
	}
}

// Each CPU has its own profile probe, at multiples of its interval on its own clock; tick-N fires
// once for all. The aggregations of all CPUs are one.
func TestProfileOverCPUs(t *testing.T) {
	for _, cpus := range []int{1, 2, 4} {
		r, smp := newSMPRig(t, cpus, "quiet", "aggsortkey")
		err := r.trace(func(*probetest.Target) {
			for range 30 { // 10 ms each, and in the end 3 more for the first
				for cpu := range cpus {
					smp.On(cpu)
					smp.Spend(333e3 + 334)
				}
			}
			smp.On(0)
			smp.Spend(3e6)
		}, spec(`profile-1ms { @p[cpu] = count(); @all = count(); } tick-1ms { ticks++; } END { printa("%d:%@d ", @p); printa("all:%@d ", @all); printf("ticks:%d", ticks); }`))
		want := "0:13 "
		for cpu := range cpus - 1 {
			want += fmt.Sprintf("%d:10 ", cpu+1)
		}
		want += fmt.Sprintf("all:%d ticks:13\n", 13+10*(cpus-1))
		if got := r.out.String(); err != nil || got != want || smp.Err != nil {
			t.Errorf("%d CPUs: %q, want %q; %v, %v", cpus, got, want, err, smp.Err)
		}
	}
}
