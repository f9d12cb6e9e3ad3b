package verify

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"trapline/emu"
	"trapline/images/tiny"
	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/probes"
	"trapline/probes/patch"
)

// hard are all instructions and shapes that tiny has, several times.
const hard = `cmd="awkward; shapes; forks 9; read-bad; pipe 20; awkward; shapes; pipe 20; awkward; shapes; forks 3; echo done"`

// A course is one run of a guest with a workload.
type course struct {
	*emu.Machine
	set     *patch.Set
	reg     *probes.Registry
	probes  []*probes.Probe // of every instruction that can have one
	funcs   []kernel.Symbol
	console bytes.Buffer
	fire    func(*probes.Firing) // at each; may be nil
}

// courseOf boots tiny, up to where its kernel runs. No probe is enabled.
func courseOf(t *testing.T, a *arch.Arch) *course {
	t.Helper()
	return courseWith(t, a, emu.Config{}, hard)
}

// courseWith is courseOf with a machine and a workload of one's own.
func courseWith(t *testing.T, a *arch.Arch, config emu.Config, workload string) *course {
	t.Helper()
	data, err := tiny.Kernel(a.Name)
	if err != nil {
		t.Fatal(err)
	}
	img, err := kernel.New(bytes.NewReader(data), int64(len(data)), "tiny")
	if err != nil {
		t.Fatal(err)
	}
	c := &course{reg: probes.NewRegistry()}
	config.Memory, config.Console = 16<<20, func(b byte) { c.console.WriteByte(b) }
	if c.Machine, err = emu.New(a, config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.Boot(emu.Boot{Kernel: bytes.NewReader(data), CommandLine: workload}); err != nil {
		t.Fatal(err)
	}
	c.until(t, 10_100_000) // the workload has begun
	if c.set, err = patch.New(c, img.Text, probes.SinkFunc(c.fired)); err != nil {
		t.Fatal(err)
	}
	for _, fn := range img.Symtab().Funcs() {
		if fn.Size > 0 && !fn.Label && !fn.Init {
			c.funcs = append(c.funcs, fn)
			c.probe(fn)
		}
	}
	return c
}

func (c *course) fired(f *probes.Firing) {
	if c.fire != nil {
		c.fire(f)
	}
}

func (c *course) probe(fn kernel.Symbol) {
	f := c.set.Func(fn.Addr, int(fn.Size))
	instrs, _ := f.Instrs() // those before what is none
	g := c.reg.Group(provider{c.set}, "vmlinux", fn.Name, fn.Addr)
	for _, in := range instrs {
		if in.Plan.Kind != 0 {
			c.set.Add(f, in)
			c.probes = append(c.probes, g.Numbered(in.Off, fn.Addr+uint64(in.Off)))
		}
	}
}

// provider has the probes of a set.
type provider struct{ *patch.Set }

func (provider) Name() string                                 { return "test" }
func (provider) Provide(probes.Desc) ([]*probes.Probe, error) { return nil, nil }

func (c *course) until(t *testing.T, at uint64) {
	t.Helper()
	c.SetLimit(at)
	if end, err := c.Run(); end != emu.Limit {
		t.Fatalf("end %d, %v, before %d ns; console:\n%s", end, err, at, &c.console)
	}
}

// end runs it to its end.
func (c *course) end(t *testing.T) {
	t.Helper()
	c.SetLimit(emu.Never)
	if end, err := c.Run(); err != nil || !strings.Contains(c.console.String(), "\ndone\n") {
		t.Fatalf("end %d, %v; console:\n%s", end, err, &c.console)
	}
}

// finish is end, and returns all there is to be compared.
func (c *course) finish(t *testing.T, j *emu.Journal) *History {
	t.Helper()
	c.end(t)
	return c.history(t, j)
}

// history is all there is to be compared of a guest that has come to its end.
func (c *course) history(t *testing.T, j *emu.Journal) *History {
	t.Helper()
	if err := errors.Join(c.reg.Disable(c.enabled()), c.set.Err()); err != nil {
		t.Fatal(err)
	}
	h := &History{Clock: c.Now(), Output: slices.Clone(c.console.Bytes()), Hits: c.set.Total()}
	var err, herr error
	h.Events, err = j.Close()
	h.State, herr = c.StateHash()
	if err := errors.Join(err, herr); err != nil {
		t.Fatal(err)
	}
	return h
}

func (c *course) enabled() (list []*probes.Probe) {
	for _, p := range c.probes {
		if c.reg.Enabled(p) > 0 {
			list = append(list, p)
		}
	}
	return list
}

// some picks probes among n that lie side by side: some that are not enabled, some that are.
func (c *course) some(r *rand.Rand, n int) (on, off []*probes.Probe) {
	from := r.IntN(len(c.probes))
	for _, p := range c.probes[from:min(from+n, len(c.probes))] {
		switch {
		case r.IntN(3) == 0:
		case c.reg.Enabled(p) > 0:
			off = append(off, p)
		default:
			on = append(on, p)
		}
	}
	return on, off
}

// compare reports where two histories part.
func compare(t *testing.T, without, with *History) {
	t.Helper()
	f := NewFootprint("tiny", without, with, func(pc uint64) string { return fmt.Sprintf("%#x", pc) })
	if len(f.Differences) > 0 {
		t.Errorf("with %d hits: %+v", with.Hits, f.Differences)
	}
}

// every calls f in the middle of the run, times times: each time gap nanoseconds of the guest's
// after it has returned.
func (c *course) every(gap uint64, times int, f func()) {
	var tick func(arch.CPU)
	tick = func(arch.CPU) {
		f()
		if times--; times > 0 {
			c.OnTick(c.Now()+gap, tick)
		}
	}
	c.OnTick(c.Now(), tick)
}

// run runs a guest to its end, prepared by prepare.
func run(t *testing.T, a *arch.Arch, prepare func(*course)) *History {
	t.Helper()
	c := courseOf(t, a)
	defer c.Close()
	j, err := c.Journal(emu.Never>>1, 0)
	if err != nil {
		t.Fatal(err)
	}
	prepare(c)
	return c.finish(t, j)
}

// A thousand interrupts of the timer, each some instructions further in the guest's course than
// the one before, come at the same instants and addresses with a probe in every instruction, those
// of the handler too, as without, and the guest computes the same.
func TestInterruptedEverywhere(t *testing.T) {
	const want, times, gap, tick = 1000, 1300, 1009, 11e6 // ns; with interrupts off some ticks become one
	var taken uint64
	interrupt := func(c *course) {
		c.every(gap, times, func() {
			taken = c.Counters().Interrupts
			c.Chill(tick)
		})
	}
	for _, a := range arch.All {
		t.Run(a.Name, func(t *testing.T) {
			without := run(t, a, interrupt)
			if taken < want {
				t.Errorf("%d interrupts were taken", taken)
			}
			compare(t, without, run(t, a, func(c *course) {
				if err := c.reg.Enable(c.probes); err != nil {
					t.Fatal(err)
				}
				interrupt(c)
			}))
		})
	}
}

// Thousands of probes come and go while the guest runs, and it does not notice.
func TestComeAndGo(t *testing.T) {
	for _, a := range arch.All {
		t.Run(a.Name, func(t *testing.T) {
			const gap, times = 5000, 100
			without := run(t, a, func(c *course) { c.every(gap, times, func() {}) })
			r, changes := rand.New(rand.NewPCG(3, 4)), 0
			with := run(t, a, func(c *course) {
				c.every(gap, times, func() {
					on, off := c.some(r, 500)
					if err := errors.Join(c.reg.Disable(off), c.reg.Enable(on)); err != nil {
						t.Error(err)
					}
					changes += len(on) + len(off)
				})
			})
			if changes < 10000 || with.Hits < 1000 {
				t.Errorf("%d changes, %d hits", changes, with.Hits)
			}
			compare(t, without, with)
		})
	}
}

// Breakpoints change while instructions repeat themselves in their trampolines: each is hit once, as
// the emulator's hook has it.
func TestChangeInRepeated(t *testing.T) {
	hits := func(config emu.Config) map[uint64]uint64 {
		c := courseWith(t, arch.AMD64, config, hard)
		defer c.Close()
		if err := c.reg.Enable(c.probes); err != nil {
			t.Fatal(err)
		}
		at := 0
		c.every(100, 2000, func() {
			some := c.probes[at : at+10]
			at = (at + 10) % (len(c.probes) - 10)
			if err := errors.Join(c.reg.Disable(some), c.reg.Enable(some)); err != nil {
				t.Error(err)
			}
		})
		c.end(t)
		all := map[uint64]uint64{}
		for _, p := range c.probes {
			all[p.Key] = c.set.Hits(p.Key)
		}
		return all
	}
	if diff := cmp.Diff(hits(emu.Config{Hooked: true}), hits(emu.Config{})); diff != "" {
		t.Errorf("by hook and by breakpoints:\n%s", diff)
	}
}

// In tiny there are instructions of one byte side by side, and instructions over the end of a
// page: with a probe in every one, both kinds are hit.
func TestHardPlaces(t *testing.T) {
	for _, a := range arch.All {
		t.Run(a.Name, func(t *testing.T) {
			var c *course
			run(t, a, func(with *course) {
				c = with
				if err := c.reg.Enable(c.probes); err != nil {
					t.Fatal(err)
				}
			})
			got := map[string]bool{}
			for i, p := range c.probes[:len(c.probes)-1] {
				next := c.probes[i+1].Key
				if c.set.Hits(p.Key) == 0 {
					continue
				}
				got["adjacent"] = got["adjacent"] || next == p.Key+uint64(a.MinInstr) && c.set.Hits(next) > 0
				got["over the end of a page"] = got["over the end of a page"] || next-p.Key <= uint64(a.MaxInstr) && (next-1)&^0xfff > p.Key
			}
			want := map[string]bool{"adjacent": true, "over the end of a page": a.MinInstr < a.MaxInstr}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
