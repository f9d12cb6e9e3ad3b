package emu

import (
	"trapline/emu/internal/unicorn"
	"trapline/kernel/arch"
)

// Never is a virtual time that does not come.
const Never = unicorn.Never

// schedule is what is due on the clock besides the events of devices: one tick of the
// tracer, the limit of the run, and a checkpoint of the journal. None is seen by the guest.
type schedule struct {
	tickAt  uint64
	tick    func(arch.CPU)
	limit   uint64
	checkAt uint64
	check   func(now uint64) (next uint64)
}

func (s *schedule) reset() { *s = schedule{tickAt: Never, limit: Never, checkAt: Never} }

// next is the earliest of all events.
func (s *schedule) next(device uint64) uint64 { return min(device, s.tickAt, s.limit, s.checkAt) }

// OnTick asks for one call of f at the first instant not before the virtual time at at
// which the guest could take an interrupt. Another call replaces it; Never cancels it.
func (m *Machine) OnTick(at uint64, f func(arch.CPU)) {
	m.schedule.tickAt, m.schedule.tick = at, f
	m.engine.SetDeadline(m.schedule.next(m.platform.Next()))
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
	for m.schedule.tickAt <= now {
		f := m.schedule.tick
		m.schedule.tickAt, m.schedule.tick = Never, nil
		f(m.engine)
	}
	if m.schedule.checkAt <= now {
		m.schedule.checkAt = m.schedule.check(now)
	}
	if m.schedule.limit <= now {
		m.limited = true
		m.engine.Stop()
	}
	m.engine.SetDeadline(m.schedule.next(m.platform.Next()))
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
	m.engine.Skip(m.schedule.next(m.platform.Next()))
	m.due()
}

func (h handler) Ack() int { return h.m.platform.Ack() }

func (h handler) Hit(addr uint64) { h.m.onHit(h.m.engine, addr) }

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
func (m *Machine) reschedule() { m.engine.SetDeadline(m.schedule.next(m.platform.Next())) }
