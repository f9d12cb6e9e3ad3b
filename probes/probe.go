// Package probes is the probe model: descriptions, the registry, and what a provider is.
// It sees the guest through Target and never imports the emulator.
//
//	Desc --Registry.Match--> Provider.Provide makes probes on demand
//	     --Registry.Enable--> Provider.Enable, in bulk
//	guest reaches one --> the provider hands a Firing to its Sink
//
// Providers are packages beside this one: kinst, profile. They never print and know
// nothing of D.
package probes

import "strconv"

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
	// Deferred: it is told later than it happened (Deferrer).
	Deferred bool
}

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
