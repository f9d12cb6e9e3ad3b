package patch

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"trapline/probes"
	"trapline/trampoline"
)

// slots is the target's trampoline area. Slots are numbered from 1, in the order of
// their addresses. Where the area is, a target knows when it knows where its kernel is: it is
// asked when the first slot is taken.
type slots struct {
	target   probes.Target
	isa      *trampoline.ISA
	free     *trampoline.Slots // nil before the first
	base     uint64
	pageSize uint64
	known    map[uint64]bool // pages that have been filled
	empty    []byte          // a free slot
	run      []byte          // what is stored next
}

func newSlots(t probes.Target, isa *trampoline.ISA) *slots {
	return &slots{
		target: t, isa: isa, pageSize: t.Arch().PageSize, known: map[uint64]bool{},
		empty: bytes.Repeat(isa.Fill, isa.SlotSize/len(isa.Fill)),
	}
}

func (s *slots) open() {
	base, size := s.target.Slots()
	s.base, s.free = base, trampoline.NewSlots(base, size, s.isa.SlotSize)
}

func (s *slots) addr(slot uint32) uint64 { return s.base + uint64(slot-1)*uint64(s.isa.SlotSize) }

// alloc takes a slot. A page that is used for the first time is filled, so that a stray
// jump into it stops at once.
func (s *slots) alloc() (uint32, error) {
	if s.free == nil {
		s.open()
	}
	addr, err := s.free.Alloc()
	if err != nil {
		return 0, fmt.Errorf("make room for a trampoline: %w", err)
	}
	if page := addr - addr%s.pageSize; !s.known[page] {
		s.known[page] = true
		s.run = s.filling(s.run[:0], int(s.pageSize)/s.isa.SlotSize)
		if err := s.target.WriteSlots(page, s.run); err != nil {
			return 0, fmt.Errorf("prepare trampolines at %#x: %w", page, err)
		}
	}
	return uint32((addr-s.base)/uint64(s.isa.SlotSize)) + 1, nil
}

// release gives a slot back. What is in it stays until it is written.
func (s *slots) release(slot uint32) { s.free.Free(s.addr(slot)) }

// filling appends n free slots.
func (s *slots) filling(to []byte, n int) []byte {
	for range n {
		to = append(to, s.empty...)
	}
	return to
}

// slotCode is what a slot is to hold, nil for nothing.
type slotCode struct {
	slot uint32
	code []byte
}

// write stores code in slots, neighbours in one go, the rest of each slot filled.
func (s *slots) write(all []slotCode) error {
	bySlot := func(a, b slotCode) int { return cmp.Compare(a.slot, b.slot) }
	if !slices.IsSortedFunc(all, bySlot) {
		slices.SortStableFunc(all, bySlot)
	}
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].slot == all[n-1].slot+1 {
			n++
		}
		s.run = s.filling(s.run[:0], n)
		for i, c := range all[:n] {
			copy(s.run[i*s.isa.SlotSize:(i+1)*s.isa.SlotSize], c.code)
		}
		if err := s.target.WriteSlots(s.addr(all[0].slot), s.run); err != nil {
			return fmt.Errorf("write %d trampolines: %w", n, err)
		}
		all = all[n:]
	}
	return nil
}
