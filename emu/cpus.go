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

	hitsBefore uint64 // those before CrossCheck
}

// turns are the CPUs of a machine, which run one at a time. Their methods are the machine's.
type turns struct {
	m      *Machine
	engine *unicorn.Engine // the CPU that runs, or has run last
	cpus   []*cpu          // all of them
	policy interleave.Policy
	yields bool // the CPU that runs is to give up its turn
}

// A CPU is given to the functions of OnHit, OnTick and OnCPUTick with its clock.
var _ interface {
	arch.CPU
	Clock() uint64
} = (*cpu)(nil)

// cpuControl is the firmware's handle on a CPU.
type cpuControl struct {
	*cpu
	m *Machine
}

// Started implements device.CPUControl, as Stop does.
func (g cpuControl) Started() bool { return !g.off }

// Stop stops the CPU whose call of the firmware this is.
func (g cpuControl) Stop() {
	g.off = true
	g.Park()
}

// CPUs is how many CPUs the guest has.
func (t *turns) CPUs() int { return len(t.cpus) }

// Interleave makes the CPUs take turns as p decides; the default is round robin. Only between
// runs. It has no effect on a guest with one CPU.
func (t *turns) Interleave(p interleave.Policy) { t.policy = p }

// Split allows interrupts and CPU switches at every instruction in [lo, hi), virtual addresses. This
// changes the guest's schedule, but not its correctness. Only before the first run, or after Load or
// Flush. It fails for too many ranges.
func (t *turns) Split(lo, hi uint64) error {
	if !t.engine.Split(lo, hi) {
		return errors.New("cannot split more than 64 ranges of code")
	}
	return nil
}

// Yield ends the turn of the CPU that runs, at the next instant at which an interrupt could be
// taken, and lets another one go on. Only in a callback; with one CPU it does nothing.
func (t *turns) Yield() {
	if len(t.cpus) > 1 {
		t.yields = true
		t.engine.SetSlice(t.engine.Clock())
	}
}

// runCPUs runs the guest until something ends the run. Several CPUs take
// turns.
func (t *turns) runCPUs() (unicorn.End, error) {
	if len(t.cpus) == 1 {
		t.m.reschedule()
		return t.engine.Run()
	}
	last := t.engine
	for {
		for t.wakeNext() {
			if t.engine.TakeStop() {
				return unicorn.Stopped, nil
			}
		}
		if !t.giveTurn(last) {
			return t.standstill(), nil
		}
		last = t.engine
		switch end, err := t.engine.Run(); end {
		case unicorn.Sliced, unicorn.Parked:
		case unicorn.Halted:
			t.cpus[t.engine.ID()].off = true
		default:
			return end, err
		}
	}
}

// standstill is the end of a run in which no CPU can run any more: Halted if all are off.
func (t *turns) standstill() unicorn.End {
	for _, c := range t.cpus {
		if !c.off {
			return unicorn.Hung
		}
	}
	return unicorn.Halted
}

// giveTurn switches to the CPU whose turn comes after last's. It reports false if none can run.
func (t *turns) giveTurn(last *unicorn.Engine) bool {
	var can []interleave.CPU
	var buf [MaxCPUs]interleave.CPU
	can = buf[:0]
	for i, c := range t.cpus {
		if !c.idle && !c.off {
			can = append(can, interleave.CPU{ID: i, Clock: c.Total()})
		}
	}
	if len(can) == 0 {
		return false
	}
	i, slice := t.policy.Next(interleave.CPU{ID: last.ID(), Clock: last.Total(), Yields: t.yields}, can)
	t.yields = false
	t.engine = t.cpus[can[i].ID].Engine
	t.engine.SetSlice(t.sliceEnd(can, i, slice))
	t.m.reschedule()
	return true
}

// sliceEnd is when the slice of can[i] ends. An idle CPU wakes when none that can run is behind that
// time: a slice ends there, so that it does not matter how long slices are.
func (t *turns) sliceEnd(can []interleave.CPU, i int, slice uint64) uint64 {
	_, wakes := t.nextToWake()
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
func (t *turns) nextToWake() (next *cpu, at uint64) {
	at = Never
	defer func(e *unicorn.Engine) { t.engine = e }(t.engine)
	for _, c := range t.cpus {
		if !c.idle || c.off {
			continue
		}
		t.engine = c.Engine
		if wake := t.m.platform.Wake(); wake < at {
			next, at = c, wake
		}
	}
	return next, at
}

// wakeNext carries out the next event of an idle CPU, if no CPU that can run is behind it.
func (t *turns) wakeNext() bool {
	next, at := t.nextToWake()
	if next == nil {
		return false
	}
	for _, c := range t.cpus {
		if !c.idle && !c.off && c.Total() < at {
			return false
		}
	}
	t.engine = next.Engine
	t.m.skip()
	return true
}

// wake lets a CPU run that has waited, or been off, from the present time of the one that runs
// on. That one comes to the end of its slice, so that the policy can choose again.
func (t *turns) wake(c *cpu) {
	c.idle, c.off = false, false
	now := t.m.present()
	if c.Engine != t.engine {
		c.Skip(now)
	}
	t.engine.SetSlice(now + 1)
}
