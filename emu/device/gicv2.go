package device

import (
	"io"
	"math/bits"
)

// A GIC is an Arm generic interrupt controller of version 2 for one CPU (ARM IHI 0048B),
// without the security extensions: distributor and CPU interface.
//
//	SPIs 32..287 -----> distributor --highest priority--> CPU interface --> IRQ
//	PPIs 16..31 --------^  ^                               |        |
//	SGIs 0..15 (by SGIR) --'                               '-- IAR, EOIR
type GIC struct {
	irq Line
	gicRegs
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

// NewGIC makes a controller that drives the CPU's IRQ line.
func NewGIC(irq Line) *GIC {
	g := &GIC{irq: irq}
	g.Edge[0] = 0xffff // SGIs
	g.Enabled[0] = 0xffff
	return g
}

// SPI is shared interrupt n, 0 to 255, for a device to drive.
func (g *GIC) SPI(n int) Line { return gicLine{g, gicSPIs + n} }

// PPI is private interrupt n, 0 to 15, for a device of the CPU to drive.
func (g *GIC) PPI(n int) Line { return gicLine{g, gicPPIs + n} }

// Enabled reports whether private interrupt n could be signalled.
func (g *GIC) PPIEnabled(n int) bool {
	return g.Enabled.has(gicPPIs+n) && g.Ctlr&g.CPUCtlr&1 != 0
}

type gicLine struct {
	g *GIC
	n int
}

func (l gicLine) Set(high bool) {
	g := l.g
	if high && !g.Lines.has(l.n) && g.Edge.has(l.n) {
		g.Latched.set(l.n, true)
	}
	g.Lines.set(l.n, high)
	g.update()
}

func (s *gicSet) has(n int) bool        { return s[n/32]>>(n%32)&1 != 0 }
func (s *gicSet) set(n int, to bool)    { set(s[:], n, to) }
func (g *GIC) pending(word int) uint32  { return g.Latched[word] | g.Lines[word]&^g.Edge[word] }
func (g *GIC) deliverable(w int) uint32 { return g.pending(w) & g.Enabled[w] &^ g.Active[w] }
func (g *GIC) runningPriority() (p uint8) {
	return g.lowest(func(w int) uint32 { return g.Running[w] })
}

// lowest is the lowest number, the highest priority, of a set, or 0xff.
func (g *GIC) lowest(set func(word int) uint32) uint8 {
	p := uint8(0xff)
	for w := range gicWords {
		for m := set(w); m != 0; m &= m - 1 {
			p = min(p, g.Priority[w*32+bits.TrailingZeros32(m)])
		}
	}
	return p
}

// best is the interrupt to be taken next, or gicNone.
func (g *GIC) best() int {
	if g.Ctlr&1 == 0 || g.CPUCtlr&1 == 0 {
		return gicNone
	}
	best, priority := gicNone, min(g.Mask, g.runningPriority())
	for w := range gicWords {
		for m := g.deliverable(w); m != 0; m &= m - 1 {
			if n := w*32 + bits.TrailingZeros32(m); g.Priority[n] < priority {
				best, priority = n, g.Priority[n]
			}
		}
	}
	return best
}

func (g *GIC) update() { g.irq.Set(g.best() != gicNone) }

// Registers of the distributor: ranges of one bit, two bits or a byte for each interrupt.
const (
	gicdCtlr, gicdType, gicdIIDR                         = 0x000, 0x004, 0x008
	gicdSetEnable, gicdClearEnable                       = 0x100, 0x180
	gicdSetPending, gicdClearPending                     = 0x200, 0x280
	gicdSetActive, gicdClearActive                       = 0x300, 0x380
	gicdPriority, gicdTargets, gicdConfig, gicdConfigEnd = 0x400, 0x800, 0xc00, 0xd00
	gicdSGI, gicdClearSGI, gicdSetSGI                    = 0xf00, 0xf10, 0xf20
	gicdPeripheralID2                                    = 0xfe8

	gicIIDR = 0x43b // Arm
)

// GICSize is the bytes of the distributor, and of the CPU interface.
const GICSize = 0x10000

// Distributor is the distributor's registers.
func (g *GIC) Distributor() Mem { return gicDistributor{g} }

type gicDistributor struct{ g *GIC }

func (d gicDistributor) Load(offset uint64, size int) uint32 {
	g, word := d.g, int(offset%0x80/4)
	switch {
	case offset == gicdCtlr:
		return g.Ctlr
	case offset == gicdType:
		return gicWords - 1
	case offset == gicdIIDR:
		return gicIIDR
	case offset == gicdPeripheralID2:
		return 2 << 4 // the architecture's version
	case offset >= gicdSetEnable && offset < gicdPriority:
		if word >= gicWords {
			return 0
		}
		return g.loadBits(offset, word)
	case offset >= gicdPriority && offset < gicdTargets:
		return g.loadBytes(offset-gicdPriority, size, func(n int) uint8 { return g.Priority[n] })
	case offset >= gicdTargets && offset < gicdConfig:
		return g.loadBytes(offset-gicdTargets, size, func(int) uint8 { return 1 })
	case offset >= gicdConfig && offset < gicdConfigEnd:
		return g.loadConfig(int(offset-gicdConfig) / 4)
	}
	return 0
}

func (g *GIC) loadBits(offset uint64, word int) uint32 {
	switch {
	case offset < gicdSetPending:
		return g.Enabled[word]
	case offset < gicdSetActive:
		return g.pending(word)
	default:
		return g.Active[word]
	}
}

func (g *GIC) loadBytes(n uint64, size int, of func(n int) uint8) (v uint32) {
	for i := range size {
		if k := int(n) + i; k < gicIRQs {
			v |= uint32(of(k)) << (8 * i)
		}
	}
	return v
}

// loadConfig spreads 16 bits of Edge to the upper bits of 16 pairs.
func (g *GIC) loadConfig(n int) (v uint32) {
	for i := range 16 {
		if k := n*16 + i; k < gicIRQs && g.Edge.has(k) {
			v |= 2 << (2 * i)
		}
	}
	return v
}

func (d gicDistributor) Store(offset uint64, size int, v uint32) {
	g, word := d.g, int(offset%0x80/4)
	switch {
	case offset == gicdCtlr:
		g.Ctlr = v & 1
	case offset >= gicdSetEnable && offset < gicdPriority:
		if word < gicWords {
			g.storeBits(offset, word, v)
		}
	case offset >= gicdPriority && offset < gicdTargets:
		for i := range size {
			if n := int(offset-gicdPriority) + i; n < gicIRQs {
				g.Priority[n] = uint8(v>>(8*i)) & 0xf8 // 32 priorities
			}
		}
	case offset >= gicdConfig+4 && offset < gicdConfigEnd: // that of SGIs is fixed
		g.storeConfig(int(offset-gicdConfig)/4, v)
	case offset == gicdSGI:
		g.sendSGI(v)
	case offset >= gicdClearSGI && offset < gicdSetSGI+16:
		g.storeSGIs(offset, size, v)
	}
	g.update()
}

func (g *GIC) storeBits(offset uint64, word int, v uint32) {
	switch offset &^ 0x7f {
	case gicdSetEnable:
		g.Enabled[word] |= v
	case gicdClearEnable:
		g.Enabled[word] &^= v
	case gicdSetPending:
		g.Latched[word] |= v
	case gicdClearPending:
		g.Latched[word] &^= v
	case gicdSetActive:
		g.Active[word] |= v
	case gicdClearActive:
		g.Active[word] &^= v
	}
}

func (g *GIC) storeConfig(n int, v uint32) {
	for i := range 16 {
		if k := n*16 + i; k < gicIRQs {
			g.Edge.set(k, v>>(2*i)&2 != 0)
		}
	}
}

// sendSGI raises an interrupt of software: to a list of CPUs, to all others, or to itself.
func (g *GIC) sendSGI(v uint32) {
	if filter := v >> 24 & 3; filter == 2 || filter == 0 && v>>16&1 != 0 {
		g.Latched.set(int(v&15), true)
	}
}

// storeSGIs sets or clears pending SGIs: a byte for each, a bit for each sender.
func (g *GIC) storeSGIs(offset uint64, size int, v uint32) {
	for i := range size {
		if v>>(8*i)&1 != 0 {
			g.Latched.set((int(offset)+i)%16, offset >= gicdSetSGI)
		}
	}
}

// Registers of the CPU interface.
const (
	giccCtlr, giccMask, giccBinary, giccAck     = 0x00, 0x04, 0x08, 0x0c
	giccEnd, giccRunning, giccHighest, giccIIDR = 0x10, 0x14, 0x18, 0xfc
	giccDeactivate                              = 0x1000

	giccSplitEnd = 1 << 9 // EOImode: the end of an interrupt does not deactivate it
)

// CPUInterface is the registers of the CPU interface.
func (g *GIC) CPUInterface() Mem { return gicCPU{g} }

type gicCPU struct{ g *GIC }

func (c gicCPU) Load(offset uint64, _ int) uint32 {
	g := c.g
	switch offset {
	case giccCtlr:
		return g.CPUCtlr
	case giccMask:
		return uint32(g.Mask)
	case giccBinary:
		return uint32(g.Binary)
	case giccAck:
		return uint32(g.ack())
	case giccRunning:
		return uint32(g.runningPriority())
	case giccHighest:
		return uint32(g.best())
	case giccIIDR:
		return 2<<16 | gicIIDR
	}
	return 0
}

// ack takes the best interrupt.
func (g *GIC) ack() int {
	n := g.best()
	if n != gicNone {
		g.Latched.set(n, false)
		g.Active.set(n, true)
		g.Running.set(n, true)
		g.update()
	}
	return n
}

func (c gicCPU) Store(offset uint64, _ int, v uint32) {
	g, n := c.g, int(v&0x3ff)
	switch offset {
	case giccCtlr:
		g.CPUCtlr = v & (1 | giccSplitEnd)
	case giccMask:
		g.Mask = uint8(v) & 0xf8
	case giccBinary:
		g.Binary = uint8(v & 7)
	case giccEnd:
		if n < gicIRQs {
			g.Running.set(n, false)
			if g.CPUCtlr&giccSplitEnd == 0 {
				g.Active.set(n, false)
			}
		}
	case giccDeactivate:
		if n < gicIRQs {
			g.Active.set(n, false)
		}
	}
	g.update()
}

// Save writes the state of the controller.
func (g *GIC) Save(w io.Writer) error { return save(w, "GIC", &g.gicRegs) }

// Load reads what Save wrote.
func (g *GIC) Load(r io.Reader) error {
	if err := load(r, "GIC", &g.gicRegs); err != nil {
		return err
	}
	g.update()
	return nil
}
