package emu

import "trapline/emu/internal/unicorn"

// handler is what the engine sees of a machine.
type handler struct{ m *Machine }

func (h handler) Deadline() { h.m.due() }

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

func (h handler) Ack() int { return h.m.platform.Ack() }

func (h handler) Hit(addr uint64) { h.m.onHit(h.m.engine, addr) }

func (h handler) Deferred(hit *unicorn.DeferredHit) {
	h.m.deferred = hit
	h.m.onDeferred(hit, hit.Addr)
	h.m.deferred = nil
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
