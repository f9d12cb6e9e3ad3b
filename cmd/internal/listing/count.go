package listing

import (
	"bytes"

	"trapline/kernel/arch"
	"trapline/probes"
)

// A Counter counts firings of the probes on a listing's rows, and the branches taken.
type Counter struct {
	a    *arch.Arch
	rows map[uint64]*counted
}

type counted struct {
	*Row
	of *Listing
	do arch.Emulation
}

// NewCounter makes a counter of the rows of listings.
func NewCounter(a *arch.Arch, all []*Listing) *Counter {
	c := &Counter{a, map[uint64]*counted{}}
	for _, l := range all {
		for i := range l.Rows {
			c.rows[l.Addr+uint64(l.Rows[i].Off)] = &counted{Row: &l.Rows[i], of: l}
		}
	}
	return c
}

// Planted tells what has been planted at the address of a row, and what is in its slot.
func (c *Counter) Planted(b probes.Break, slot []byte) {
	r := c.rows[b.Addr]
	if r == nil {
		return
	}
	r.do, r.Slot, r.Counted = b.Do, r.of.trampoline(slot, b.Slot), true
	r.Branch, _ = c.condition(r, stuck{})
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
	if !r.Branch {
		return
	}
	if _, taken := c.condition(r, f.CPU); taken {
		r.Taken++
	}
}

// conditions tell of an instruction whether it branches on a condition, and whether it does
// so with these registers, on architectures whose machine does not do it itself.
var conditions = map[*arch.Arch]func(code []byte, regs arch.Regs) (branch, taken bool){arch.AMD64: amd64Condition}

func (c *Counter) condition(r *counted, regs arch.Regs) (branch, taken bool) {
	if r.do.Op >= arch.OpIfEQ && r.do.Op <= arch.OpIfFlags {
		pc := &counter{Regs: regs, a: c.a}
		r.do.Run(c.a, len(r.Code), pc)
		return true, pc.at != pc.Reg(c.a.PC)+uint64(len(r.Code))
	}
	if of := conditions[c.a]; of != nil {
		return of(r.Code, regs)
	}
	return false, false
}

// stuck are registers that are all zero.
type stuck struct{}

func (stuck) Reg(arch.Reg) uint64     { return 0 }
func (stuck) SetReg(arch.Reg, uint64) {}

// counter are registers of which only the program counter is written, and to at.
type counter struct {
	arch.Regs
	a  *arch.Arch
	at uint64
}

func (c *counter) SetReg(r arch.Reg, v uint64) {
	if r == c.a.PC {
		c.at = v
	}
}
