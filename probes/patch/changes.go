package patch

import (
	"cmp"
	"fmt"
	"slices"

	"trapline/probes"
	"trapline/trampoline"
)

// changes collects what is to be done to the target, so that this happens in bulk and in
// the order of addresses.
type changes struct {
	set    *Set
	breaks []probes.Break
	clear  []uint64
	code   []slotCode
	freed  []*point
	err    error
}

// changes makes room for about n of them.
func (s *Set) changes(n int) *changes {
	return &changes{
		set: s, breaks: make([]probes.Break, 0, n), clear: make([]uint64, 0, n),
		code: make([]slotCode, 0, n), freed: make([]*point, 0, n),
	}
}

// reset forgets what has been carried out, and keeps the room.
func (c *changes) reset() {
	c.breaks, c.clear, c.code, c.freed = c.breaks[:0], c.clear[:0], c.code[:0], c.freed[:0]
}

// len is how many breakpoints or slots have been collected to be taken away, whichever are more.
func (c *changes) len() int { return max(len(c.clear), len(c.freed)) }

// plant puts p's instruction into its slot and its breakpoint into the text.
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

// fill writes the trampoline of p. When it cannot reach what the instruction refers to,
// which happens with text that is half written, p is suspended.
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

// suspend takes p's breakpoint away for as long as why holds.
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

// removeUnwanted takes breakpoint and slot of a point without a probe away for good. Where the text
// has no instruction for it that is so for the next probe, too.
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

// commit carries the changes out: a slot is filled before a breakpoint leads to it, and
// emptied after.
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

// release gives the slots of the points that are freed back, and empties them.
func (c *changes) release() error {
	c.code = c.code[:0]
	for _, p := range c.freed {
		c.code = append(c.code, slotCode{slot: p.slot})
		c.set.slots.release(p.slot)
		p.slot = 0
	}
	return c.set.slots.write(c.code)
}
