package emu

import (
	"trapline/emu/internal/unicorn"
	"trapline/kernel/arch"
)

// Never is a virtual time that does not come.
const Never = unicorn.Never

// schedule is what is due on the clock besides the events of devices: one tick of the
// tracer, one for each CPU, the limit of the run, and a checkpoint of the journal. The guest sees
// none of them. Its methods are the machine's.
type schedule struct {
	m       *Machine
	tickAt  uint64
	tick    func(arch.CPU)
	each    []cpuTick // by CPU; empty without any
	limit   uint64
	checkAt uint64
	check   func(now uint64) (next uint64)
}

// A cpuTick is one of a CPU.
type cpuTick struct {
	at uint64
	f  func(cpu arch.CPU, off bool)
}

// next is the earliest of all events for the CPU that runs.
func (s *schedule) next() uint64 {
	at := min(s.m.platform.Next(), s.tickAt, s.limit, s.checkAt)
	for i, t := range s.each {
		if s.ticksHere(s.m.cpus[i]) {
			at = min(at, t.at)
		}
	}
	return at
}

// ticksHere reports whether the ticks of c come by the clock of the CPU that runs: its own, and
// those of CPUs whose clocks stand still.
func (s *schedule) ticksHere(c *cpu) bool { return c.Engine == s.m.engine || c.idle || c.off }

// OnTick asks for one call of f at the first instant not before the virtual time at at
// which the guest could take an interrupt. Another call replaces it; Never cancels it.
func (s *schedule) OnTick(at uint64, f func(arch.CPU)) {
	s.tickAt, s.tick = at, f
	s.reschedule()
}

// OnCPUTick is OnTick for one CPU, and its own clock; while that stands still, for the CPU waits or
// is off, by that of one that runs. off reports whether it is off.
func (s *schedule) OnCPUTick(cpu int, at uint64, f func(c arch.CPU, off bool)) {
	for len(s.each) < len(s.m.cpus) {
		s.each = append(s.each, cpuTick{at: Never})
	}
	s.each[cpu] = cpuTick{at, f}
	s.reschedule()
}

// Chill lets time pass for the guest while its CPU stands still: what is due meanwhile
// comes late. Only in a callback.
func (s *schedule) Chill(ns uint64) { s.m.engine.Chill(ns) }

// due carries out what is due at the present time.
func (s *schedule) due() {
	now := s.m.engine.Clock()
	if s.m.platform.Next() <= now {
		s.m.platform.Poll()
	}
	s.ticks(now)
	if s.checkAt <= now {
		s.checkAt = s.check(now)
	}
	if s.limit <= now {
		s.m.limited = true
		s.m.engine.Stop()
	}
	s.reschedule()
}

// ticks carries out the ticks that are due.
func (s *schedule) ticks(now uint64) {
	for s.tickAt <= now {
		f := s.tick
		s.tickAt, s.tick = Never, nil
		f(s.m.engine)
	}
	s.tickEach(now)
}

// tickEach carries out the ticks of CPUs that are due. Each is called for its own CPU.
func (s *schedule) tickEach(now uint64) {
	if len(s.each) == 0 {
		return
	}
	s.m.Now() // no CPU's tick sees an earlier time
	running := s.m.engine
	for i, c := range s.m.cpus {
		here := s.ticksHere(c)
		for t := &s.each[i]; here && t.at <= now; {
			f := t.f
			*t = cpuTick{at: Never}
			s.m.engine = c.Engine
			f(c, c.off)
			s.m.engine = running
		}
	}
}

// Pass lets time pass for a guest that has switched itself off: its devices and CPUs stand still,
// and the ticks of OnTick and OnCPUTick come, one after another. It ends with Stopped or Limit, or
// with PowerOff when no tick is to come.
func (s *schedule) Pass() End {
	s.m.running = true
	defer func() { s.m.running = false }()
	for _, c := range s.m.cpus {
		c.idle = true
	}
	for {
		at := s.nextTick()
		switch {
		case s.m.engine.TakeStop():
			return Stopped
		case s.limit <= at && s.limit != Never:
			s.m.engine.Skip(s.limit)
			return Limit
		case at == Never:
			return PowerOff
		}
		s.m.engine.Skip(at)
		s.ticks(at)
	}
}

// nextTick is when the next tick is due.
func (s *schedule) nextTick() uint64 {
	at := s.tickAt
	for _, t := range s.each {
		at = min(at, t.at)
	}
	return at
}

// skip moves the clock of an idle CPU on to the next event.
func (s *schedule) skip() {
	s.m.engine.Skip(s.next())
	s.due()
}

// reschedule follows a change of a device's next event.
func (s *schedule) reschedule() { s.m.engine.SetDeadline(s.next()) }

// SetLimit ends a run with Limit at a virtual time in nanoseconds; Never for none.
func (s *schedule) SetLimit(at uint64) { s.limit = at }
