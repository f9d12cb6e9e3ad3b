// Package verify proves displaced instructions against the emulator itself: each is
// executed in place and through its breakpoint, from one and the same state of the machine,
// and everything that comes of it is compared.
//
//	function --trampoline--> plans, planted     the text as the guest has it now
//	   |
//	state, from a seed --> in place  ---.
//	   |                                 >---- registers, flags, memory, faults, devices,
//	   '-----------------> displaced ---'      the next instruction, the clock
//
// A state has what instructions depend on: pointers that are good, bad, and across the end of
// a page, values at the ends of their ranges, flags, interrupts off, on, and waiting. It is made
// from a seed, the address and a number alone, so that one that shows a mismatch can be had again.
//
// Besides, it compares whole histories of a guest, without probes and with them (Footprint).
package verify
