package emu

import (
	"trapline/emu/internal/unicorn"
	"trapline/kernel/arch"
)

const (
	slotsSize = 128 << 20 // of the range of trampolines, in bytes
	noSlots   = 1 << 63   // not canonical, so no guest has code there
)

func (m *Machine) setSlots(base uint64) {
	m.slots = base
	m.engine.SetSlots(base)
}

// AvoidSlots sees to it that the range of trampolines does not overlap [lo, hi), where
// the kernel image is. Only before the first SetBreaks. Boot calls it for a kernel that
// stays where it is placed; one that moves itself could come to lie anywhere, so until
// its place is known there is no range.
func (m *Machine) AvoidSlots(lo, hi uint64) {
	for _, base := range platforms[m.arch].slots {
		if hi <= base || lo >= base+slotsSize {
			m.setSlots(base)
			return
		}
	}
}

// Slots is the range of virtual addresses set aside for trampolines.
func (m *Machine) Slots() (base, size uint64) { return m.slots, slotsSize }

// WriteSlots stores trampoline code at an address in that range.
func (m *Machine) WriteSlots(addr uint64, code []byte) error { return m.engine.WriteSlots(addr, code) }

// UseSlot is called by the function of OnHit, on a machine with Config.Shared: this time the
// instruction that the breakpoint at addr has displaced runs in slot.
func (m *Machine) UseSlot(addr, slot uint64) { m.engine.UseSlot(addr, slot) }

// SetBreaks plants, moves or replaces breakpoints. It fails with an *arch.Fault where
// the guest has no memory.
func (m *Machine) SetBreaks(breaks []arch.Break) error {
	for i := range breaks {
		if err := m.setBreak(&breaks[i]); err != nil {
			return err
		}
	}
	m.commit()
	return nil
}

func (m *Machine) setBreak(b *arch.Break) error {
	at, ok := m.offset(b.Addr)
	if !ok {
		return &arch.Fault{Addr: b.Addr}
	}
	last := b.Addr + uint64(b.Len) - 1
	if last/pageSize != b.Addr/pageSize {
		next, ok := m.offset(last)
		if !ok {
			return &arch.Fault{Addr: last}
		}
		if err := m.engine.Watch(last, next); err != nil {
			return err
		}
	}
	return m.engine.SetBreak(unicorn.Break{Break: *b, At: at})
}

// ClearBreaks takes breakpoints away. Addresses without one are passed over.
func (m *Machine) ClearBreaks(addrs []uint64) error {
	for _, a := range addrs {
		m.engine.ClearBreak(a)
	}
	m.commit()
	return nil
}

// ForgetText is told that what is mapped at [lo, hi), where no breakpoint stands any more, is
// about to go.
func (m *Machine) ForgetText(lo, hi uint64) { m.engine.ForgetPages(lo, hi) }

// CountHits has the hits at addr counted from now on, without a call of the function of
// OnHit. It reports false where no breakpoint stands, and where each hit needs the call.
func (m *Machine) CountHits(addr uint64) bool { return !m.shared && m.engine.CountHits(addr) }

// TakeHits ends that and returns how many there were.
func (m *Machine) TakeHits(addr uint64) uint64 { return m.engine.TakeHits(addr) }

// commit makes changes visible; those made while the engine asks what stands on a
// page that the guest has rewritten, it makes visible itself.
func (m *Machine) commit() {
	if !m.rewriting {
		m.engine.Commit()
	}
}

// OnHit sets the function that is called at each hit of a breakpoint, before the
// displaced instruction runs.
func (m *Machine) OnHit(f func(cpu arch.CPU, addr uint64)) { m.onHit = f }

// StopHere is called by the function of OnHit, and ends the run with Stopped in front of the
// instruction. Before the next run the breakpoint has to be cleared.
func (m *Machine) StopHere() { m.engine.StopHere() }

// OnRewrite sets the function that is called when the guest has stored to a page with
// breakpoints, before it can run what it stored.
func (m *Machine) OnRewrite(f func(addr uint64)) { m.onRewrite = f }

// Aliases are the pages on which the guest has passed breakpoints by, because it has executed them
// at other addresses.
func (m *Machine) Aliases() []arch.Alias { return m.engine.Aliases() }

// CrossCheck begins to count, by the emulator's own code hook, how often the
// instructions at addrs, sorted, are executed. Each has a breakpoint.
func (m *Machine) CrossCheck(addrs []uint64) error {
	if len(addrs) == 0 {
		return nil
	}
	m.crossed = addrs
	for _, c := range m.cpus {
		c.before = c.Counters().Hits
	}
	return m.engine.CrossCheck(addrs[0], addrs[len(addrs)-1])
}

// Counts returns what CrossCheck has counted, in the order of its addresses.
func (m *Machine) Counts() []uint64 {
	n := make([]uint64, len(m.crossed))
	for _, c := range m.cpus {
		for i, a := range m.crossed {
			n[i] += c.Executed(a)
		}
	}
	return n
}

// CheckedOn is how many hits of breakpoints there have been on one CPU since CrossCheck, and
// how many executions it has counted.
func (m *Machine) CheckedOn(cpu int) (hits, executions uint64) {
	c := m.cpus[cpu]
	for _, a := range m.crossed {
		executions += c.Executed(a)
	}
	return c.Counters().Hits - c.before, executions
}
