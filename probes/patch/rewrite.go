package patch

import (
	"bytes"
	"fmt"

	"trapline/trampoline"
)

// rewrite is the target's notice that the guest has changed the page at addr.
func (s *Set) rewrite(addr uint64) {
	pg := s.pages[addr/s.pageSize]
	if pg == nil {
		return
	}
	s.Fail(s.refresh(pg.funcs))
}

// refresh decodes functions again whose text has changed, and adjusts their points.
func (s *Set) refresh(funcs []*Func) error {
	c := &changes{set: s}
	for _, f := range funcs {
		text, err := f.read()
		if err != nil {
			return err
		}
		if !bytes.Equal(text, f.text) {
			c.adjust(f, text)
			c.changed = append(c.changed, f)
		}
	}
	if err := c.commit(); err != nil {
		return err
	}
	for _, f := range c.changed {
		if f.onChange != nil {
			f.onChange()
		}
	}
	return nil
}

// adjust gives f a new text.
func (c *changes) adjust(f *Func, text []byte) {
	if f.points == 0 {
		f.text = text
		return
	}
	at := 0 // up to here, points were dealt with
	old := f.text
	c.steps = c.steps[:0]
	f.walk(text, func(off, n int) bool {
		c.steps = append(c.steps, [2]int{off, n})
		return true
	})
	f.text = text
	for _, step := range c.steps {
		off, n := step[0], step[1]
		c.unalign(f, at, off)
		at = off + 1
		if p := c.set.pointIn(f, off); p != nil && (p.state == unaligned || !same(old, text, off, n)) {
			c.replan(p, n)
		}
	}
	c.unalign(f, at, len(text))
}

// pointIn finds f's own point at an offset.
func (s *Set) pointIn(f *Func, off int) *point {
	if p := s.point(f.Start + uint64(off)); p != nil && p.fn == f {
		return p
	}
	return nil
}

// unalign suspends the points from offset lo up to hi, which begin no instruction.
func (c *changes) unalign(f *Func, lo, hi int) {
	for off := lo; off < hi; off++ {
		if p := c.set.pointIn(f, off); p != nil && p.state != unaligned {
			c.suspend(p, unaligned)
		}
	}
}

// replan looks at the n bytes of p's instruction as they are now.
func (c *changes) replan(p *point, n int) {
	code := p.fn.text[p.off : int(p.off)+n]
	c.set.hasten(p)
	p.plan = c.set.isa.Plan(code, p.addr())
	switch {
	case p.plan.Kind == trampoline.Refuse:
		c.suspend(p, refused)
	case p.probe != nil:
		c.plant(p)
	default:
		p.state = idle
	}
}

// Suspended is how many enabled points have no breakpoint at the moment, and how often
// one was suspended since the start.
func (s *Set) Suspended() (now, times int) {
	s.each(func(p *point) {
		if p.probe != nil && p.state != planted {
			now++
		}
	})
	return now, s.lost
}

// Report lists the enabled probes that are suspended, with the reason, by address.
func (s *Set) Report() []string {
	var out []string
	s.each(func(p *point) {
		if p.probe == nil || p.state == planted {
			return
		}
		out = append(out, fmt.Sprintf("%v is suspended: %s", p.probe.Desc(), p.why()))
	})
	return out
}

// why says why p is suspended.
func (p *point) why() string {
	switch p.state {
	case refused:
		return p.plan.Reason()
	case far:
		return "its trampoline does not reach what it refers to"
	}
	return "the guest rewrote its text, and no instruction begins there"
}
