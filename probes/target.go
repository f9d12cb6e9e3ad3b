package probes

import (
	"trapline/kernel/arch"
)

// Mem is guest memory as the guest's kernel sees it at this moment, at virtual
// addresses. Reads see the guest's own text, never our breakpoints.
type Mem interface {
	// ReadMem fills p from addr. Where a byte is not mapped it fails with a *Fault and
	// p's contents are undefined.
	ReadMem(addr uint64, p []byte) error
	// WriteMem stores p at addr, as the kernel itself would store it.
	WriteMem(addr uint64, p []byte) error
}

// What a running guest and its tracer hand to each other is named in package arch, so
// that neither imports the other.
type (
	Fault = arch.Fault
	Break = arch.Break
	CPU   = arch.CPU
	Alias = arch.Alias
)

// Target is the running guest, as providers and the session need it. A machine of
// package emu is one by its shape; this package does not know emu.
type Target interface {
	Mem
	Arch() *arch.Arch

	// Now is the virtual time in nanoseconds since the guest's start.
	Now() uint64

	// Slots is the range of virtual addresses [base, base+size) set aside for
	// trampolines. Every displacement from kernel text reaches it.
	Slots() (base, size uint64)
	// WriteSlots stores trampoline code at an address in that range.
	WriteSlots(addr uint64, code []byte) error

	// SetBreaks plants, moves or replaces breakpoints: each b takes the place of what
	// stood at b.Addr. The guest's next fetch from there sees it.
	SetBreaks(b []Break) error
	// ClearBreaks takes breakpoints away. Addresses without one are passed over.
	ClearBreaks(addr []uint64) error

	// ForgetText drops all state for the text in [lo, hi), whole pages that are about to be
	// unmapped: other memory may come to lie there. No breakpoints may remain in it.
	ForgetText(lo, hi uint64)

	// OnHit sets the function that is called at each hit, before the displaced
	// instruction runs: the PC register is b's address. The CPU is valid until it returns.
	// The guest stands still meanwhile: no function is called inside another.
	OnHit(func(cpu CPU, addr uint64))
	// OnRewrite sets the function that is called when the guest has changed its own
	// text under breakpoints, before it can run what it wrote: the page at addr holds
	// new bytes. The function reads them and calls SetBreaks or ClearBreaks. A page is
	// watched from the first SetBreaks of an instruction with a byte on it, and stays so
	// when its breakpoints are cleared: they may have to come back.
	OnRewrite(func(addr uint64))

	// OnTick asks for one call of f at the first instant not before the virtual time at
	// (ns) at which the guest could take an interrupt. Another call replaces it;
	// ^uint64(0) cancels it. The guest does not notice.
	OnTick(at uint64, f func(cpu CPU))

	// Stop ends the run soon: at the next instant the guest could take an interrupt.
	Stop()

	Counter
	Deferrer
	CPUs
	// Chill lets ns virtual nanoseconds pass while the CPU stands still in a callback.
	Chill(ns uint64)
}

// A Counter counts the hits of breakpoints without a call of the function of OnHit.
type Counter interface {
	// CountHits counts the hits at addr from now on. It reports false where no
	// breakpoint stands. One that takes the place of another goes on counting.
	CountHits(addr uint64) bool
	// TakeHits ends that and returns how many there were. It is called before the
	// breakpoint is cleared.
	TakeHits(addr uint64) uint64
}

// A Sharer is a Target whose breakpoints may take turns in trampolines. They are then code that
// the guest sees, and takes interrupts in.
type Sharer interface {
	// UseSlot is called by the function of OnHit: this time the instruction that the breakpoint
	// at addr has displaced runs in the trampoline at slot.
	UseSlot(addr, slot uint64)
}

// An Aliaser is a Target that reports on which pages of text breakpoints were passed by, because the
// guest has executed them at other addresses.
type Aliaser interface {
	Aliases() []Alias
}

// CPUs are those of a Target, numbered from 0. Where there are several each has a clock of its own, and
// they take turns.
type CPUs interface {
	CPUs() int
	// OnCPUTick is OnTick for one CPU. off reports whether the CPU is off.
	OnCPUTick(cpu int, at uint64, f func(c CPU, off bool))
	// Yield ends the turn of the CPU that runs, at the next place where one can end: another
	// CPU that can run goes on, if there is one.
	Yield()
}

// A Clocked is a CPU with a clock of its own. A CPU of a Deferrer's late hits need not be one.
type Clocked interface {
	CPU
	// Clock is its time in nanoseconds, exact while a function of the Target is called with it. It
	// moves on while the CPU executes code and while it waits, and never goes back. The clocks
	// of several CPUs differ: Now is at least that of the CPU that runs.
	Clock() uint64
}

// A Deferrer delivers hits later than they happen.
type Deferrer interface {
	// OnDeferred sets the function that is called for such hits, in their order, and before any
	// other function is called, never inside one. cpu has the registers that were asked for, as
	// they were, and Now is the time that it was. Memory is not what it was.
	OnDeferred(func(cpu CPU, addr uint64))
	// DeferHits delivers the hits at addr to that function from now on. With memo it does so only
	// while what the function of the CPU's newest Remember has read is unchanged, and delivers
	// others at once. It reports false where each hit has to be delivered at once.
	DeferHits(addr uint64, regs []arch.Reg, memo bool) bool
	// UndeferHits ends that. It is called before the breakpoint is cleared.
	UndeferHits(addr uint64)
	// Remember is called by the function of OnHit, calls f with the memory and the registers of
	// the CPU, and notes what f reads of them: of the flags the mode alone, of the program
	// counter nothing.
	Remember(f func(mem arch.Memory, regs arch.Regs))
	// Remembered is called likewise. It reports whether what was noted last on this CPU is unchanged.
	Remembered() bool
}

// A CrossChecker is a Target that can count executions by other means than breakpoints.
type CrossChecker interface {
	// CrossCheck begins to count the executions of the instructions at addrs, sorted.
	// Another call begins anew.
	CrossCheck(addrs []uint64) error
	// Counts is how often each has been executed since, in the same order.
	Counts() []uint64
	// CheckedOn is how many hits of breakpoints there have been on one CPU since CrossCheck,
	// and how many executions of its instructions.
	CheckedOn(cpu int) (hits, executions uint64)
}
