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
	var changed []rewritten
	for _, f := range funcs {
		text, err := f.read()
		if err != nil {
			return err
		}
		if !bytes.Equal(text, f.text) {
			changed = append(changed, rewritten{f: f, text: text})
		}
	}
	c := &changes{set: s}
	inOrder(changed, rewritten.decode, c.adjust)
	if err := c.commit(); err != nil {
		return err
	}
	for _, x := range changed {
		if x.f.onChange != nil {
			x.f.onChange()
		}
	}
	return nil
}

// A rewritten is a function whose text has changed.
type rewritten struct {
	f       *Func
	text    []byte
	lengths []uint8 // of its instructions; none if it has no points
}

// decode finds the lengths.
func (x rewritten) decode() rewritten {
	if x.f.points > 0 {
		_ = x.f.walk(x.text, func(_, n int) bool { // what comes behind the last is not aligned
			x.lengths = append(x.lengths, uint8(n))
			return true
		})
	}
	return x
}

// adjust gives a function its new text.
func (c *changes) adjust(x rewritten) {
	f, old := x.f, x.f.text
	f.text = x.text
	if f.points == 0 {
		return
	}
	off := 0
	for _, n := range x.lengths {
		if p := c.set.pointIn(f, off); p != nil && (p.state == unaligned || !same(old, f.text, off, int(n))) {
			c.replan(p, int(n))
		}
		c.unalign(f, off+1, off+int(n))
		off += int(n)
	}
	c.unalign(f, off, len(f.text))
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
	c.set.undefer(p)
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
