package emu

import (
	"trapline/emu/internal/unicorn"
	"trapline/kernel/arch"
)

// breakpoints are those of a machine, with the trampolines and with what is called at a hit. Their methods
// are the machine's.
type breakpoints struct {
	m       *Machine
	slots   uint64 // where the trampolines are
	inPlace bool
	shared  bool

	onHit      func(cpu arch.CPU, addr uint64)
	onDeferred func(cpu arch.CPU, addr uint64)
	onRewrite  func(addr uint64)
	deferred   *unicorn.DeferredHit // the one that is being delivered; nil: none
	rewriting  bool                 // onRewrite is under way

	notes   notes
	checked []uint64 // addresses, of CrossCheck
}

const (
	slotsSize = 128 << 20 // of the range of trampolines, in bytes
	noSlots   = 1 << 63   // not canonical, so no guest has code there
)

func (b *breakpoints) setSlots(base uint64) {
	b.slots = base
	b.m.engine.SetSlots(base)
}

// AvoidSlots sees to it that the range of trampolines does not overlap [lo, hi), where
// the kernel image is. Only before the first SetBreaks. Boot calls it for a kernel that
// stays where it is placed; one that moves itself could come to lie anywhere, so until
// its place is known there is no range.
func (b *breakpoints) AvoidSlots(lo, hi uint64) {
	for _, base := range b.m.slotBases() {
		if hi <= base || lo >= base+slotsSize {
			b.setSlots(base)
			return
		}
	}
}

// Slots is the range of virtual addresses set aside for trampolines.
func (b *breakpoints) Slots() (base, size uint64) { return b.slots, slotsSize }

// WriteSlots stores trampoline code at an address in that range.
func (b *breakpoints) WriteSlots(addr uint64, code []byte) error {
	return b.m.engine.WriteSlots(addr, code)
}

// UseSlot is called by the function of OnHit, on a machine with Config.Shared: this time the
// instruction that the breakpoint at addr has displaced runs in slot.
func (b *breakpoints) UseSlot(addr, slot uint64) { b.m.engine.UseSlot(addr, slot) }

// SetBreaks plants, moves or replaces breakpoints. It fails with an *arch.Fault where
// the guest has no memory.
func (b *breakpoints) SetBreaks(breaks []arch.Break) error {
	for i := range breaks {
		if err := b.setBreak(&breaks[i]); err != nil {
			return err
		}
	}
	b.commit()
	return nil
}

func (b *breakpoints) setBreak(k *arch.Break) error {
	at, ok := b.m.offset(k.Addr)
	if !ok {
		return &arch.Fault{Addr: k.Addr}
	}
	last := k.Addr + uint64(k.Len) - 1
	if last/pageSize != k.Addr/pageSize {
		next, ok := b.m.offset(last)
		if !ok {
			return &arch.Fault{Addr: last}
		}
		if err := b.m.engine.Watch(last, next); err != nil {
			return err
		}
	}
	return b.m.engine.SetBreak(unicorn.Break{Break: *k, At: at})
}

// ClearBreaks takes breakpoints away. Addresses without one are passed over.
func (b *breakpoints) ClearBreaks(addrs []uint64) error {
	for _, a := range addrs {
		b.m.engine.ClearBreak(a)
	}
	b.commit()
	return nil
}

// ForgetText drops all state for the text in [lo, hi), which is about to be unmapped. No breakpoints
// may remain there.
func (b *breakpoints) ForgetText(lo, hi uint64) { b.m.engine.ForgetPages(lo, hi) }

// CountHits counts the hits at addr from now on, without a call of the function of OnHit. It
// reports false where no breakpoint stands, and where each hit needs the call.
func (b *breakpoints) CountHits(addr uint64) bool { return !b.shared && b.m.engine.CountHits(addr) }

// TakeHits ends that and returns how many there were.
func (b *breakpoints) TakeHits(addr uint64) uint64 { return b.m.engine.TakeHits(addr) }

// commit makes changes visible; those made while the engine asks what stands on a
// page that the guest has rewritten, it makes visible itself.
func (b *breakpoints) commit() {
	if !b.rewriting {
		b.m.engine.Commit()
	}
}

// OnHit sets the function that is called at each hit of a breakpoint, before the
// displaced instruction runs.
func (b *breakpoints) OnHit(f func(cpu arch.CPU, addr uint64)) { b.onHit = f }

// StopHere is called by the function of OnHit, and ends the run with Stopped in front of the
// instruction. Before the next run the breakpoint has to be cleared.
func (b *breakpoints) StopHere() { b.m.engine.StopHere() }

// OnRewrite sets the function that is called when the guest has stored to a page with
// breakpoints, before it can run what it stored.
func (b *breakpoints) OnRewrite(f func(addr uint64)) { b.onRewrite = f }

// Aliases are the pages on which the guest has passed breakpoints by, because it has executed them
// at other addresses.
func (b *breakpoints) Aliases() []arch.Alias { return b.m.engine.Aliases() }

// CrossCheck begins to count, by the emulator's own code hook, how often the
// instructions at addrs, sorted, are executed. Each has a breakpoint.
func (b *breakpoints) CrossCheck(addrs []uint64) error {
	if len(addrs) == 0 {
		return nil
	}
	b.checked = addrs
	for _, c := range b.m.cpus {
		c.hitsBefore = c.Counters().Hits
	}
	return b.m.engine.CrossCheck(addrs[0], addrs[len(addrs)-1])
}

// Counts returns what CrossCheck has counted, in the order of its addresses.
func (b *breakpoints) Counts() []uint64 {
	n := make([]uint64, len(b.checked))
	for _, c := range b.m.cpus {
		for i, a := range b.checked {
			n[i] += c.Executed(a)
		}
	}
	return n
}

// CheckedOn is how many hits of breakpoints there have been on one CPU since CrossCheck, and
// how many executions it has counted.
func (b *breakpoints) CheckedOn(cpu int) (hits, executions uint64) {
	c := b.m.cpus[cpu]
	for _, a := range b.checked {
		executions += c.Executed(a)
	}
	return c.Counters().Hits - c.hitsBefore, executions
}

// slotBases are where trampolines may lie on the machine's architecture.
func (m *Machine) slotBases() []uint64 {
	wire, _ := platforms.Of(m.arch) // there is one, or there would be no machine
	return wire.slots
}
