package listing

import (
	"bytes"

	"trapline/insn"
	"trapline/kernel/arch"
	"trapline/probes"
)

// A Counter counts firings of the probes on a listing's rows, and the branches taken.
type Counter struct {
	rows map[uint64]*counted
}

type counted struct {
	*Row
	of   *Listing
	flow insn.Flow
}

// NewCounter makes a counter of the rows of listings.
func NewCounter(all []*Listing) *Counter {
	c := &Counter{map[uint64]*counted{}}
	for _, l := range all {
		for i := range l.Rows {
			c.rows[l.Addr+uint64(l.Rows[i].Off)] = &counted{Row: &l.Rows[i], of: l}
		}
	}
	return c
}

// Planted describes what has been planted at the address of a row, and what is in its slot.
func (c *Counter) Planted(b probes.Break, slot []byte) {
	r := c.rows[b.Addr]
	if r == nil {
		return
	}
	r.Slot, r.Counted = r.of.trampoline(slot, b.Slot), true
	r.flow = r.of.isa.Flow(r.Code, b.Addr)
	r.Branch = r.flow.Way == insn.Branch
}

// trampoline is what is in a slot, up to the first of its filling: on some architectures that
// is the second breakpoint.
func (l *Listing) trampoline(slot []byte, addr uint64) (all []Inst) {
	fill := l.isa.Fill
	for bytes.HasSuffix(slot, append(fill[:len(fill):len(fill)], fill...)) {
		slot = slot[:len(slot)-len(fill)]
	}
	for len(slot) > 0 {
		n, err := l.isa.Length(slot)
		if err != nil {
			n = len(slot)
		}
		all = append(all, Inst{slot[:n], l.isa.Text(slot, addr, l.name)})
		slot, addr = slot[n:], addr+uint64(n)
	}
	return all
}

// Fire counts.
func (c *Counter) Fire(f *probes.Firing) {
	r := c.rows[f.Probe.Key]
	if r == nil {
		return
	}
	r.Hits++
	if r.Branch && r.taken(f.CPU) {
		r.Taken++
	}
}

// taken reports whether a branch with these registers leaves straight code. Its condition is in
// registers alone.
func (r *counted) taken(regs arch.Regs) bool {
	to, ok := r.flow.Next(regs, nil)
	return ok && to != r.of.Addr+uint64(r.Off+len(r.Code))
}
