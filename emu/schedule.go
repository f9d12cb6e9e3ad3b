package emu

import (
	"trapline/emu/internal/unicorn"
	"trapline/kernel/arch"
)

// Never is a virtual time that does not come.
const Never = unicorn.Never

// schedule is what is due on the clock besides the events of devices: one tick of the
// tracer, one for each CPU, the limit of the run, and a checkpoint of the journal. None is seen by the guest.
type schedule struct {
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

func (s *schedule) reset() { *s = schedule{tickAt: Never, limit: Never, checkAt: Never} }

// next is the earliest of all events for the CPU that runs.
func (m *Machine) next() uint64 {
	s := &m.schedule
	at := min(m.platform.Next(), s.tickAt, s.limit, s.checkAt)
	for i, t := range s.each {
		if m.ticksHere(m.cpus[i]) {
			at = min(at, t.at)
		}
	}
	return at
}

// ticksHere reports whether the ticks of c come by the clock of the CPU that runs: its own, and
// those of CPUs whose clocks stand still.
func (m *Machine) ticksHere(c *cpu) bool { return c.Engine == m.engine || c.idle || c.off }

// OnTick asks for one call of f at the first instant not before the virtual time at at
// which the guest could take an interrupt. Another call replaces it; Never cancels it.
func (m *Machine) OnTick(at uint64, f func(arch.CPU)) {
	m.schedule.tickAt, m.schedule.tick = at, f
	m.reschedule()
}

// OnCPUTick is OnTick for one CPU, and its own clock; while that stands still, for the CPU waits or
// is off, by that of one that runs. f is told whether it is off.
func (m *Machine) OnCPUTick(cpu int, at uint64, f func(c arch.CPU, off bool)) {
	for len(m.schedule.each) < len(m.cpus) {
		m.schedule.each = append(m.schedule.each, cpuTick{at: Never})
	}
	m.schedule.each[cpu] = cpuTick{at, f}
	m.reschedule()
}

// Chill lets time pass for the guest while its CPU stands still: what is due meanwhile
// comes late. Only in a callback.
func (m *Machine) Chill(ns uint64) { m.engine.Chill(ns) }

// due carries out what is due at the present time.
func (m *Machine) due() {
	now := m.engine.Clock()
	if m.platform.Next() <= now {
		m.platform.Poll()
	}
	m.ticks(now)
	if m.schedule.checkAt <= now {
		m.schedule.checkAt = m.schedule.check(now)
	}
	if m.schedule.limit <= now {
		m.limited = true
		m.engine.Stop()
	}
	m.reschedule()
}

// ticks carries out the ticks that are due.
func (m *Machine) ticks(now uint64) {
	for m.schedule.tickAt <= now {
		f := m.schedule.tick
		m.schedule.tickAt, m.schedule.tick = Never, nil
		f(m.engine)
	}
	m.tickEach(now)
}

// tickEach carries out the ticks of CPUs that are due. Each is called for its own CPU.
func (m *Machine) tickEach(now uint64) {
	if len(m.schedule.each) == 0 {
		return
	}
	m.Now() // no CPU's tick is told an earlier time
	running := m.engine
	for i, c := range m.cpus {
		here := m.ticksHere(c)
		for t := &m.schedule.each[i]; here && t.at <= now; {
			f := t.f
			*t = cpuTick{at: Never}
			m.engine = c.Engine
			f(c, c.off)
			m.engine = running
		}
	}
}

// Pass lets time pass for a guest that has switched itself off: its devices and CPUs stand still,
// and the ticks of OnTick and OnCPUTick come, one after another. It ends with Stopped or Limit, or
// with PowerOff when no tick is to come.
func (m *Machine) Pass() End {
	m.running = true
	defer func() { m.running = false }()
	for _, c := range m.cpus {
		c.idle = true
	}
	for {
		at := m.nextTick()
		switch {
		case m.engine.TakeStop():
			return Stopped
		case m.schedule.limit <= at && m.schedule.limit != Never:
			m.engine.Skip(m.schedule.limit)
			return Limit
		case at == Never:
			return PowerOff
		}
		m.engine.Skip(at)
		m.ticks(at)
	}
}

// nextTick is when the next tick is due.
func (m *Machine) nextTick() uint64 {
	at := m.schedule.tickAt
	for _, t := range m.schedule.each {
		at = min(at, t.at)
	}
	return at
}

// handler is what the engine sees of a machine.
type handler struct{ m *Machine }

func (h handler) Attend() { h.m.due() }

// Idle moves the clock from event to event until one of them raises an interrupt. A
// tick of the tracer does not wake the guest: with no event of a device to come it hangs.
// Where there are several CPUs another may run.
func (h handler) Idle() unicorn.End {
	e, m := h.m.engine, h.m
	if len(m.cpus) > 1 && !m.platform.Awake() {
		m.cpus[e.ID()].idle = true
		return unicorn.Parked
	}
	for !m.platform.Awake() {
		if m.platform.Wake() == Never {
			return unicorn.Hung
		}
		m.skip()
		if e.Stopping() {
			return unicorn.Stopped
		}
	}
	return unicorn.Woken
}

// skip moves the clock of an idle CPU on to the next event.
func (m *Machine) skip() {
	m.engine.Skip(m.next())
	m.due()
}

func (h handler) Ack() int { return h.m.platform.Ack() }

func (h handler) Hit(addr uint64) { h.m.onHit(h.m.engine, addr) }

func (h handler) Deferred(hit *unicorn.DeferredHit) {
	h.m.late = hit
	h.m.onLate(hit, hit.Addr)
	h.m.late = nil
}

func (h handler) Rewrite(va uint64) {
	h.m.rewriting = true
	h.m.onRewrite(va)
	h.m.rewriting = false
}

func (h handler) In(port uint16, size int) uint32 {
	v := h.m.platform.In(port, size)
	h.m.reschedule()
	return v
}

func (h handler) Out(port uint16, size int, value uint32) {
	h.m.platform.Out(port, size, value)
	h.m.reschedule()
}

func (h handler) Load(pa uint64, size int) uint64 {
	v := h.m.platform.Load(pa, size)
	h.m.reschedule()
	return v
}

func (h handler) Store(pa uint64, size int, value uint64) {
	h.m.platform.Store(pa, size, value)
	h.m.reschedule()
}

func (h handler) Call() {
	h.m.platform.Call()
	h.m.reschedule()
}

func (h handler) ReadSystem(reg uint32) uint64 { return h.m.platform.ReadSystem(reg) }

func (h handler) WriteSystem(reg uint32, value uint64) {
	h.m.platform.WriteSystem(reg, value)
	h.m.reschedule()
}

// reschedule follows a change of a device's next event.
func (m *Machine) reschedule() { m.engine.SetDeadline(m.next()) }
