package probetest

import "trapline/probes"

// An SMP is a Target with several CPUs. Each has a clock of its own, and one of them runs: the
// first, until On. Now is the latest time of any, as a machine has it.
type SMP struct {
	*Target
	All []*ClockedCPU
	// Off are CPUs that are off.
	Off []bool

	each []cpuTick
}

// A ClockedCPU is a CPU with a clock of its own.
type ClockedCPU struct {
	CPU
	At uint64
}

// Clock implements probes.Clocked.
func (c *ClockedCPU) Clock() uint64 { return c.At }

type cpuTick struct {
	at uint64
	f  func(probes.CPU, bool)
}

// NewSMP makes t one of n CPUs. t's own CPU is none of them.
func NewSMP(t *Target, n int) *SMP {
	s := &SMP{Target: t, Off: make([]bool, n)}
	for i := range n {
		s.All = append(s.All, &ClockedCPU{CPU: CPU{Num: i}})
		s.each = append(s.each, cpuTick{at: ^uint64(0)})
	}
	t.running = s.All[0]
	return s
}

// On makes a CPU the one that runs: Run is of it.
func (s *SMP) On(cpu int) *ClockedCPU {
	s.running = s.All[cpu]
	return s.All[cpu]
}

// Spend moves the clock of the CPU that runs on by ns. What is due on the way comes at its time.
func (s *SMP) Spend(ns uint64) {
	c := s.running.(*ClockedCPU)
	for end := c.At + ns; ; {
		t := &s.each[c.Num]
		c.At = max(c.At, min(end, t.at))
		s.Advance(c.At - min(c.At, s.now))
		if t.at > c.At {
			return
		}
		f := t.f
		*t = cpuTick{at: ^uint64(0)}
		s.tell()
		f(c, s.Off[c.Num])
	}
}

// CPUs implements probes.CPUs.
func (s *SMP) CPUs() int { return len(s.All) }

// OnCPUTick implements probes.CPUs.
func (s *SMP) OnCPUTick(cpu int, at uint64, f func(probes.CPU, bool)) { s.each[cpu] = cpuTick{at, f} }

var _ probes.Target = (*SMP)(nil)

var _ probes.Clocked = (*ClockedCPU)(nil)
