package device

import (
	"io"
	"math/bits"
)

// A PIC is the pair of Intel 8259A interrupt controllers of a PC with its edge/level
// register: 16 lines in, one line to the CPU out.
//
//	lines 8..15 --> slave --> line 2 of the master --> INTR
//	lines 0..7 (but 2) ------^
//
// A line that is edge triggered is remembered in the request register until it is
// acknowledged, even if it falls before; a level triggered one counts while it is high.
type PIC struct {
	intr  Line
	chips [2]pic // master, slave
}

// pic is the state of one 8259A. Bit n of a register belongs to line n.
type pic struct {
	Request uint8 // IRR
	Mask    uint8 // IMR
	Service uint8 // ISR
	Lines   uint8 // levels of the inputs
	Level   uint8 // inputs that are level triggered (ELCR)

	Vector uint8 // of line 0
	Lowest uint8 // line of lowest priority; the one after it has the highest
	Step   uint8 // initialisation word that is expected at the odd port (2 to 4), or 0

	NeedsICW4   bool
	Single      bool // no ICW3
	AutoEOI     bool
	AutoRotate  bool // rotate priorities at an automatic EOI
	Nested      bool // special fully nested mode: a slave can interrupt itself
	SpecialMask bool // a masked line in service does not hold up lower ones
	Polled      bool // the next read is an acknowledge
	ReadService bool // the even port reads ISR, not IRR
}

// cascade is the line of the master that the slave drives.
const cascade = 2

// NewPIC makes the pair; it sets intr to the level of the CPU's interrupt line.
func NewPIC(intr Line) *PIC {
	p := &PIC{intr: intr}
	for i := range p.chips {
		p.chips[i].Lowest = 7
	}
	return p
}

// Pending is the level of the CPU's interrupt line.
func (p *PIC) Pending() bool { _, ok := p.chips[0].pick(); return ok }

// Masked reports whether requests of line n are held back, by its own mask or, for a line
// of the slave, by that of the cascade.
func (p *PIC) Masked(n int) bool {
	if n >= 8 && p.Masked(cascade) {
		return true
	}
	return p.chips[n>>3].Mask>>(n&7)&1 != 0
}

// Ack is the CPU's acknowledge cycle: it takes the interrupt of highest priority and
// returns its vector. Where the request has gone meanwhile the vector is that of line 7
// of the chip concerned and nothing is in service: a spurious interrupt.
func (p *PIC) Ack() int {
	line, ok := p.chips[0].pick()
	vector := p.chips[0].ack()
	if ok && line == cascade {
		vector = p.chips[1].ack()
	}
	p.update()
	return int(vector)
}

// Line is interrupt line n, 0 to 15 without 2, for a device to drive.
func (p *PIC) Line(n int) Line { return picLine{p, n} }

type picLine struct {
	pic *PIC
	n   int
}

func (l picLine) Set(high bool) {
	l.pic.chips[l.n>>3].input(uint8(1)<<(l.n&7), high)
	l.pic.update()
}

// update passes the slave's output on to the master, and the master's to the CPU.
func (p *PIC) update() {
	_, ok := p.chips[1].pick()
	p.chips[0].Request &^= 1 << cascade
	if ok {
		p.chips[0].Request |= 1 << cascade
	}
	p.intr.Set(p.Pending())
}

// Master is the first chip's pair of ports (0x20, 0x21).
func (p *PIC) Master() Ports { return picPorts{p, &p.chips[0]} }

// Slave is the second chip's pair of ports (0xa0, 0xa1).
func (p *PIC) Slave() Ports { return picPorts{p, &p.chips[1]} }

// ELCR is the pair of edge/level control registers (0x4d0, 0x4d1).
func (p *PIC) ELCR() Ports { return elcrPorts{p} }

// Save writes the state of both chips.
func (p *PIC) Save(w io.Writer) error { return save(w, "8259", &p.chips) }

// Parse reads what Save wrote; set drives the CPU's line accordingly.
func (p *PIC) Parse(r io.Reader, _ uint64) (set func(), err error) {
	regs, err := parse(r, "8259", &p.chips, func(c *[2]pic) bool { return c[0].sound() && c[1].sound() })
	return func() { regs(); p.update() }, err
}

func (c *pic) sound() bool {
	return c.Lowest <= 7 && c.Vector&7 == 0 && c.Step <= 4 && c.Step != 1
}

type picPorts struct {
	pair *PIC
	chip *pic
}

func (p picPorts) In(offset uint16, _ int) uint32 {
	v := p.chip.read(offset)
	p.pair.update()
	return uint32(v)
}

func (p picPorts) Out(offset uint16, _ int, value uint32) {
	v := uint8(value)
	switch {
	case offset == 1:
		p.chip.writeOdd(v)
	case v&0x10 != 0:
		p.chip.icw1(v)
	case v&0x08 != 0:
		p.chip.ocw3(v)
	default:
		p.chip.ocw2(v)
	}
	p.pair.update()
}

type elcrPorts struct{ pair *PIC }

// elcrFixed are the lines of each chip that are always edge triggered: timer, keyboard
// and cascade; clock and coprocessor.
var elcrFixed = [2]uint8{1<<0 | 1<<1 | 1<<2, 1<<0 | 1<<5}

func (p elcrPorts) In(offset uint16, _ int) uint32 {
	return uint32(p.pair.chips[offset&1].Level)
}

func (p elcrPorts) Out(offset uint16, _ int, value uint32) {
	c := &p.pair.chips[offset&1]
	c.Level = uint8(value) &^ elcrFixed[offset&1]
	c.Request = c.Request&^c.Level | c.Lines&c.Level
	p.pair.update()
}

// input sets the line of the given bit.
func (c *pic) input(bit uint8, high bool) {
	rises := high && c.Lines&bit == 0
	c.Lines &^= bit
	if high {
		c.Lines |= bit
	}
	switch {
	case rises:
		c.Request |= bit
	case !high && c.Level&bit != 0:
		c.Request &^= bit
	}
}

// first is the line of highest priority in set, and its rank: 0 is the highest, 8 none.
func (c *pic) first(set uint8) (line uint8, rank int) {
	rank = bits.TrailingZeros8(bits.RotateLeft8(set, -int(c.Lowest+1)))
	return (c.Lowest + 1 + uint8(rank)) & 7, rank
}

// pick chooses the request to be served next: the first that is not masked, if it comes
// before everything in service.
func (c *pic) pick() (line uint8, ok bool) {
	holds := c.Service
	if c.SpecialMask {
		holds &^= c.Mask
	}
	line, rank := c.first(c.Request &^ c.Mask)
	_, busy := c.first(holds)
	return line, rank < busy || c.Nested && rank == busy && line == cascade
}

// ack takes the picked line into service and returns its vector.
func (c *pic) ack() uint8 {
	line, ok := c.pick()
	if !ok {
		return c.Vector + 7
	}
	bit := uint8(1) << line
	c.Request &^= bit &^ c.Level
	switch {
	case !c.AutoEOI:
		c.Service |= bit
	case c.AutoRotate:
		c.Lowest = line
	}
	return c.Vector + line
}

func (c *pic) read(offset uint16) uint8 {
	switch {
	case c.Polled:
		return c.poll()
	case offset == 1:
		return c.Mask
	case c.ReadService:
		return c.Service
	default:
		return c.Request
	}
}

// poll acknowledges without the CPU: bit 7 says that there was a request.
func (c *pic) poll() uint8 {
	c.Polled = false
	line, ok := c.pick()
	if !ok {
		return 0
	}
	c.ack()
	return 0x80 | line
}

// icw1 begins the initialisation. Lines that are high already make no edge.
func (c *pic) icw1(v uint8) {
	*c = pic{
		Request: c.Lines & c.Level, Lines: c.Lines, Level: c.Level,
		Vector: c.Vector, Lowest: 7, Step: 2,
		NeedsICW4: v&1 != 0, Single: v&2 != 0,
	}
}

// writeOdd takes the remaining initialisation words, or else the mask (OCW1).
func (c *pic) writeOdd(v uint8) {
	switch c.Step {
	case 2:
		c.Vector = v &^ 7
		c.Step = 3
		if c.Single {
			c.endICW3()
		}
	case 3: // the wiring of the cascade, which is fixed
		c.endICW3()
	case 4:
		c.AutoEOI, c.Nested = v&0x02 != 0, v&0x10 != 0
		c.Step = 0
	default:
		c.Mask = v
	}
}

func (c *pic) endICW3() {
	c.Step = 0
	if c.NeedsICW4 {
		c.Step = 4
	}
}

// ocw2 ends interrupts and turns the priorities: bit 7 rotate, 6 the line is given in
// bits 2 to 0, 5 end of interrupt.
func (c *pic) ocw2(v uint8) {
	line := v & 7
	switch v >> 5 {
	case 0, 4:
		c.AutoRotate = v&0x80 != 0
	case 1, 5:
		c.endHighest(v&0x80 != 0)
	case 3, 7:
		c.end(line, v&0x80 != 0)
	case 6:
		c.Lowest = line
	}
}

// endHighest ends the interrupt in service of highest priority. One that is masked does
// not count in special mask mode.
func (c *pic) endHighest(rotate bool) {
	set := c.Service
	if c.SpecialMask {
		set &^= c.Mask
	}
	if set != 0 {
		line, _ := c.first(set)
		c.end(line, rotate)
	}
}

func (c *pic) end(line uint8, rotate bool) {
	c.Service &^= 1 << line
	if rotate {
		c.Lowest = line
	}
}

// ocw3 chooses what is read, and the special mask mode.
func (c *pic) ocw3(v uint8) {
	if v&0x40 != 0 {
		c.SpecialMask = v&0x20 != 0
	}
	if v&0x02 != 0 {
		c.ReadService = v&0x01 != 0
	}
	c.Polled = v&0x04 != 0
}
