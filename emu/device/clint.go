package device

import "io"

// A CLINT is the timers and the software interrupts of a riscv64 machine without firmware: a SiFive
// core-local interruptor (mtime, and mtimecmp and msip of each hart), and the supervisors' own timers,
// the CSRs stimecmp and menvcfg (RISC-V Sstc extension 1.0).
//
//	mtime >= mtimecmp --------------------> timer interrupt of the machine
//	msip ---------------------------------> software interrupt of the machine
//	time >= stimecmp, if menvcfg.STCE ----> timer interrupt of the supervisor
//
// mtime is the clock of the machine and cannot be written.
type CLINT struct {
	clock Clock
	harts []CLINTHart
}

// A CLINTHart is what belongs to one hart, and the lines that it drives: the machine's timer and
// software interrupt, and the supervisor's timer.
type CLINTHart struct {
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

// NewCLINT makes a CLINT for harts with these lines.
func NewCLINT(clock Clock, harts ...RISCV64Lines) *CLINT {
	c := &CLINT{clock: clock}
	for _, l := range harts {
		h := CLINTHart{clock: clock, timer: l.MachineTimer, software: l.MachineSoftware, supervisor: l.Timer}
		h.Machine.At, h.Supervisor.At = ^uint64(0), ^uint64(0)
		c.harts = append(c.harts, h)
	}
	return c
}

// Hart returns the part of a hart.
func (c *CLINT) Hart(n int) *CLINTHart { return &c.harts[n] }

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
	if offset&^4 == clintMtime {
		return uint32(m.c.clock.Now() / nsPerTick >> (8 * (offset & 4)))
	}
	switch h, reg := m.c.at(offset); {
	case h == nil:
		return 0
	case reg == clintMsip:
		return h.Software
	default:
		return uint32(h.Machine.At >> (8 * (offset & 4)))
	}
}

// Store writes a register, or a half of one.
func (m clintMem) Store(offset uint64, _ int, v uint32) {
	h, reg := m.c.at(offset)
	switch {
	case h == nil:
		return
	case reg == clintMsip:
		h.Software = v & 1
	default:
		setHalf(&h.Machine.At, offset, v)
	}
	h.update()
}

// at returns the hart of a register at an offset, and which register it is: clintMsip or
// clintMtimecmp. The hart is nil where there is none.
func (c *CLINT) at(offset uint64) (h *CLINTHart, reg uint64) {
	n := offset / 4
	if reg = clintMsip; offset >= clintMtimecmp {
		n, reg = (offset-clintMtimecmp)/8, clintMtimecmp
	}
	if n >= uint64(len(c.harts)) {
		return nil, 0
	}
	return &c.harts[n], reg
}

func (c *CLINTHart) ticks() uint64 { return c.clock.Now() / nsPerTick }

// update makes the lines what the registers and the time say.
func (c *CLINTHart) update() {
	now := c.ticks()
	c.Machine.Rung = now >= c.Machine.At
	c.Supervisor.Rung = c.SupervisorCounts && now >= c.Supervisor.At
	c.drive()
}

func (c *CLINTHart) drive() {
	c.software.Set(c.Software != 0)
	c.timer.Set(c.Machine.Rung)
	if c.SupervisorCounts {
		c.supervisor.Set(c.Supervisor.Rung)
	}
}

// Stimecmp is the supervisor's compare register.
func (c *CLINTHart) Stimecmp() uint64 { return c.Supervisor.At }

// SetStimecmp writes it.
func (c *CLINTHart) SetStimecmp(v uint64) {
	c.Supervisor.At = v
	c.update()
}

const menvcfgSTCE = 1 << 63

// Menvcfg is the CSR menvcfg. It has the bit STCE alone.
func (c *CLINTHart) Menvcfg() uint64 {
	if c.SupervisorCounts {
		return menvcfgSTCE
	}
	return 0
}

// SetMenvcfg writes it. When stimecmp ceases to count its interrupt goes.
func (c *CLINTHart) SetMenvcfg(v uint64) {
	if c.SupervisorCounts {
		c.supervisor.Set(false)
	}
	c.SupervisorCounts = v&menvcfgSTCE != 0
	c.update()
}

// Next is the time of the next interrupt of the machine's timer, the supervisor's, or both;
// or Never.
func (c *CLINTHart) Next(machine, supervisor bool) uint64 {
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
func (c *CLINTHart) Poll() { c.update() }

// Save writes the state.
func (c *CLINT) Save(w io.Writer) error {
	for i := range c.harts {
		if err := save(w, "CLINT", &c.harts[i].clintRegs); err != nil {
			return err
		}
	}
	return nil
}

// Parse reads what Save wrote.
func (c *CLINT) Parse(r io.Reader, _ uint64) (set func(), err error) {
	var all []func()
	for i := range c.harts {
		h := &c.harts[i]
		regs, err := parse(r, "CLINT", &h.clintRegs, func(c *clintRegs) bool { return c.Software <= 1 })
		if err != nil {
			return nil, err
		}
		all = append(all, regs, h.drive)
	}
	return func() {
		for _, set := range all {
			set()
		}
	}, nil
}
