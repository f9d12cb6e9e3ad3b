package trace

import (
	"fmt"

	"trapline/probes"
)

// cpus is how many CPUs the guest has.
func (tr *Trace) cpus() int { return tr.Target.CPUs() }

// chooseCPU follows the option cpu.
func (tr *Trace) chooseCPU() error {
	switch cpu, n := tr.Options.CPU, tr.cpus(); {
	case cpu < 0:
		return nil
	case cpu >= n:
		return fmt.Errorf("option cpu: there is no CPU %d: the guest has %d, numbered from 0 (--cpus)", cpu, n)
	default:
		tr.tick.Only(cpu)
		return nil
	}
}

// elsewhere reports whether a firing is on a CPU that the option cpu leaves out. BEGIN and END are
// on none.
func (tr *Trace) elsewhere(f *probes.Firing) bool {
	return tr.Options.CPU >= 0 && f.CPU != nil && f.CPU.ID() != tr.Options.CPU
}

// clock is the time of a CPU: its own, where it has one.
func (tr *Trace) clock(cpu probes.CPU) uint64 {
	if c, ok := cpu.(probes.Clocked); ok {
		return c.Clock()
	}
	return tr.Target.Now()
}
