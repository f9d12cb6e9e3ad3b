package emu

import (
	"crypto/sha256"
	"fmt"

	"trapline/emu/internal/unicorn"
)

// JournalBlock is the number of events of a journal that have a sum together.
const JournalBlock = unicorn.JournalBlock

// Types of the journal.
type (
	// An Event is a system call, an exception or an interrupt.
	Event = unicorn.Event
	// Events is what a journal has of them: sums of all, and one block of JournalBlock.
	Events = unicorn.Journal
)

// A Checkpoint is the memory and the devices of a guest at an instant.
type Checkpoint struct {
	At   uint64 // virtual nanoseconds
	Hash [sha256.Size]byte
}

// A Journal is the history of a guest: what came to it and when, and checkpoints. The guest
// sees nothing of it.
type Journal struct {
	m           *Machine
	every       uint64
	Checkpoints []Checkpoint
	// OnCheckpoint is called after each, with its index, if it is not nil.
	OnCheckpoint func(i int)
	err          error
}

// Journal begins one, with a checkpoint every so many virtual nanoseconds, at the first
// instant at which the guest could take an interrupt, and one when it is closed. The events of block keep are kept;
// Never keeps none. Only between runs.
func (m *Machine) Journal(every, keep uint64) (*Journal, error) {
	if err := m.engine.OpenJournal(keep); err != nil {
		return nil, err
	}
	j := &Journal{m: m, every: every}
	m.checkAt, m.check = m.Now()+every, j.check
	return j, nil
}

// Close makes the last checkpoint, after the run, and returns the events.
func (j *Journal) Close() (Events, error) {
	j.m.checkAt = Never
	j.check(j.m.Now())
	return j.m.engine.Journal(), j.err
}

// check makes a checkpoint. The CPU is left out: in the middle of a run the library has not
// written back all of it.
func (j *Journal) check(now uint64) (next uint64) {
	h := sha256.New()
	j.m.hashRAM(h)
	if err := j.m.platform.Save(h); err != nil {
		j.err = fmt.Errorf("hashing the devices: %w", err)
	}
	j.Checkpoints = append(j.Checkpoints, Checkpoint{now, [sha256.Size]byte(h.Sum(nil))})
	if j.OnCheckpoint != nil {
		j.OnCheckpoint(len(j.Checkpoints) - 1)
	}
	return now + j.every
}

// RAM copies the guest's memory. Offset 0 is at the physical address base.
func (m *Machine) RAM() (base uint64, ram []byte) {
	return m.engine.RAMBase(), append([]byte(nil), m.engine.RAM()...)
}
