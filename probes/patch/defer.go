package patch

import (
	"trapline/kernel/arch"
	"trapline/probes"
)

// Deferral says when hits of a point are told.
type Deferral uint8

// Deferrals.
const (
	Untried   Deferral = iota // at once, but later may do: DeferHits
	Deferring                 // later, if the target can
	Immediate                 // at once
)

// Deferral is called while p fires: that of the point whose hit it is. Where other probes are at
// the same place it is Immediate.
func (s *Set) Deferral(p *probes.Probe) Deferral {
	at := s.point(s.at)
	if at == nil || at.probe != p || at.counting || len(s.more[s.at]) > 0 {
		return Immediate
	}
	return at.deferral
}

// Immediate makes it that.
func (s *Set) Immediate(p *probes.Probe) Deferral {
	if at := s.point(s.at); at != nil && at.probe == p {
		at.deferral = Immediate
	}
	return Immediate
}

// DeferHits is called while p fires and is Untried. It has the target tell hits of this breakpoint
// later from now on, where it can: their firings, of which Deferred is set, have the CPU's registers
// regs. memo is as probes.Deferrer has it.
func (s *Set) DeferHits(p *probes.Probe, regs []arch.Reg, memo bool) {
	at := s.point(s.at)
	if at == nil || at.probe != p {
		return
	}
	at.deferral = Immediate
	if d, can := s.target.(probes.Deferrer); can && s.shared == nil && d.DeferHits(s.at, regs, memo) {
		at.deferral = Deferring
	}
}

// deferred fires the probe at addr for a hit that is told later. There is one.
func (s *Set) deferred(cpu probes.CPU, addr uint64) {
	p := s.point(addr)
	p.hits++
	s.late.CPU, s.late.Deferred = cpu, true
	s.fire(&s.late, p.probe)
}

// tell has each hit of p told, and at once, from now on. The target has told those it has deferred.
func (s *Set) tell(p *point) {
	s.take(p)
	s.hasten(p)
}

// hasten has hits of p told at once that are told at all.
func (s *Set) hasten(p *point) {
	if p.deferral == Deferring {
		s.target.(probes.Deferrer).TellHits(p.addr())
	}
	p.deferral = Untried
}
