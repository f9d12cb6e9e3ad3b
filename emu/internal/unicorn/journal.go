package unicorn

/*
#include "shim.h"
*/
import "C"

import (
	"errors"
	"unsafe"
)

// JournalBlock is the number of events that have a sum together.
const JournalBlock = C.TL_JOURNAL_BLOCK

// An EventKind says what came to a guest.
type EventKind uint64

// Kinds of events.
const (
	Syscall   EventKind = C.TL_SYSCALL
	Exception EventKind = C.TL_EXCEPTION
	Interrupt EventKind = C.TL_INTERRUPT
)

// String is the kind in words.
func (k EventKind) String() string {
	return [...]string{"system call", "exception", "interrupt"}[k]
}

// An Event is what comes to a guest besides its instructions.
type Event struct {
	Clock  uint64 // virtual nanoseconds, before the handler
	PC     uint64 // where the guest is to go on, or what faulted there
	Number uint64 // of the system call, of the exception or of the interrupt
	Kind   EventKind
}

// OpenJournal begins a journal in place of the one there may be. The events of block keep
// are kept; Never keeps none.
func (e *Engine) OpenJournal(keep uint64) error {
	if !C.tl_journal_open(e.c.m, C.uint64_t(keep)) {
		return errors.New("out of memory for the journal")
	}
	return nil
}

// A Journal is what a journal has so far.
type Journal struct {
	Events uint64
	Sums   []uint64 // of all events to the end of each block, and to the last event
	Kept   []Event  // those of the block that is kept
}

// Journal copies the journal, which must have been opened.
func (e *Engine) Journal() Journal {
	j := e.c.m.journal
	sums := unsafe.Slice((*uint64)(j.sums), C.tl_journal_blocks(j))
	out := Journal{Events: uint64(j.n), Sums: append([]uint64(nil), sums...)}
	if keep := uint64(j.keep); keep < uint64(len(sums)) {
		n := min(out.Events-keep*JournalBlock, JournalBlock)
		for _, v := range j.kept[:n] {
			out.Kept = append(out.Kept, Event{uint64(v.clock), uint64(v.pc), uint64(v.number), EventKind(v.kind)})
		}
	}
	return out
}
