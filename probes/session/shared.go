package session

import (
	"trapline/probes"
	"trapline/probes/patch"
)

// owner is whose trampoline a hit uses, with -x tramp=thread: that of the thread or, while the CPU
// takes no interrupts, that of the CPU.
func (s *Session) owner(cpu probes.CPU) patch.Owner {
	if a := s.Target.Arch(); a.Interruptible(cpu.Reg(a.Flags)) {
		if t, err := s.OS.Thread(s.Target, cpu); err == nil {
			return patch.Owner{ID: t.Key}
		}
	}
	return patch.Owner{CPU: true, ID: uint64(cpu.ID())}
}
