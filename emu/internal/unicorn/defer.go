package unicorn

/*
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"math"
	"unsafe"

	"trapline/kernel/arch"
)

// A DeferredHit is a hit that is delivered later: a CPU with the registers that were asked for, as
// they were. It is valid during the call of Handler.Deferred.
type DeferredHit struct {
	Addr uint64 // of the breakpoint
	Now  uint64 // its virtual time

	cpu    int
	pc     arch.Reg
	want   *want
	values []uint64
}

// A want is what is kept of hits: registers, by their places among the values.
type want struct{ place [math.MaxUint8 + 1]uint8 } // 1 + index of the value, 0 for none

// ID is the number of the CPU.
func (h *DeferredHit) ID() int { return h.cpu }

// Reg is a register as it was. It panics for one that was not asked for: what it would be by
// now is not what it was.
func (h *DeferredHit) Reg(r arch.Reg) uint64 {
	if i := h.want.place[r]; i != 0 {
		return h.values[i-1]
	}
	if r == h.pc {
		return h.Addr
	}
	panic(fmt.Sprintf("unicorn: register %d was not kept of the hit at 0x%x", r, h.Addr))
}

// SetReg does nothing: the instruction has been executed.
func (*DeferredHit) SetReg(arch.Reg, uint64) {}

// deferral is what a machine knows of deferred hits, besides the C side.
type deferral struct {
	wants []*want // by number
	hit   DeferredHit
}

// A Word is a word of the state of a CPU, or of guest memory, and which of its bits count.
type Word struct {
	At   *uint64
	Mask uint64
}

// DeferHits makes Handler.Deferred deliver hits of the breakpoint at addr from now on, with regs,
// soon after they happened and before the handler is called for anything else. With memo only
// while what Remember was given holds for the CPU; any other hit is delivered by Hit. It is false, and Hit
// it is, where there is no breakpoint, for a register that is not kept as a word, for too many
// registers, and with SetHooked.
func (e *Engine) DeferHits(addr uint64, regs []arch.Reg, memo bool) bool {
	var w C.struct_tl_want
	if len(regs) > len(w.at) {
		return false
	}
	out := new(want)
	for i, r := range regs {
		at, mask := e.place(r)
		if at == nil || mask != math.MaxUint64 {
			return false
		}
		w.at[i] = C.uint32_t(uintptr(unsafe.Pointer(at)) - uintptr(e.c.env))
		out.place[r] = uint8(i + 1)
	}
	w.n = C.uint16_t(len(regs))
	if memo {
		w.memo = 1
	}
	n := int(C.tl_defer_hits(e.c, C.uint64_t(addr), &w))
	if n == len(e.deferral.wants) {
		e.deferral.wants = append(e.deferral.wants, out)
	}
	return n >= 0
}

// UndeferHits ends that: Hit is called again.
func (e *Engine) UndeferHits(addr uint64) { C.tl_defer_hits(e.c, C.uint64_t(addr), nil) }

// Remember takes the words that the tracer has just read on this CPU. A hit with memo is deferred
// while they are the same. With nil words, or too many, none is.
func (e *Engine) Remember(words []Word) {
	memo := &e.c.memo
	memo.known = len(words) > 0 && len(words) <= len(memo.words)
	memo.n = 0
	if !memo.known {
		return
	}
	for i, w := range words {
		memo.words[i] = C.struct_tl_word{at: (*C.uint64_t)(w.At), mask: C.uint64_t(w.Mask), value: C.uint64_t(*w.At)}
	}
	memo.n = C.uint(len(words))
}

// Remembered reports whether there are such words, and all are what they were.
func (e *Engine) Remembered() bool {
	memo := &e.c.memo
	for i := range memo.words[:memo.n] {
		if w := &memo.words[i]; (*w.at^w.value)&w.mask != 0 {
			return false
		}
	}
	return bool(memo.known)
}

// Place is where a register is kept, and which bits of the word are it: of the flags the mode
// alone. It is nil for a register that is not kept as a word.
func (e *Engine) Place(r arch.Reg) (at *uint64, mask uint64) { return e.place(r) }

// Mode is the word that says in which mode the CPU is: what other registers are depends on it.
func (e *Engine) Mode() Word {
	at, mask := e.mode()
	return Word{at, mask}
}

// deliver calls the handler for all hits that wait.
func (e *Engine) deliver() {
	m, d := &e.c.m.deferrals, e.deferral
	words := unsafe.Slice((*uint64)(m.words), m.nwords)
	m.nwords = 0
	h := &d.hit
	h.cpu, h.pc = e.ID(), e.arch.PC
	for len(words) > 0 {
		number := words[2]
		n := C.TL_DEFERRED_HEAD + int(unsafe.Slice(m.wants, m.nwants)[number].n)
		h.Addr, h.Now, h.want, h.values = words[0], words[1], d.wants[number], words[C.TL_DEFERRED_HEAD:n]
		e.handler.Deferred(h)
		words = words[n:]
	}
}
