// Package profile is the provider of timed probes: tick-N, which fires on one CPU, the one that
// comes to that time first, and profile-N, which fires on each CPU, both on the guest's virtual clock.
//
// N has a unit: ns, us, ms, s, m, h, d (or nsec, usec, msec, sec, min, hour, day), or
// hz. Without one it is hz. A probe fires for the first time one interval after it was
// enabled and from then on at exact multiples of it: it does not drift. Firings that
// are due at one instant come in the order of their times, then of the probes' IDs.
package profile

import (
	"cmp"
	"container/heap"
	"slices"
	"strconv"
	"strings"

	"trapline/kernel/guestos"
	"trapline/probes"
)

// MinInterval is the shortest interval of a probe in nanoseconds. Shorter ones are not
// made.
const MinInterval = 1000

// Provider makes and fires the probes.
type Provider struct {
	target probes.Target
	sink   probes.Sink
	group  *probes.Group
	queue  queue   // of any CPU
	each   []queue // of each, where there are several
	only   int     // -1: all CPUs
	firing probes.Firing
}

// New makes the provider of a target. It takes the target's OnTick for itself.
func New(r *probes.Registry, t probes.Target, sink probes.Sink) *Provider {
	p := &Provider{target: t, sink: sink, only: -1}
	p.group = r.Group(p, "", "", 0)
	if n := t.CPUs(); n > 1 {
		p.each = make([]queue, n)
	}
	return p
}

// Only makes probes that are enabled from now on fire on one CPU alone, tick-N too. It is one that
// the guest has.
func (p *Provider) Only(cpu int) { p.only = cpu }

// Name is "profile".
func (p *Provider) Name() string { return "profile" }

var about = probes.About{Stability: probes.Stability{Name: "Unstable", Data: "Unstable", Class: "Common"}}

// About implements probes.Abouter.
func (p *Provider) About() *probes.About { return &about }

// Hint implements probes.Hinter.
func (p *Provider) Hint(d probes.Desc) string {
	if strings.ContainsAny(d.Name, "0123456789") {
		return ""
	}
	return "profile makes probes when their rate is named, as in profile-997 and tick-1s"
}

// Provide makes the probe that d names, when the name is one. A description with globs
// finds those made before.
func (p *Provider) Provide(d probes.Desc) ([]*probes.Probe, error) {
	named := d.Module == "" && d.Function == ""
	if interval, ok := parse(d.Name); ok && named {
		p.group.Named(d.Name, interval)
	}
	return p.group.Match(d), nil
}

// parse reads "tick-10ms" and gives the interval in nanoseconds.
func parse(name string) (interval uint64, ok bool) {
	kind, rate, found := strings.Cut(name, "-")
	if !found || kind != "tick" && kind != "profile" {
		return 0, false
	}
	digits := len(rate) - len(strings.TrimLeft(rate, "0123456789"))
	n, err := strconv.ParseUint(rate[:digits], 10, 64)
	if err != nil || n == 0 {
		return 0, false
	}
	interval, ok = nanoseconds(n, rate[digits:])
	return interval, ok && interval >= MinInterval
}

var units = map[string]uint64{
	"ns": 1, "nsec": 1, "us": 1e3, "usec": 1e3, "ms": 1e6, "msec": 1e6, "s": 1e9, "sec": 1e9,
	"m": 60e9, "min": 60e9, "h": 3600e9, "hour": 3600e9, "d": 86400e9, "day": 86400e9,
}

func nanoseconds(n uint64, unit string) (uint64, bool) {
	if unit == "" || unit == "hz" {
		return 1e9 / n, true
	}
	u, ok := units[unit]
	if !ok || n > (1<<63)/u {
		return 0, false
	}
	return n * u, true
}

// Enable starts the probes' intervals now.
func (p *Provider) Enable(ps []*probes.Probe) error {
	for _, q := range ps {
		for _, to := range p.queues(q) {
			heap.Push(to, event{at: p.target.Now() + q.Key, interval: q.Key, probe: q})
		}
	}
	p.arm()
	return nil
}

// queues are those that a probe belongs in.
func (p *Provider) queues(q *probes.Probe) (all []*queue) {
	switch {
	case p.each == nil:
		return []*queue{&p.queue}
	case p.only >= 0:
		return []*queue{&p.each[p.only]}
	case strings.HasPrefix(q.Name(), "tick-"):
		return []*queue{&p.queue}
	}
	for cpu := range p.each {
		all = append(all, &p.each[cpu])
	}
	return all
}

// Every calls f at intervals of the guest's clock, in nanoseconds from now on, without a
// probe. Another call takes the place of the one before.
func (p *Provider) Every(interval uint64, f func()) {
	p.queue = slices.DeleteFunc(p.queue, func(e event) bool { return e.probe == nil })
	heap.Init(&p.queue)
	heap.Push(&p.queue, event{at: p.target.Now() + interval, interval: interval, f: f})
	p.arm()
}

// Disable stops the probes.
func (p *Provider) Disable(ps []*probes.Probe) error {
	for _, q := range ps {
		for _, from := range p.queues(q) {
			*from = slices.DeleteFunc(*from, func(e event) bool { return e.probe == q })
			heap.Init(from)
		}
	}
	p.arm()
	return nil
}

func (p *Provider) arm() {
	for cpu := range p.each {
		p.arm64CPU(cpu)
	}
	if len(p.queue) == 0 {
		p.target.OnTick(^uint64(0), nil)
		return
	}
	p.target.OnTick(p.queue[0].at, p.tick)
}

// tick fires everything that is due.
func (p *Provider) tick(cpu probes.CPU) {
	now := p.target.Now()
	for len(p.queue) > 0 && p.queue[0].at <= now {
		due := p.queue[0]
		p.queue[0].at += due.interval
		heap.Fix(&p.queue, 0)
		if due.probe != nil {
			p.fire(due.probe, cpu)
		} else {
			due.f()
		}
	}
	p.arm()
}

func (p *Provider) arm64CPU(cpu int) {
	at := ^uint64(0)
	if len(p.each[cpu]) > 0 {
		at = p.each[cpu][0].at
	}
	p.target.OnCPUTick(cpu, at, func(c probes.CPU, off bool) { p.tickCPU(cpu, at, c, off) })
}

// tickCPU fires what is due at one time on a CPU; on one that is off nothing fires.
func (p *Provider) tickCPU(cpu int, at uint64, c probes.CPU, off bool) {
	q := &p.each[cpu]
	for len(*q) > 0 && (*q)[0].at <= at {
		due := (*q)[0]
		(*q)[0].at += due.interval
		heap.Fix(q, 0)
		if !off {
			p.fire(due.probe, c)
		}
	}
	p.arm64CPU(cpu)
}

// fire gives arg0 the program counter when the kernel was running, arg1 when a process
// was. The other is 0.
func (p *Provider) fire(q *probes.Probe, cpu probes.CPU) {
	p.firing = probes.Firing{Probe: q, CPU: cpu}
	a := p.target.Arch()
	if pc := cpu.Reg(a.PC); guestos.UserMode(a, cpu) {
		p.firing.Args[1] = pc
	} else {
		p.firing.Args[0] = pc
	}
	p.sink.Fire(&p.firing)
}

// A queue is a heap of what comes next, one event for each probe.
type queue []event

type event struct {
	at, interval uint64
	probe        *probes.Probe
	f            func() // without a probe
}

func (e event) id() probes.ID {
	if e.probe == nil {
		return 0
	}
	return e.probe.ID()
}

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *queue) Pop() any     { panic("profile: events leave the queue by Disable") }
func (q queue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].at, q[j].at), cmp.Compare(q[i].id(), q[j].id())) < 0
}
