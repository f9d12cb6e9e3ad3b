package patch

import (
	"cmp"
	"fmt"
	"slices"

	"trapline/probes"
	"trapline/trampoline"
)

// changes collects changes of the target, to make them in bulk and in the order of addresses.
type changes struct {
	set    *Set
	breaks []probes.Break
	clear  []uint64
	code   []slotCode
	freed  []*point
	err    error
}

// changes returns an empty collection with room for about n changes.
func (s *Set) changes(n int) *changes {
	return &changes{
		set: s, breaks: make([]probes.Break, 0, n), clear: make([]uint64, 0, n),
		code: make([]slotCode, 0, n), freed: make([]*point, 0, n),
	}
}

// reset empties c after a commit and keeps its memory.
func (c *changes) reset() {
	c.breaks, c.clear, c.code, c.freed = c.breaks[:0], c.clear[:0], c.code[:0], c.freed[:0]
}

// len returns the number of breakpoints to clear or of slots to free, whichever is larger.
func (c *changes) len() int { return max(len(c.clear), len(c.freed)) }

// plant sets p's breakpoint, and fills its slot if its plan needs one.
func (c *changes) plant(p *point) {
	if c.err != nil {
		return
	}
	b := probes.Break{Addr: p.addr(), Len: p.plan.Len, Guest: p.plan.Kind == trampoline.Guest}
	if p.plan.InSlot() && c.set.shared == nil {
		var ok bool
		if b.Slot, ok = c.fill(p); !ok {
			return
		}
	}
	b.Do = c.set.isa.Do(p.plan, p.fn.text[p.off:], p.addr())
	p.state = planted
	c.breaks = append(c.breaks, b)
}

// fill writes the trampoline of p into its slot. If the trampoline cannot reach what the instruction
// refers to, as may happen while the guest is still writing the text, fill suspends p.
func (c *changes) fill(p *point) (addr uint64, ok bool) {
	s := c.set
	if p.slot == 0 {
		if p.slot, c.err = s.slots.alloc(); c.err != nil {
			return 0, false
		}
	}
	addr = s.slots.addr(p.slot)
	code, err := s.isa.Encode(p.plan, p.fn.text[p.off:], p.addr(), addr)
	if err != nil {
		c.suspend(p, far)
		return 0, false
	}
	c.code = append(c.code, slotCode{p.slot, code})
	return addr, true
}

// suspend takes p's breakpoint away while the state why lasts.
func (c *changes) suspend(p *point, why state) {
	if p.state == planted {
		c.set.fireEach(p)
		c.clear = append(c.clear, p.addr())
	}
	if p.state != why && p.probe != nil {
		c.set.lost++
	}
	p.state = why
}

// removeUnwanted takes away breakpoint and slot of a point without a probe. A point without an
// instruction in the text keeps that state for the next probe.
func (c *changes) removeUnwanted(p *point) {
	if p.probe != nil {
		return
	}
	if p.state != unaligned && p.state != refused {
		c.suspend(p, idle)
	}
	if p.slot != 0 {
		c.freed = append(c.freed, p)
	}
}

// commit makes the changes. It fills a slot before a breakpoint leads to it, and empties it after.
func (c *changes) commit() error {
	s := c.set
	if c.err != nil {
		return c.err
	}
	slices.Sort(c.clear)
	slices.SortFunc(c.breaks, func(a, b probes.Break) int { return cmp.Compare(a.Addr, b.Addr) })
	if err := s.slots.write(c.code); err != nil {
		return err
	}
	if len(c.clear) > 0 {
		if err := s.target.ClearBreaks(c.clear); err != nil {
			return fmt.Errorf("remove breakpoints: %w", err)
		}
	}
	if len(c.breaks) > 0 {
		if err := s.target.SetBreaks(c.breaks); err != nil {
			return fmt.Errorf("plant breakpoints: %w", err)
		}
	}
	return c.release()
}

// release empties the slots of freed points and returns them to the allocator.
func (c *changes) release() error {
	c.code = c.code[:0]
	for _, p := range c.freed {
		c.code = append(c.code, slotCode{slot: p.slot})
		c.set.slots.release(p.slot)
		p.slot = 0
	}
	return c.set.slots.write(c.code)
}
