package unicorn

// #include "shim.h"
import "C"

import "sync/atomic"

// Never is a deadline that does not come.
const Never = ^uint64(0)

// SetSlice ends the run with Sliced at the first instant not before the time at at which an
// interrupt could be taken; Never for not at all.
func (e *Engine) SetSlice(at uint64) {
	e.c.clock.slice = C.uint64_t(at)
	e.lowerDue(at)
}

// Split allows interrupts, and the end of a slice, at every instruction in [lo, hi). None of it may
// have been translated: call it before the first run, or after Flush. It reports false if there are
// too many such ranges.
func (e *Engine) Split(lo, hi uint64) bool {
	return bool(C.tl_split(e.c.m, C.uint64_t(lo), C.uint64_t(hi)))
}

// Seen is the latest time that a CPU of the guest has read. None reads an earlier one.
func (e *Engine) Seen() uint64 { return uint64(e.c.m.time.seen) }

// SetSeen sets it.
func (e *Engine) SetSeen(at uint64) { e.c.m.time.seen = C.uint64_t(at) }

// Clock is the exact virtual time in nanoseconds: of the callback under way, or of the
// end of the last run.
func (e *Engine) Clock() uint64 { return uint64(e.c.clock.now) }

// Total is the clock at the end of the instruction executed last.
func (e *Engine) Total() uint64 { return uint64(e.c.clock.ns) }

// Skip moves the clock of an idle guest on to a later time.
func (e *Engine) Skip(to uint64) {
	if k := &e.c.clock; uint64(k.ns) < to {
		k.ns = C.uint64_t(to)
		k.now = k.ns
	}
}

// Chill lets ns nanoseconds pass for the guest while its CPU stands still in a callback.
func (e *Engine) Chill(ns uint64) {
	e.c.clock.ns += C.uint64_t(ns)
	e.c.clock.now += C.uint64_t(ns)
}

// SetDeadline sets the time at which Handler.Deadline is called next.
func (e *Engine) SetDeadline(at uint64) {
	e.c.clock.deadline = C.uint64_t(at)
	e.lowerDue(at)
}

// lowerDue lowers the time at which the engine looks around. Stop may do so from another
// thread at the same time, and must not be overwritten: its flag is looked at afterwards, which
// holds on hosts with weak memory too, as all of these are atomic.
func (e *Engine) lowerDue(at uint64) {
	due := (*uint64)(&e.c.clock.due)
	if at >= atomic.LoadUint64(due) {
		return
	}
	atomic.StoreUint64(due, at)
	if e.Stopping() {
		atomic.StoreUint64(due, 0)
	}
}

// SetLine sets the level of the interrupt request.
func (e *Engine) SetLine(high bool) { e.setLine(C.TL_LINE, high) }

// Line is the level of the interrupt request.
func (e *Engine) Line() bool { return e.c.clock.lines&C.TL_LINE != 0 }

func (e *Engine) setLine(which C.uint8_t, high bool) {
	e.c.clock.lines &^= which
	if high {
		e.c.clock.lines |= which
		e.lowerDue(0)
	}
}

// savedClock is the clock as a snapshot has it: its time, and the end of the instruction executed
// last, which is 0 if an interrupt may be taken wherever the guest goes on.
func (e *Engine) savedClock() (ns, end uint64) {
	k := &e.c.clock
	if k.look {
		return uint64(k.ns), 0
	}
	return uint64(k.ns), uint64(k.end)
}

// setClock sets what savedClock has returned, for a CPU that has its program counter.
func (e *Engine) setClock(ns, end uint64) {
	k := &e.c.clock
	k.ns, k.end, k.look = C.uint64_t(ns), C.uint64_t(end), end == 0
	if k.look {
		k.end = *e.c.pc + *e.c.code_base
	}
}
