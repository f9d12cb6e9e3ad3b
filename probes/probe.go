// Package probes is the probe model: descriptions, the registry, and what a provider is.
// It sees the guest through Target and never imports the emulator.
//
//	Desc --Registry.Match--> Provider.Provide makes probes on demand
//	     --Registry.Enable--> Provider.Enable, in bulk
//	guest reaches one --> the provider hands a Firing to its Sink
//
// The way of one hit, from the breakpoint to a line of output:
//
//	Target         the guest fetches a breakpoint: OnHit(cpu, addr)
//	patch.hit      the point at addr, and a Firing with the handle of this hit
//	Selector       where not each hit counts, the provider says whether the probe fires
//	Sink.Fire      the trace: does this probe fire now, on this CPU?
//	vm.Fire        its clauses, in program order; what they ask of the guest is read from Target
//	Hit            the trace asks of the handle that further hits be counted or delivered later
//	buffer         a record for each clause that leaves one; aggregations change at once
//	consume        a buffer is full or it is time: take counted hits, read records, print them
//	Target         Fire returns, the handle is void; the displaced instruction runs
//
// A hit that was to be delivered later begins at OnDeferred, with the registers of its time and no
// handle; hits that were counted come as one FireTimes when somebody is about to read counts.
//
// Providers are packages beside this one: kinst, profile. They never print and know
// nothing of D.
package probes

import (
	"strconv"

	"trapline/kernel/arch"
)

// ID is the number of a probe: from 1, in the order in which probes are made.
type ID uint32

// A Probe is one place that can fire. There may be millions, so what the probes of one
// function have in common is in their Group.
type Probe struct {
	group *Group
	// Key is the provider's own: the address of an instruction, an interval.
	Key    uint64
	id     ID
	number uint32 // the name in decimal, or an index into group.names
}

// ID is the probe's number.
func (p *Probe) ID() ID { return p.id }

// Group is what the probe shares with others.
func (p *Probe) Group() *Group { return p.group }

// Desc is the full name of the probe.
func (p *Probe) Desc() Desc {
	return Desc{p.group.provider.Name(), p.group.module, p.group.function, p.Name()}
}

// Provider is the name of the probe's provider.
func (p *Probe) Provider() string { return p.group.provider.Name() }

// Module is the name of the kernel module the probe is in, or empty.
func (p *Probe) Module() string { return p.group.module }

// Function is the name of the function the probe is in, or empty.
func (p *Probe) Function() string { return p.group.function }

// Name is the last part of the probe's name.
func (p *Probe) Name() string {
	if p.group.names != nil {
		return p.group.names[p.number]
	}
	return strconv.Itoa(int(p.number)) + p.group.suffix
}

// Number is the name of a probe of Group.Number as a number: for kinst the offset in
// the function.
func (p *Probe) Number() int { return int(p.number) }

// A Firing is one firing of a probe. It is valid until the Sink returns.
type Firing struct {
	Probe *Probe
	CPU   CPU        // nil when no CPU is concerned: BEGIN, END
	Args  [10]uint64 // arg0 to arg9
	// Hit is the hit of the breakpoint, nil where there is none: BEGIN, a timer, a firing that is
	// delivered late.
	Hit Hit
	// Deferred: it is delivered later than it happened (Deferrer).
	Deferred bool
}

// A Hit is the hit of a breakpoint while its probe fires. By it the Sink says how further hits
// of the breakpoint come to it. It is void when the Sink returns. Where several probes are at
// one place, each of them fires at once at each hit, whatever is asked for.
type Hit interface {
	// Count makes the target count further hits, if it can and each is a firing. They come
	// together, to a CountSink.
	Count()
	// Deferral is what has become of Defer and NeverDefer at this place.
	Deferral() Deferral
	// Defer makes the target deliver further hits late, if it can: with the registers regs, as
	// they were. memo is that of Deferrer.DeferHits.
	Defer(regs []arch.Reg, memo bool)
	// NeverDefer settles that further hits are delivered at once.
	NeverDefer()
}

// Deferral says when further hits of a breakpoint are delivered.
type Deferral uint8

// Deferrals.
const (
	Untried   Deferral = iota // at once; nobody has asked for another way
	Deferring                 // late, but for those whose memo has changed
	Immediate                 // at once
)

// A Sink takes firings, one at a time. It does not keep f.
type Sink interface {
	Fire(f *Firing)
}

// A CountSink is a Sink that takes the firings of a probe together, when it has asked for
// that: n of them since the last.
type CountSink interface {
	Sink
	FireTimes(p *Probe, n uint64)
}

// SinkFunc makes a function a Sink.
type SinkFunc func(f *Firing)

// Fire calls the function.
func (s SinkFunc) Fire(f *Firing) { s(f) }
