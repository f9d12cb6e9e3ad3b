package arch

import "fmt"

// A Fault is an access to guest memory that the guest has not mapped.
type Fault struct {
	Addr uint64 // the first byte that could not be reached
}

func (f *Fault) Error() string { return fmt.Sprintf("invalid address (0x%x)", f.Addr) }

// A Break is a breakpoint in guest text and what stands for the instruction under it.
type Break struct {
	Addr uint64 // virtual address of the displaced instruction
	Slot uint64 // virtual address of its trampoline, 0 when Guest, not Do.InSlot(), or given at each hit
	Len  uint8  // bytes of the displaced instruction
	// Guest: the displaced instruction is a breakpoint of the guest's own. It is
	// delivered to the guest after the probe has fired.
	Guest bool
	// Do is what the machine does itself for the displaced instruction.
	Do Emulation
}

// An Alias is a page of guest text that the guest has executed at an address at which no
// breakpoints stand.
type Alias struct {
	Page   uint64 // virtual address of its breakpoints
	At     uint64 // virtual address at which it ran as well
	Passed uint64 // executions there of instructions that have breakpoints
}

// A CPU is one stopped CPU of the guest, valid during a hit.
type CPU interface {
	Regs
	ID() int
}

// Memory is guest memory at virtual addresses, as the guest's kernel sees it.
type Memory interface {
	// ReadMem fills p from addr, or fails with a *Fault at the first byte that is not mapped.
	ReadMem(addr uint64, p []byte) error
}
