package unicorn

// #include "shim.h"
import "C"

import (
	"fmt"
	"runtime"
	"sync/atomic"
)

// End says why a run ended.
type End int

// Ends of a run.
const (
	Stopped End = C.TL_STOPPED // Stop was called
	Halted  End = C.TL_HALTED  // halted with interrupts off
	Hung    End = C.TL_HUNG    // idle with no event to come
	Triple  End = C.TL_TRIPLE  // triple fault
	Failed  End = C.TL_FAILED  // the library gave up
	Sliced  End = C.TL_SLICED  // the slice is over
	Parked  End = C.TL_PARKED  // this CPU stands still, by Idle or by Park

	// Woken does not end a run: Idle returns it when there is an interrupt.
	Woken End = C.TL_RUNNING
)

// Run runs the guest from where it is until something ends the run.
func (e *Engine) Run() (End, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var why *C.char
	e.running = true
	end := End(C.tl_run(e.c, &why))
	e.deliver()
	e.running = false
	if why != nil {
		return end, fmt.Errorf("emulating at 0x%x: %s", uint64(*e.c.pc), C.GoString(why))
	}
	return end, nil
}

// Running reports whether a run is under way: in a callback, true.
func (e *Engine) Running() bool { return e.running }

// Stop ends a run at the next instant an interrupt could be taken. It may be called from
// any goroutine, and from a Handler; with no run under way it ends the next one.
func (e *Engine) Stop() {
	e.stopping.Lock()
	defer e.stopping.Unlock()
	if e.c != nil {
		C.tl_stop(e.c.m)
	}
}

// StopHere is called by Hit, and ends the run in front of the instruction. The next run begins
// with it: its breakpoint has to be gone by then.
func (e *Engine) StopHere() { C.tl_stop_here(&e.c.clock) }

// Stopping reports whether Stop was called during this run.
func (e *Engine) Stopping() bool { return atomic.LoadUint32((*uint32)(&e.c.m.stop)) != 0 }

// TakeStop reports that too, and takes Stop back: the run has ended without an engine.
func (e *Engine) TakeStop() bool {
	return atomic.SwapUint32((*uint32)(&e.c.m.stop), 0) != 0
}

// Park ends the run with Parked when the Call under way has returned.
func (e *Engine) Park() { e.c.run.park = true }
