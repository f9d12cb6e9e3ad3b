package device

import (
	"io"
	"math/bits"
)

// A GIC is an Arm generic interrupt controller of version 2 for up to eight CPUs (ARM IHI
// 0048B), without the security extensions: a distributor, and an interface for each CPU. Its
// registers are in gicv2_regs.go.
//
//	SPIs 32..287 --------targets--> distributor --highest priority--> CPU interface --> IRQ
//	PPIs 16..31 of the CPU ---------^  ^                               |        |
//	SGIs 0..15, by SGIR of any CPU ----'                               '-- IAR, EOIR
type GIC struct {
	cpus    []*gicCPU
	targets [gicIRQs]uint8 // of SPIs: a bit for each CPU
}

// A gicCPU is what each CPU has of the controller. SPIs and GICD_CTLR are not banked: they are
// in the registers of the first.
type gicCPU struct {
	irq Line
	gicRegs
	senders [gicPPIs]uint8 // of pending SGIs: a bit for each CPU
}

// gicIRQs is the number of interrupts, QEMU's virt machine has as many.
const (
	gicIRQs  = 288
	gicWords = gicIRQs / 32
	gicNone  = 1023 // spurious
	gicPPIs  = 16   // the first of them
	gicSPIs  = 32
)

type gicSet [gicWords]uint32

type gicRegs struct {
	Ctlr     uint32 // GICD_CTLR
	CPUCtlr  uint32 // GICC_CTLR
	Mask     uint8  // GICC_PMR
	Binary   uint8  // GICC_BPR
	Enabled  gicSet
	Latched  gicSet // pending, by an edge or by software
	Lines    gicSet // levels of the inputs
	Active   gicSet
	Running  gicSet // acknowledged, priority not dropped
	Edge     gicSet // edge triggered
	Priority [gicIRQs]uint8
}

// NewGIC makes a controller that drives the IRQ lines of CPUs, one to eight of them.
func NewGIC(irqs ...Line) *GIC {
	g := &GIC{}
	for _, irq := range irqs {
		c := &gicCPU{irq: irq}
		c.Edge[0] = 0xffff // SGIs
		c.Enabled[0] = 0xffff
		g.cpus = append(g.cpus, c)
	}
	for n := range g.targets {
		g.targets[n] = 1
	}
	return g
}

// SPI is shared interrupt n, 0 to 255, for a device to drive.
func (g *GIC) SPI(n int) Line { return gicLine{g, 0, gicSPIs + n} }

// PPI is private interrupt n, 0 to 15, for a device of a CPU to drive.
func (g *GIC) PPI(cpu, n int) Line { return gicLine{g, cpu, gicPPIs + n} }

// PPIEnabled reports whether private interrupt n of a CPU could be signalled.
func (g *GIC) PPIEnabled(cpu, n int) bool {
	return g.cpus[cpu].Enabled.has(gicPPIs+n) && g.enabled(cpu)
}

// enabled: interrupts are forwarded to a CPU at all.
func (g *GIC) enabled(cpu int) bool { return g.cpus[0].Ctlr&g.cpus[cpu].CPUCtlr&1 != 0 }

type gicLine struct {
	g      *GIC
	cpu, n int
}

func (l gicLine) Set(high bool) {
	r := l.g.of(l.cpu, l.n)
	if high && !r.Lines.has(l.n) && r.Edge.has(l.n) {
		r.Latched.set(l.n, true)
	}
	r.Lines.set(l.n, high)
	l.g.update()
}

func (s *gicSet) has(n int) bool     { return s[n/32]>>(n%32)&1 != 0 }
func (s *gicSet) set(n int, to bool) { set(s[:], n, to) }

// bank is the registers that have a word of the sets, as a CPU sees it.
func (g *GIC) bank(cpu, word int) *gicRegs {
	if word == 0 {
		return &g.cpus[cpu].gicRegs
	}
	return &g.cpus[0].gicRegs
}

// of is the registers that have interrupt n.
func (g *GIC) of(cpu, n int) *gicRegs { return g.bank(cpu, n/32) }

func (r *gicRegs) pending(word int) uint32 { return r.Latched[word] | r.Lines[word]&^r.Edge[word] }

// deliverable are the interrupts of a word that a CPU could be given.
func (g *GIC) deliverable(cpu, word int) uint32 {
	r := g.bank(cpu, word)
	d := r.pending(word) & r.Enabled[word] &^ r.Active[word]
	if word == 0 {
		return d
	}
	for m := d; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros32(m); g.targets[word*32+i]>>cpu&1 == 0 {
			d &^= 1 << i
		}
	}
	return d
}

func (g *GIC) runningPriority(cpu int) uint8 {
	p := uint8(0xff)
	for w, m := range g.cpus[cpu].Running {
		for ; m != 0; m &= m - 1 {
			p = min(p, g.bank(cpu, w).Priority[w*32+bits.TrailingZeros32(m)])
		}
	}
	return p
}

// best is the interrupt that a CPU is to take next, the one with the lowest priority number, or
// gicNone.
func (g *GIC) best(cpu int) int {
	if !g.enabled(cpu) {
		return gicNone
	}
	best, priority := gicNone, min(g.cpus[cpu].Mask, g.runningPriority(cpu))
	for w := range gicWords {
		for m := g.deliverable(cpu, w); m != 0; m &= m - 1 {
			n := w*32 + bits.TrailingZeros32(m)
			if p := g.bank(cpu, w).Priority[n]; p < priority {
				best, priority = n, p
			}
		}
	}
	return best
}

func (g *GIC) update() {
	for i, c := range g.cpus {
		c.irq.Set(g.best(i) != gicNone)
	}
}

// ack has a CPU take its best interrupt. What it reads has the sender of an SGI above the number.
func (g *GIC) ack(cpu int) uint32 {
	n := g.best(cpu)
	if n == gicNone {
		return gicNone
	}
	c, r, from := g.cpus[cpu], g.of(cpu, n), 0
	if n < gicPPIs {
		from = bits.TrailingZeros8(c.senders[n])
		c.senders[n] &^= 1 << from
	}
	r.Latched.set(n, n < gicPPIs && c.senders[n] != 0)
	r.Active.set(n, true)
	c.Running.set(n, true)
	g.update()
	return uint32(n | from<<10)
}

// signal has an SGI pending on each CPU of a set, from one of them.
func (g *GIC) signal(from int, to uint8, n int) {
	for i, c := range g.cpus {
		if to>>i&1 != 0 {
			c.senders[n] |= 1 << from
			c.Latched.set(n, true)
		}
	}
}

// all is the set of all CPUs.
func (g *GIC) all() uint8 { return uint8(1<<len(g.cpus) - 1) }

// states are the registers, and what several CPUs have besides.
func (g *GIC) states() (s []any) {
	for _, c := range g.cpus {
		s = append(s, &c.gicRegs)
	}
	if len(g.cpus) > 1 {
		s = append(s, &g.targets)
		for _, c := range g.cpus {
			s = append(s, &c.senders)
		}
	}
	return s
}

// Save writes the state of the controller.
func (g *GIC) Save(w io.Writer) error {
	for _, s := range g.states() {
		if err := save(w, "GIC", s); err != nil {
			return err
		}
	}
	return nil
}

// Parse reads what Save wrote.
func (g *GIC) Parse(r io.Reader, _ uint64) (set func(), err error) {
	var irqs []Line
	for _, c := range g.cpus {
		irqs = append(irqs, c.irq)
	}
	read := NewGIC(irqs...)
	for _, s := range read.states() {
		if err := load(r, "GIC", s); err != nil {
			return nil, err
		}
	}
	if len(g.cpus) == 1 {
		read.cpus[0].senders = read.cpus[0].onlySender()
	}
	if !read.sound() {
		return nil, unsound("GIC")
	}
	return func() { *g = *read; g.update() }, nil
}

// sound: registers have no other bits than can be written, SGIs are pending where they have a
// sender, and CPUs that are not there neither send nor receive.
func (g *GIC) sound() bool {
	var cpus uint8
	for _, to := range g.targets {
		cpus |= to
	}
	for _, c := range g.cpus {
		for n, from := range c.senders {
			if cpus |= from; (from != 0) != c.Latched.has(n) {
				return false
			}
		}
		if c.Ctlr > 1 || c.CPUCtlr&^(1|giccSplitEnd) != 0 || c.Mask&7 != 0 || c.Binary > 7 || c.Lines[0]&(1<<gicPPIs-1) != 0 {
			return false
		}
	}
	return cpus&^g.all() == 0
}

// onlySender is the senders where there is one CPU, which is in no state.
func (r *gicRegs) onlySender() (senders [gicPPIs]uint8) {
	for n := range senders {
		senders[n] = uint8(r.Latched[0] >> n & 1)
	}
	return senders
}
