package unicorn

/*
#include "stepper.h"
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// StepWindow is the number of bytes of memory that stepped instructions have at Stepper.Window.
const StepWindow = C.TL_STEP_WINDOW

// A Stepper executes single instructions of an engine, each from a state of its own, and takes
// back what they have done. While there is one the engine's Handler hears of the devices
// that instructions reach.
type Stepper struct {
	e       *Engine
	place   *C.struct_tl_outcome // the last one in place
	away    *C.struct_tl_outcome // and displaced
	ignored []span
}

// A span is a part of the CPU state.
type span struct{ from, to int }

// NewStepper makes a stepper. The engine can run by itself no more, but after what is done Aside.
func (e *Engine) NewStepper() (*Stepper, error) {
	if !C.tl_step_open(e.c) {
		return nil, errors.New("stepping: no memory for it")
	}
	s := &Stepper{e: e, place: C.tl_outcome_new(e.c), away: C.tl_outcome_new(e.c)}
	for _, n := range e.c.m.t.unequal {
		s.ignored = append(s.ignored, span{int(n.from), int(n.to)})
	}
	if s.place == nil || s.away == nil {
		s.Close()
		return nil, errors.New("stepping: no memory for it")
	}
	return s, nil
}

// Close frees what the stepper has. It comes before the engine's.
func (s *Stepper) Close() {
	C.tl_outcome_free(s.place)
	C.tl_outcome_free(s.away)
	s.place, s.away = nil, nil
}

// Window is the virtual address of memory that only stepped instructions see, StepWindow
// bytes. The pages around it are not there.
func (s *Stepper) Window() (addr uint64, memory []byte) {
	m := s.e.c.m
	at := m.slots.size - C.TL_PAGE - C.TL_STEP_WINDOW
	return uint64(m.slots.base + at), unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(m.aux), uint64(at))), StepWindow)
}

// Aside calls f, and puts the engine back into the state in which it was before: a run goes on as if
// nothing had been stepped.
func (s *Stepper) Aside(f func()) error {
	a := C.tl_step_begin(s.e.c)
	if a == nil {
		return errors.New("stepping: no memory for the state")
	}
	defer C.tl_step_end(s.e.c, a)
	f()
	return nil
}

// State copies the CPU as it is.
func (s *Stepper) State() []byte { return bytes.Clone(s.env(s.e.c.env)) }

// SetState makes b, which State has returned, the CPU's state.
func (s *Stepper) SetState(b []byte) { copy(s.env(s.e.c.env), b) }

func (s *Stepper) env(p unsafe.Pointer) []byte {
	return unsafe.Slice((*byte)(p), s.e.c.step.env_size)
}

// How an instruction is stepped.
type How struct {
	Displaced bool // by its breakpoint, which is there; otherwise in place
	Interrupt bool // an interrupt stands
}

// Step executes the instruction at which the CPU in state stands.
func (s *Stepper) Step(state []byte, how How) *Outcome {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	o := s.place
	if how.Displaced {
		o = s.away
	}
	C.tl_step(s.e.c, (*C.uint8_t)(&state[0]), C.bool(how.Displaced), C.bool(how.Interrupt), o)
	return &Outcome{s, o}
}

// An Outcome is what has come of the last step in place, or of the last one displaced.
type Outcome struct {
	s *Stepper
	o *C.struct_tl_outcome
}

// Next is the address at which the guest goes on.
func (o *Outcome) Next() uint64 { return uint64(o.o.pc) }

// Exceptions is how many exceptions were delivered.
func (o *Outcome) Exceptions() uint64 { return uint64(o.o.exceptions) }

// CPU is the state of the CPU after it.
func (o *Outcome) CPU() []byte { return o.s.env(unsafe.Pointer(o.o.env)) }

// Stepped reports whether there is a next instruction, and otherwise how the run ended.
func (o *Outcome) Stepped() (bool, End) { return o.o.end == C.TL_STEPPED, End(o.o.end) }

// pages are those that may have been stored to.
func (o *Outcome) pages() []C.struct_tl_step_page { return unsafe.Slice(o.o.pages, o.o.npages) }

func (o *Outcome) page(host *C.uint8_t) *C.struct_tl_step_page {
	pages := o.pages()
	for i := range pages {
		if pages[i].host == host {
			return &pages[i]
		}
	}
	return nil
}

func content(p *[C.TL_PAGE]C.uint8_t) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&p[0])), len(p))
}

// Differ says in words in what two outcomes differ, "" if in nothing. Of the CPU it compares
// all that the library keeps, byte by byte.
func (o *Outcome) Differ(p *Outcome) string {
	a, b := o.o, p.o
	switch {
	case bool(a.overflow) || bool(b.overflow):
		return "it stores to more pages than can be kept"
	case a.end != b.end || a.error != b.error:
		return fmt.Sprintf("the run ends: %d/%d, %d/%d", a.end, a.error, b.end, b.error)
	case a.pc != b.pc:
		return fmt.Sprintf("next instruction: %#x, %#x", uint64(a.pc), uint64(b.pc))
	case a.exceptions != b.exceptions || a.interrupts != b.interrupts:
		return fmt.Sprintf("exceptions and interrupts: %d and %d, %d and %d", a.exceptions, a.interrupts, b.exceptions, b.interrupts)
	case a.clock != b.clock:
		return fmt.Sprintf("clock: %d, %d", int64(a.clock), int64(b.clock))
	}
	if at := o.s.differ(o.CPU(), p.CPU()); at >= 0 {
		return fmt.Sprintf("CPU state at %d: %x, %x", at&^7, o.CPU()[at&^7:at&^7+8], p.CPU()[at&^7:at&^7+8])
	}
	return o.memory(p)
}

// memory compares what was stored.
func (o *Outcome) memory(p *Outcome) string {
	for _, pair := range [][2]*Outcome{{o, p}, {p, o}} {
		pages := pair[0].pages()
		for i := range pages {
			q := pair[1].page(pages[i].host)
			if !pages[i].changed && (q == nil || !q.changed) {
				continue
			}
			other := content(&pages[i].before)
			if q != nil {
				other = content(&q.after)
			}
			if one := content(&pages[i].after); !bytes.Equal(one, other) {
				return fmt.Sprintf("memory: %s", firstDifference(one, other))
			}
		}
	}
	return ""
}

func firstDifference(a, b []byte) string {
	for i := range a {
		if a[i] != b[i] {
			at := i &^ 7
			return fmt.Sprintf("at %#x of a page: %x, %x", at, a[at:at+8], b[at:at+8])
		}
	}
	return ""
}

// differ is the place of the first difference of two states that counts, -1 for none.
func (s *Stepper) differ(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range a {
		if a[i] != b[i] && !s.ignores(i) {
			return i
		}
	}
	return -1
}

func (s *Stepper) ignores(i int) bool {
	for _, p := range s.ignored {
		if i >= p.from && i < p.to {
			return true
		}
	}
	return false
}
