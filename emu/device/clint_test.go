package device

import (
	"math/rand/v2"
	"testing"
)

// clintRig is a CLINT with what it drives.
type clintRig struct {
	*CLINTHart
	all                         *CLINT
	clock                       fakeClock
	timer, software, supervisor wire
}

func newCLINTRig() *clintRig {
	r := new(clintRig)
	r.all = NewCLINT(&r.clock, RISCV64Lines{MachineTimer: &r.timer, MachineSoftware: &r.software, Timer: &r.supervisor})
	r.CLINTHart = r.all.Hart(0)
	return r
}

func (r *clintRig) set(offset uint64, v uint64) {
	r.all.Registers().Store(offset, 4, uint32(v))
	r.all.Registers().Store(offset+4, 4, uint32(v>>32))
}

func (r *clintRig) get(offset uint64) uint64 {
	return uint64(r.all.Registers().Load(offset, 4)) | uint64(r.all.Registers().Load(offset+4, 4))<<32
}

func TestCLINTMachineTimer(t *testing.T) {
	r := newCLINTRig()
	if r.timer.high || r.Next(true, true) != Never {
		t.Error("an interrupt that nobody has asked for")
	}
	r.set(clintMtimecmp, 50)
	if got := r.get(clintMtimecmp); got != 50 {
		t.Errorf("mtimecmp reads %d", got)
	}
	if r.Next(true, false) != 5000 || r.Next(false, true) != Never {
		t.Errorf("next event at %d, of the supervisor at %d", r.Next(true, false), r.Next(false, true))
	}
	r.clock = 4999
	r.Poll()
	if r.timer.high || r.get(clintMtime) != 49 {
		t.Errorf("line %v at time %d", r.timer.high, r.get(clintMtime))
	}
	r.clock = 5000
	r.Poll()
	if !r.timer.high || r.supervisor.high || r.Next(true, true) != Never {
		t.Errorf("lines %v, %v, next event at %d", r.timer.high, r.supervisor.high, r.Next(true, true))
	}
	r.set(clintMtimecmp, 60)
	if r.timer.high || r.Next(true, true) != 6000 {
		t.Errorf("set again: line %v, next event at %d", r.timer.high, r.Next(true, true))
	}
	r.set(clintMtimecmp, ^uint64(0))
	if r.Next(true, true) != Never {
		t.Error("the end of time has come near")
	}
}

func TestCLINTSoftware(t *testing.T) {
	r := newCLINTRig()
	r.all.Registers().Store(clintMsip, 4, 0xffffffff)
	if !r.software.high || r.all.Registers().Load(clintMsip, 4) != 1 {
		t.Errorf("line %v, msip %#x", r.software.high, r.all.Registers().Load(clintMsip, 4))
	}
	r.all.Registers().Store(clintMsip, 4, 0)
	if r.software.high {
		t.Error("the interrupt stays")
	}
}

// stimecmp counts only where menvcfg says so; otherwise the guest has the interrupt's bit.
func TestCLINTSupervisor(t *testing.T) {
	r := newCLINTRig()
	r.clock = 1000
	r.SetStimecmp(5)
	if r.supervisor.high || r.Next(true, true) != Never {
		t.Error("stimecmp counts without menvcfg")
	}
	r.SetMenvcfg(^uint64(0))
	if !r.supervisor.high || r.Menvcfg() != menvcfgSTCE || r.Stimecmp() != 5 {
		t.Errorf("line %v, menvcfg %#x, stimecmp %d", r.supervisor.high, r.Menvcfg(), r.Stimecmp())
	}
	r.SetStimecmp(11)
	if r.supervisor.high || r.Next(false, true) != 1100 {
		t.Errorf("set again: line %v, next event at %d", r.supervisor.high, r.Next(false, true))
	}
}

// Each hart has its own timer and software interrupt.
func TestCLINTHarts(t *testing.T) {
	var clock fakeClock
	var timer, software [2]wire
	c := NewCLINT(&clock, RISCV64Lines{MachineTimer: &timer[0], MachineSoftware: &software[0], Timer: noLine{}},
		RISCV64Lines{MachineTimer: &timer[1], MachineSoftware: &software[1], Timer: noLine{}})
	r := c.Registers()
	r.Store(clintMsip+4, 4, 1)
	if software[0].high || !software[1].high || r.Load(clintMsip, 4) != 0 || r.Load(clintMsip+4, 4) != 1 {
		t.Errorf("software interrupts %v, %v", software[0].high, software[1].high)
	}
	r.Store(clintMtimecmp+8, 4, 20)
	r.Store(clintMtimecmp+12, 4, 0)
	if c.Hart(0).Next(true, true) != Never || c.Hart(1).Next(true, true) != 2000 {
		t.Errorf("next events at %d, %d", c.Hart(0).Next(true, true), c.Hart(1).Next(true, true))
	}
	clock = 2000
	c.Hart(0).Poll()
	c.Hart(1).Poll()
	if timer[0].high || !timer[1].high {
		t.Errorf("timers %v, %v", timer[0].high, timer[1].high)
	}
	for _, none := range []uint64{clintMsip + 8, clintMtimecmp + 16, clintMtimecmp - 4} {
		if r.Store(none, 4, 1); r.Load(none, 4) != 0 {
			t.Errorf("a register at %#x", none)
		}
	}
}

func TestCLINTState(t *testing.T) {
	offsets := []uint64{clintMsip, clintMtimecmp, clintMtimecmp + 4, clintMtime,
		clintMsip + 4, clintMtimecmp + 8, clintMtimecmp + 12, clintMsip + 8, clintMtimecmp + 16}
	testMemState(t, offsets, func(r *memRig) {
		c := NewCLINT(&r.clock,
			RISCV64Lines{MachineTimer: r.line("timer"), MachineSoftware: r.line("software"), Timer: r.line("supervisor")},
			RISCV64Lines{MachineTimer: r.line("timer 1"), MachineSoftware: r.line("software 1"), Timer: r.line("supervisor 1")})
		r.dev, r.mem, r.poll = c, c.Registers(), func() { c.Hart(0).Poll(); c.Hart(1).Poll() }
		r.prod = func(rng *rand.Rand) {
			h := c.Hart(rng.IntN(2))
			h.SetMenvcfg(rng.Uint64())
			h.SetStimecmp(rng.Uint64N(1 << 20))
		}
	})
}

func TestFinisher(t *testing.T) {
	var ends []Ending
	f := NewFinisher(func(e Ending) { ends = append(ends, e) })
	for _, v := range []uint32{0, 0x5555, 0x7777, 0x13333, 0x1234} {
		f.Store(0, 4, v)
	}
	f.Store(4, 4, 0x5555)
	if len(ends) != 3 || ends[0] != PowerOff || ends[1] != Reboot || ends[2] != PowerOff {
		t.Errorf("endings %v", ends)
	}
}
