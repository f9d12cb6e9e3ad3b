package trampoline

import (
	"container/heap"
	"errors"
	"fmt"
	"math/bits"
)

// SlotPage is the number of bytes of a page of slots.
const SlotPage = 4096

// ErrNoSlot means that every slot is taken.
var ErrNoSlot = errors.New("no free trampoline slot")

// Slots hands out the slots of a range of guest addresses. The lowest free slot goes
// first, so the same requests in the same order always get the same slots.
type Slots struct {
	// OnPage, if not nil, is called with the address of a page before the first of its
	// slots is handed out, and again when that happens after all of them were freed:
	// the owner backs it with memory full of ISA.Fill. Whoever frees a slot fills it.
	OnPage func(page uint64)

	base, slotSize uint64
	max            int        // pages in the range
	pages          []slotPage // those used so far
	room           pageHeap   // of them, those with a free slot, lowest on top
	used           int
}

// slotPage is the account of one page.
type slotPage struct {
	free []uint64 // a set bit for each free slot
	used int      // slots handed out
}

// NewSlots returns an account of the slots in [base, base+size), all free. base and size
// are multiples of SlotPage, slotSize divides it.
func NewSlots(base, size uint64, slotSize int) *Slots {
	if base%SlotPage != 0 || size%SlotPage != 0 || slotSize <= 0 || SlotPage%slotSize != 0 {
		panic(fmt.Sprintf("trampoline: slots of %d bytes in %#x+%#x", slotSize, base, size))
	}
	return &Slots{base: base, slotSize: uint64(slotSize), max: int(size / SlotPage)}
}

// Alloc returns the address of the lowest free slot, or ErrNoSlot.
func (s *Slots) Alloc() (uint64, error) {
	if len(s.room) == 0 {
		if len(s.pages) == s.max {
			return 0, fmt.Errorf("%w: all %d in use", ErrNoSlot, s.used)
		}
		heap.Push(&s.room, len(s.pages))
		s.pages = append(s.pages, s.newPage())
	}
	n := s.room[0]
	p := &s.pages[n]
	page := s.base + uint64(n)*SlotPage
	if p.used == 0 && s.OnPage != nil {
		s.OnPage(page)
	}
	slot := p.take()
	s.used++
	if p.used == s.perPage() {
		heap.Pop(&s.room)
	}
	return page + uint64(slot)*s.slotSize, nil
}

// Free takes back a slot that Alloc has returned; freeing another address is a mistake of
// the program's and panics.
func (s *Slots) Free(addr uint64) {
	off := addr - s.base
	n, slot := off/SlotPage, off%SlotPage/s.slotSize
	if n >= uint64(len(s.pages)) || off%s.slotSize != 0 || s.pages[n].isFree(slot) {
		panic(fmt.Sprintf("trampoline: free of %#x, which is not a slot in use", addr))
	}
	p := &s.pages[n]
	if p.used == s.perPage() {
		heap.Push(&s.room, int(n))
	}
	p.free[slot/64] |= 1 << (slot % 64)
	p.used--
	s.used--
}

// Used returns the number of slots handed out.
func (s *Slots) Used() int { return s.used }

func (s *Slots) perPage() int { return SlotPage / int(s.slotSize) }

func (s *Slots) newPage() slotPage {
	n := s.perPage()
	p := slotPage{free: make([]uint64, (n+63)/64)}
	for i := range n {
		p.free[i/64] |= 1 << (i % 64)
	}
	return p
}

// take hands out the lowest free slot of a page that has one.
func (p *slotPage) take() int {
	for i, w := range p.free {
		if w != 0 {
			p.free[i] = w & (w - 1)
			p.used++
			return i*64 + bits.TrailingZeros64(w)
		}
	}
	panic("trampoline: no free slot in a page that has one")
}

func (p *slotPage) isFree(slot uint64) bool { return p.free[slot/64]>>(slot%64)&1 == 1 }

// pageHeap is a heap of page numbers, for container/heap.
type pageHeap []int

func (h pageHeap) Len() int           { return len(h) }
func (h pageHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h pageHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *pageHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *pageHeap) Pop() any {
	old := *h
	n := len(old) - 1
	x := old[n]
	*h = old[:n]
	return x
}
