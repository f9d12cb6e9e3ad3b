package device

import "io"

// A CLINT is the timer and the software interrupt of a riscv64 machine without firmware: a
// SiFive core-local interruptor (its mtime, mtimecmp and msip of hart 0), and the supervisor's
// own timer, the CSRs stimecmp and menvcfg (RISC-V Sstc extension 1.0).
//
//	mtime >= mtimecmp --------------------> timer interrupt of the machine
//	msip ---------------------------------> software interrupt of the machine
//	time >= stimecmp, if menvcfg.STCE ----> timer interrupt of the supervisor
//
// mtime is the clock of the machine and cannot be written.
type CLINT struct {
	clock                       Clock
	timer, software, supervisor Line
	clintRegs
}

type clintRegs struct {
	Software         uint32 // msip
	Machine          alarm  // mtimecmp
	Supervisor       alarm  // stimecmp
	SupervisorCounts bool   // menvcfg.STCE
}

// An alarm is a compare register.
type alarm struct {
	At   uint64 // ticks
	Rung bool   // the time has come
}

// due is when the alarm rings, in ns, or Never.
func (a alarm) due() uint64 {
	if a.Rung || a.At > Never/nsPerTick {
		return Never
	}
	return a.At * nsPerTick
}

// NewCLINT makes a CLINT; timer and software are the machine's lines, supervisor the timer
// of the supervisor.
func NewCLINT(clock Clock, timer, software, supervisor Line) *CLINT {
	c := &CLINT{clock: clock, timer: timer, software: software, supervisor: supervisor}
	c.Machine.At, c.Supervisor.At = ^uint64(0), ^uint64(0)
	return c
}

// Offsets of the registers.
const (
	clintMsip     = 0x0
	clintMtimecmp = 0x4000
	clintMtime    = 0xbff8

	// CLINTSize is the range of addresses in bytes.
	CLINTSize = 0x10000
)

// Registers are the registers in memory.
func (c *CLINT) Registers() Mem { return clintMem{c} }

type clintMem struct{ c *CLINT }

// Load reads a register, or a half of one.
func (m clintMem) Load(offset uint64, _ int) uint32 {
	shift := 8 * (offset & 4)
	switch offset &^ 4 {
	case clintMsip:
		return uint32(uint64(m.c.Software) >> shift)
	case clintMtimecmp:
		return uint32(m.c.Machine.At >> shift)
	case clintMtime:
		return uint32(m.c.ticks() >> shift)
	}
	return 0
}

// Store writes a register, or a half of one.
func (m clintMem) Store(offset uint64, _ int, v uint32) {
	switch offset {
	case clintMsip:
		m.c.Software = v & 1
	case clintMtimecmp, clintMtimecmp + 4:
		setHalf(&m.c.Machine.At, offset, v)
	}
	m.c.update()
}

func (c *CLINT) ticks() uint64 { return c.clock.Now() / nsPerTick }

// update makes the lines what the registers and the time say.
func (c *CLINT) update() {
	now := c.ticks()
	c.Machine.Rung = now >= c.Machine.At
	c.Supervisor.Rung = c.SupervisorCounts && now >= c.Supervisor.At
	c.drive()
}

func (c *CLINT) drive() {
	c.software.Set(c.Software != 0)
	c.timer.Set(c.Machine.Rung)
	if c.SupervisorCounts {
		c.supervisor.Set(c.Supervisor.Rung)
	}
}

// Stimecmp is the supervisor's compare register.
func (c *CLINT) Stimecmp() uint64 { return c.Supervisor.At }

// SetStimecmp writes it.
func (c *CLINT) SetStimecmp(v uint64) {
	c.Supervisor.At = v
	c.update()
}

const menvcfgSTCE = 1 << 63

// Menvcfg is the CSR menvcfg, of which there is the bit STCE.
func (c *CLINT) Menvcfg() uint64 {
	if c.SupervisorCounts {
		return menvcfgSTCE
	}
	return 0
}

// SetMenvcfg writes it. When stimecmp ceases to count its interrupt goes.
func (c *CLINT) SetMenvcfg(v uint64) {
	if c.SupervisorCounts {
		c.supervisor.Set(false)
	}
	c.SupervisorCounts = v&menvcfgSTCE != 0
	c.update()
}

// Next is the time of the next interrupt of the machine's timer, the supervisor's, or both;
// or Never.
func (c *CLINT) Next(machine, supervisor bool) uint64 {
	at := uint64(Never)
	if machine {
		at = c.Machine.due()
	}
	if supervisor && c.SupervisorCounts {
		at = min(at, c.Supervisor.due())
	}
	return at
}

// Poll raises the interrupts that are due.
func (c *CLINT) Poll() { c.update() }

// Save writes the state.
func (c *CLINT) Save(w io.Writer) error { return save(w, "CLINT", &c.clintRegs) }

// Parse reads what Save wrote.
func (c *CLINT) Parse(r io.Reader, _ uint64) (set func(), err error) {
	regs, err := parse(r, "CLINT", &c.clintRegs, func(c *clintRegs) bool { return c.Software <= 1 })
	return func() { regs(); c.drive() }, err
}
