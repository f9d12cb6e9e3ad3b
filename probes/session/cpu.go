package session

import (
	"fmt"

	"trapline/probes"
)

// cpus is how many CPUs the guest has.
func (s *Session) cpus() int { return s.Target.CPUs() }

// chooseCPU follows the option cpu.
func (s *Session) chooseCPU() error {
	switch cpu, n := s.Options.CPU, s.cpus(); {
	case cpu < 0:
		return nil
	case cpu >= n:
		return fmt.Errorf("option cpu: there is no CPU %d: the guest has %d, numbered from 0 (--cpus)", cpu, n)
	default:
		s.profile.Only(cpu)
		return nil
	}
}

// elsewhere reports whether a firing is on a CPU that the option cpu leaves out. BEGIN and END are
// on none.
func (s *Session) elsewhere(f *probes.Firing) bool {
	return s.Options.CPU >= 0 && f.CPU != nil && f.CPU.ID() != s.Options.CPU
}

// clock is the time of a CPU: its own, where it has one.
func (s *Session) clock(cpu probes.CPU) uint64 {
	if c, ok := cpu.(probes.Clocked); ok {
		return c.Clock()
	}
	return s.Target.Now()
}
