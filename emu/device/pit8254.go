package device

import (
	"io"
	"math/bits"
)

// PITHz is the frequency of the clock that the 8254 of a PC counts.
const PITHz = 1193182

// A PIT is the Intel 8254 interval timer of a PC, at ports 0x40 to 0x43: channel 0 drives
// IRQ 0, channel 1 is free, channel 2 has its gate and its output at port 0x61.
//
// Nothing ticks. A channel remembers when it began to count, and its count, its output
// and the time of its next interrupt follow from the clock: the k-th tick after the start
// is at ceil(k * 10^9 / PITHz) nanoseconds, so that a periodic interrupt never drifts.
//
// Two simplifications, neither of which shows in what kernels do with the chip: a new
// count in modes 2 and 3 starts a new period at once, where the chip finishes the
// present one; and counting in BCD is done in binary.
type PIT struct {
	irq   Line
	clock Clock
	ch    [3]pitChannel
}

// pitChannel is the state of one counter.
type pitChannel struct {
	Mode   uint8 // 0 to 5
	Access uint8 // bytes that a count is written and read by: 1 low, 2 high, 3 low then high

	Reload uint32 // the count, 1 to 65536; 0: none written since the mode was
	Null   bool   // a mode has been written and no count yet
	Gate   bool
	Runs   bool   // it counts
	Start  uint64 // since this time in nanoseconds
	Before uint64 // ticks counted before that, when the gate has held it up
	Fired  uint64 // interrupts since the count was written (channel 0)

	Low       uint8 // first byte of a count, once HalfWrite
	HalfWrite bool
	HalfRead  bool

	Latch         uint16
	Status        uint8
	Latched       bool
	StatusLatched bool
}

// NewPIT makes a timer that pulses irq high and low at each interrupt of channel 0.
func NewPIT(irq Line, clock Clock) *PIT {
	p := &PIT{irq: irq, clock: clock}
	for i := range p.ch {
		p.ch[i].Access = 3
		p.ch[i].Gate = i != 2 // port 0x61 opens that one
	}
	return p
}

// In reads a count or a status (data sheet, "Read operations").
func (p *PIT) In(offset uint16, _ int) uint32 {
	if offset == 3 {
		return 0xff // the control word cannot be read
	}
	return uint32(p.ch[offset&3].read(p.clock.Now()))
}

// Out writes a control word or a count. It may change Next.
func (p *PIT) Out(offset uint16, _ int, value uint32) {
	v, now := uint8(value), p.clock.Now()
	switch {
	case offset != 3:
		p.ch[offset&3].write(v, now)
	case v>>6 == 3:
		p.readBack(v, now)
	case v&0x30 == 0:
		p.ch[v>>6].latchCount(now)
	default:
		p.ch[v>>6].setMode(v)
	}
}

// readBack latches counts and states of several channels; both bits are active low.
func (p *PIT) readBack(v uint8, now uint64) {
	for i := range p.ch {
		if v&(2<<i) == 0 {
			continue
		}
		if v&0x20 == 0 {
			p.ch[i].latchCount(now)
		}
		if v&0x10 == 0 {
			p.ch[i].latchStatus(now)
		}
	}
}

// SetGate drives the gate of channel 2.
func (p *PIT) SetGate(high bool) { p.ch[2].setGate(high, p.clock.Now()) }

// Output is the output of channel 2 at this moment.
func (p *PIT) Output() bool { return p.ch[2].output(p.clock.Now()) }

// Next is the time at which the output of channel 0 rises next.
func (p *PIT) Next() uint64 {
	c := &p.ch[0]
	if !c.Runs || c.Reload == 0 || c.Fired > 0 && !c.periodic() {
		return Never
	}
	return c.Start + nanos(c.rise(c.Fired+1))
}

// Poll interrupts if the output of channel 0 has risen. Rises that went by together are
// one interrupt, as they are for the interrupt controller.
func (p *PIT) Poll() {
	now := p.clock.Now()
	if now < p.Next() {
		return
	}
	c := &p.ch[0]
	c.Fired = 1
	if c.periodic() {
		c.Fired = c.elapsed(now) / uint64(c.Reload)
	}
	p.irq.Set(true)
	p.irq.Set(false)
}

// Save writes the state of the three channels.
func (p *PIT) Save(w io.Writer) error { return save(w, "8254", &p.ch) }

// Parse reads what Save wrote.
func (p *PIT) Parse(r io.Reader, now uint64) (set func(), err error) {
	return parse(r, "8254", &p.ch, func(ch *[3]pitChannel) bool {
		return ch[0].sound(now) && ch[1].sound(now) && ch[2].sound(now)
	})
}

// sound: nothing has begun later than now, nor counted more than it can have.
func (c *pitChannel) sound(now uint64) bool {
	if c.Mode > 5 || c.Access > 3 || c.Reload > 0x10000 || c.Start > now || c.Before > ticks(now) || c.Runs && c.Reload == 0 {
		return false
	}
	return c.Fired <= 1 || c.Reload > 0 && c.Fired <= c.elapsed(now)/uint64(c.Reload)
}

// setMode takes a control word. The counter stops until a count is written.
func (c *pitChannel) setMode(v uint8) {
	mode := v >> 1 & 7
	if mode > 5 {
		mode -= 4 // 6 and 7 are 2 and 3
	}
	*c = pitChannel{Mode: mode, Access: v >> 4 & 3, Gate: c.Gate, Null: true}
}

func (c *pitChannel) write(v uint8, now uint64) {
	switch {
	case c.Access == 1:
		c.start(uint32(v), now)
	case c.Access == 2:
		c.start(uint32(v)<<8, now)
	case !c.HalfWrite:
		c.Low, c.HalfWrite = v, true
		if c.Mode == 0 { // the first byte stops the count and lowers the output
			c.Runs, c.Reload, c.Before = false, 0, 0
		}
	default:
		c.HalfWrite = false
		c.start(uint32(v)<<8|uint32(c.Low), now)
	}
}

// start takes a new count. Modes 1 and 5 wait for the gate to rise.
func (c *pitChannel) start(count uint32, now uint64) {
	if count == 0 {
		count = 0x10000
	}
	c.Reload, c.Null, c.Before, c.Fired = count, false, 0, 0
	c.Start, c.Runs = now, c.Gate && !c.triggered()
}

// setGate drives the gate: modes 0 and 4 pause while it is low, 2 and 3 stop and begin
// anew, 1 and 5 are triggered by its rise.
func (c *pitChannel) setGate(high bool, now uint64) {
	if high == c.Gate {
		return
	}
	c.Gate = high
	switch {
	case c.Reload == 0:
	case high:
		if c.triggered() || c.periodic() {
			c.Before = 0
		}
		c.Start, c.Runs = now, true
	case !c.triggered():
		c.Before, c.Runs = c.elapsed(now), false
	}
}

func (c *pitChannel) periodic() bool  { return c.Mode == 2 || c.Mode == 3 }
func (c *pitChannel) triggered() bool { return c.Mode == 1 || c.Mode == 5 }

// elapsed is the number of ticks since the count was written, or since the gate rose.
func (c *pitChannel) elapsed(now uint64) uint64 {
	if !c.Runs {
		return c.Before
	}
	return c.Before + ticks(max(now, c.Start)-c.Start)
}

// rise is the tick at which the output rises for the k-th time. In mode 4 that is the
// end of a low pulse of one tick.
func (c *pitChannel) rise(k uint64) uint64 {
	t := k * uint64(c.Reload)
	if c.Mode == 4 || c.Mode == 5 {
		t++
	}
	return t
}

func (c *pitChannel) output(now uint64) bool {
	e, n := c.elapsed(now), uint64(c.Reload)
	if !c.Runs && c.Mode != 0 && c.Mode != 4 || n == 0 {
		return c.Mode != 0
	}
	switch c.Mode {
	case 2:
		return e%n != n-1
	case 3:
		return e%n < (n+1)/2
	case 4, 5:
		return e != n
	default:
		return e >= n
	}
}

// count is the value of the counter; 65536 reads as 0.
func (c *pitChannel) count(now uint64) uint16 {
	e, n := c.elapsed(now), uint64(c.Reload)
	switch {
	case n == 0:
		return 0
	case c.Mode == 2:
		return uint16(n - e%n)
	case c.Mode == 3: // counts down twice in a period, by two
		e, half := e%n, (n+1)/2
		if e >= half {
			e -= half
		}
		return uint16(n&^1 - 2*e)
	default:
		return uint16(n - e) // goes round after zero
	}
}

func (c *pitChannel) latchCount(now uint64) {
	if !c.Latched { // the first latch stands until it is read
		c.Latch, c.Latched = c.count(now), true
	}
}

func (c *pitChannel) latchStatus(now uint64) {
	if c.StatusLatched {
		return
	}
	c.Status, c.StatusLatched = c.Access<<4|c.Mode<<1, true
	if c.output(now) {
		c.Status |= 0x80
	}
	if c.Null {
		c.Status |= 0x40
	}
}

func (c *pitChannel) read(now uint64) uint8 {
	if c.StatusLatched {
		c.StatusLatched = false
		return c.Status
	}
	v := c.count(now)
	if c.Latched {
		v = c.Latch
	}
	if c.Access == 3 {
		c.HalfRead = !c.HalfRead
		if c.HalfRead {
			return uint8(v)
		}
	}
	c.Latched = false
	if c.Access == 1 {
		return uint8(v)
	}
	return uint8(v >> 8)
}

// ticks is the number of whole PIT ticks in ns nanoseconds.
func ticks(ns uint64) uint64 {
	hi, lo := bits.Mul64(ns, PITHz)
	t, _ := bits.Div64(hi, lo, 1e9)
	return t
}

// nanos is the first nanosecond at which t ticks have gone by, or Never when that is
// past the end of time: ticks(nanos(t)) == t and ticks(nanos(t)-1) == t-1.
func nanos(t uint64) uint64 {
	hi, lo := bits.Mul64(t, 1e9)
	lo, carry := bits.Add64(lo, PITHz-1, 0)
	hi += carry
	if hi >= PITHz {
		return Never
	}
	ns, _ := bits.Div64(hi, lo, PITHz)
	return ns
}
