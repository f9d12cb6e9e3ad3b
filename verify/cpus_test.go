package verify

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"trapline/emu"
	"trapline/emu/interleave"
	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/probes"
)

// race has both CPUs of a guest in the same functions, most of the time.
const race = `cmd="race count; race session; echo done"`

// raced are these functions.
var raced = strings.Fields("count_visitor count session session_get session_put session_use session_open lock unlock page_alloc page_free second")

// An oracle counts by the emulator's code hook how often an instruction is executed while it has a
// probe.
type oracle struct {
	*course
	addrs      []uint64 // of all probes, sorted
	last       []uint64 // executions at the last change
	executions map[uint64]uint64
}

// newOracle begins to count.
func newOracle(t *testing.T, c *course) *oracle {
	t.Helper()
	o := &oracle{course: c, executions: map[uint64]uint64{}}
	for _, p := range c.probes {
		o.addrs = append(o.addrs, p.Key)
	}
	slices.Sort(o.addrs)
	// Executions are counted on pages that have had breakpoints.
	err := errors.Join(c.reg.Enable(c.probes), c.reg.Disable(c.probes), c.CrossCheck(o.addrs))
	if err != nil {
		t.Fatal(err)
	}
	o.last = o.Counts()
	return o
}

// take adds what has been executed since the last change to those that have a probe.
func (o *oracle) take() {
	now := o.Counts()
	on := map[uint64]bool{}
	for _, p := range o.enabled() {
		on[p.Key] = true
	}
	for i, addr := range o.addrs {
		if d := now[i] - o.last[i]; d > 0 && on[addr] {
			o.executions[addr] += d
		}
	}
	o.last = now
}

// hits are those of the breakpoints.
func (o *oracle) hits() map[uint64]uint64 {
	all := map[uint64]uint64{}
	for _, addr := range o.addrs {
		if n := o.set.Hits(addr); n > 0 {
			all[addr] = n
		}
	}
	return all
}

// Probes come and go while two CPUs run, at ticks and when others are hit: none is missed or
// doubled, and the guest does not notice.
func TestComeAndGoOnCPUs(t *testing.T) {
	policies := map[string]func() interleave.Policy{
		"roundrobin": func() interleave.Policy { return interleave.RoundRobin(300) },
	}
	for _, seed := range []uint64{1, 2, 3} { // with which no session is used that has been freed
		policies[fmt.Sprint("random ", seed)] = func() interleave.Policy { return interleave.Random(seed, 300) }
	}
	for name, policy := range policies {
		t.Run(name, func(t *testing.T) {
			without, _ := comeAndGo(t, emu.Config{}, policy(), false)
			var want map[uint64]uint64
			for _, config := range []emu.Config{{Hooked: true}, {}, {InPlace: true}} {
				with, hits := comeAndGo(t, config, policy(), true)
				compare(t, without, with)
				if want == nil {
					want = hits
				}
				if diff := cmp.Diff(want, hits); diff != "" {
					t.Errorf("by hook and by breakpoints:\n%s", diff)
				}
			}
		})
	}
}

// comeAndGo is a run with two CPUs, with probes or not, and the hits of each.
func comeAndGo(t *testing.T, config emu.Config, policy interleave.Policy, with bool) (*History, map[uint64]uint64) {
	t.Helper()
	const gap, times = 700, 500
	config.CPUs = 2
	c := courseWith(t, arch.RISCV64, config, race)
	defer c.Close()
	c.Interleave(policy)
	c.split(t, "count_visitor")
	c.probes = slices.DeleteFunc(c.probes, func(p *probes.Probe) bool { return !slices.Contains(raced, p.Desc().Function) })
	o := newOracle(t, c)
	j, err := c.Journal(emu.Never>>1, 0)
	if err != nil {
		t.Fatal(err)
	}
	changes, change := 0, func() {}
	r, fired := rand.New(rand.NewPCG(3, 4)), [2]int{}
	if with {
		change = func() {
			o.take()
			on, off := c.some(r, 30)
			if err := errors.Join(c.reg.Disable(off), c.reg.Enable(on)); err != nil {
				t.Error(err)
			}
			changes += len(on) + len(off)
		}
	}
	c.fire = func(f *probes.Firing) {
		if fired[f.CPU.ID()]++; r.IntN(20) == 0 {
			change()
		}
	}
	c.every(gap, times, change)
	c.end(t)
	o.take()
	if with && (changes < 5000 || fired[0] < 2000 || fired[1] < 2000) {
		t.Errorf("%d changes, %d hits", changes, fired)
	}
	h, hits := c.history(t, j), o.hits()
	if diff := cmp.Diff(o.executions, hits); diff != "" {
		t.Errorf("in place: %v, by hook: %v: executions and hits:\n%s", config.InPlace, config.Hooked, diff)
	}
	return h, hits
}

// split has turns end everywhere in a function.
func (c *course) split(t *testing.T, name string) {
	t.Helper()
	c.Flush()
	i := slices.IndexFunc(c.funcs, func(fn kernel.Symbol) bool { return fn.Name == name })
	if err := c.Split(c.funcs[i].Addr, c.funcs[i].Addr+c.funcs[i].Size); err != nil {
		t.Fatal(err)
	}
}
