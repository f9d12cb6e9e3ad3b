package emu

import (
	"encoding/binary"
	"fmt"
	"io"

	"trapline/emu/device"
	"trapline/kernel/arch"
)

// smp is the amd64 machine whose CPUs have local APICs.
type smp struct {
	*pc
	lapics []*lapicCPU
}

// lapicCPU is the handle of a local APIC on its CPU.
type lapicCPU struct {
	*cpu
	m *Machine
}

// Interrupt implements device.LAPICCPU. A CPU that is idle has its interrupts enabled.
func (c *lapicCPU) Interrupt(high bool) {
	c.SetLine(high)
	if high && c.idle {
		c.m.wake(c.cpu)
	}
}

// RaiseNMI wakes a CPU also where its interrupts are off.
func (c *lapicCPU) RaiseNMI() {
	c.SetNMI(true)
	if c.idle || c.off {
		c.m.wake(c.cpu)
	}
}

// Init stops the CPU, at once if it is the one that runs.
func (c *lapicCPU) Init() {
	c.idle, c.off = false, true
	c.SetNMI(false)
	c.SetSlice(0)
}

// StartUp is a startup interrupt.
func (c *lapicCPU) StartUp(page uint8) {
	c.Engine.StartUp(page)
	c.m.wake(c.cpu)
}

// guestClock is the time as the guest reads it: that of the CPU that asks, but not earlier than what
// any has read. Devices that all CPUs share have it.
type guestClock struct{ clock }

func (c guestClock) Now() uint64 {
	now := max(c.clock.Now(), c.m.engine.Seen())
	c.m.engine.SetSeen(now)
	return now
}

func newSMP(p *pc, c Config) *smp {
	s := &smp{pc: p}
	var cpus []device.LAPICCPU
	for _, c := range p.m.cpus {
		s.lapics = append(s.lapics, &lapicCPU{c, p.m})
		cpus = append(cpus, s.lapics[c.ID()])
	}
	own := clock{p.m}
	s.dev = device.NewSMP(guestClock{own}, own, cpus, s.current, c.IOAPIC, sink(c.Console), sink(c.Control),
		p.m.resetFor, func(device.Ending) { p.m.powerOff() })
	return s
}

// current is the number of the CPU that runs.
func (s *smp) current() int { return s.m.engine.ID() }

func (s *smp) Ack() int     { return s.dev.LAPICs[s.current()].Ack() }
func (s *smp) Next() uint64 { return s.dev.NextOf(s.current()) }
func (s *smp) Wake() uint64 { return s.dev.WakeOf(s.current()) }
func (s *smp) Poll()        { s.dev.PollOf(s.current()) }

func (s *smp) Awake() bool {
	e := s.m.engine
	return e.NMI() || e.Line() && arch.AMD64.Interruptible(e.Reg(arch.RFLAGS))
}

func (s *smp) Load(pa uint64, size int) uint64         { return uint64(s.dev.Mem.Load(pa, size)) }
func (s *smp) Store(pa uint64, size int, value uint64) { s.dev.Mem.Store(pa, size, uint32(value)) }

// Save writes the devices, and which CPUs are to take an NMI.
func (s *smp) Save(w io.Writer) error {
	waiting := make([]bool, len(s.lapics))
	for i, c := range s.lapics {
		waiting[i] = c.NMI()
	}
	if err := s.pc.Save(w); err != nil {
		return err
	}
	return binary.Write(w, binary.LittleEndian, waiting)
}

// Parse reads what Save wrote.
func (s *smp) Parse(r io.Reader, now uint64) (set func(), err error) {
	waiting := make([]bool, len(s.lapics))
	devices, err := s.pc.Parse(r, now)
	if err != nil {
		return nil, err
	}
	if err := binary.Read(r, binary.LittleEndian, waiting); err != nil {
		return nil, fmt.Errorf("loading the CPUs: %w", err)
	}
	return func() {
		devices()
		for i, c := range s.lapics {
			c.SetNMI(waiting[i])
		}
	}, nil
}
