package emu

import (
	"errors"

	"trapline/emu/interleave"
	"trapline/emu/internal/unicorn"
	"trapline/kernel/arch"
)

// MaxCPUs is how many CPUs a machine can have.
const MaxCPUs = unicorn.MaxCPUs

// cpu is one CPU. Each has a clock of its own: bytes of code that it has executed, and the
// time it has waited. Where the guest reads the time it never goes back.
type cpu struct {
	*unicorn.Engine
	idle bool // it waits for an interrupt
	off  bool // it has not been started, or has stopped, and no interrupt has it go on

	before uint64 // hits before CrossCheck
}

// A CPU is given to the functions of OnHit, OnTick and OnCPUTick with its clock.
var _ interface {
	arch.CPU
	Clock() uint64
} = (*cpu)(nil)

// governed is a CPU as firmware has it in hand.
type governed struct {
	*cpu
	m *Machine
}

// Started implements device.CPUControl, as Stop does.
func (g governed) Started() bool { return !g.off }

// Stop stops the CPU whose call of the firmware this is.
func (g governed) Stop() {
	g.off = true
	g.Park()
}

// CPUs is how many CPUs the guest has.
func (m *Machine) CPUs() int { return len(m.cpus) }

// Interleave has the CPUs run as p says from now on; until then it is round robin. Only
// between runs. With one CPU there is nothing to say.
func (m *Machine) Interleave(p interleave.Policy) { m.policy = p }

// Split has each instruction in [lo, hi), virtual addresses, be a place where an interrupt can be
// taken and another CPU's turn begin. The guest runs in another way then, if not a wrong one. Only before the
// first run, or after Load or Flush. It fails for too many ranges.
func (m *Machine) Split(lo, hi uint64) error {
	if !m.engine.Split(lo, hi) {
		return errors.New("cannot split more than 64 ranges of code")
	}
	return nil
}

// Yield ends the turn of the CPU that runs, at the next instant at which an interrupt could be
// taken, and lets another one go on. Only in a callback; with one CPU it does nothing.
func (m *Machine) Yield() {
	if len(m.cpus) > 1 {
		m.yields = true
		m.engine.SetSlice(m.engine.Clock())
	}
}

// runCPUs runs the guest until something ends the run. CPUs of which there are several take
// turns.
func (m *Machine) runCPUs() (unicorn.End, error) {
	if len(m.cpus) == 1 {
		m.reschedule()
		return m.engine.Run()
	}
	last := m.engine
	for {
		for m.wakeNext() {
			if m.engine.TakeStop() {
				return unicorn.Stopped, nil
			}
		}
		if !m.giveTurn(last) {
			return m.standstill(), nil
		}
		last = m.engine
		switch end, err := m.engine.Run(); end {
		case unicorn.Sliced, unicorn.Parked:
		case unicorn.Halted:
			m.cpus[m.engine.ID()].off = true
		default:
			return end, err
		}
	}
}

// standstill is the end of a run in which no CPU can run any more: Halted if all are off.
func (m *Machine) standstill() unicorn.End {
	for _, c := range m.cpus {
		if !c.off {
			return unicorn.Hung
		}
	}
	return unicorn.Halted
}

// giveTurn makes the CPU of which it is the turn after last's the one that runs. It is false if none
// can.
func (m *Machine) giveTurn(last *unicorn.Engine) bool {
	var can []interleave.CPU
	var buf [MaxCPUs]interleave.CPU
	can = buf[:0]
	for i, c := range m.cpus {
		if !c.idle && !c.off {
			can = append(can, interleave.CPU{ID: i, Clock: c.Total()})
		}
	}
	if len(can) == 0 {
		return false
	}
	i, slice := m.policy.Next(interleave.CPU{ID: last.ID(), Clock: last.Total(), Yields: m.yields}, can)
	m.yields = false
	m.engine = m.cpus[can[i].ID].Engine
	m.engine.SetSlice(m.sliceEnd(can, i, slice))
	m.reschedule()
	return true
}

// sliceEnd is when the slice of can[i] ends. An idle CPU wakes when none that can run is behind that
// time: a slice ends there, so that it does not matter how long slices are.
func (m *Machine) sliceEnd(can []interleave.CPU, i int, slice uint64) uint64 {
	_, wakes := m.nextToWake()
	end := can[i].Clock + slice
	if len(can) == 1 {
		return wakes
	}
	for j, c := range can {
		if j != i && c.Clock < wakes {
			return end
		}
	}
	return min(end, wakes)
}

// nextToWake is the idle CPU that an event wakes first, and when; nil and Never for none.
func (m *Machine) nextToWake() (next *cpu, at uint64) {
	at = Never
	defer func(e *unicorn.Engine) { m.engine = e }(m.engine)
	for _, c := range m.cpus {
		if !c.idle || c.off {
			continue
		}
		m.engine = c.Engine
		if wake := m.platform.Wake(); wake < at {
			next, at = c, wake
		}
	}
	return next, at
}

// wakeNext carries out the next event of an idle CPU, if no CPU that can run is behind it.
func (m *Machine) wakeNext() bool {
	next, at := m.nextToWake()
	if next == nil {
		return false
	}
	for _, c := range m.cpus {
		if !c.idle && !c.off && c.Total() < at {
			return false
		}
	}
	m.engine = next.Engine
	m.skip()
	return true
}

// wake lets a CPU run that has waited, or been off, from the present time of the one that runs
// on. That one comes to the end of its slice, so that the policy can choose again.
func (m *Machine) wake(c *cpu) {
	c.idle, c.off = false, false
	now := m.present()
	if c.Engine != m.engine {
		c.Skip(now)
	}
	m.engine.SetSlice(now + 1)
}
