package trampoline

import (
	"fmt"

	"trapline/insn"
	"trapline/kernel/arch"
)

// An ISA is what displacing instructions takes on one architecture.
type ISA struct {
	*insn.Set // the instructions themselves

	SlotSize int    // bytes of a slot: a multiple of what the longest trampoline needs
	Fill     []byte // repeated, fills the rest of a slot, and free slots: a stray jump traps at once

	// Plan decides how the first instruction of code, which lies at pc, is displaced.
	// It never fails: what cannot be displaced is a plan of the kind Refuse.
	Plan func(code []byte, pc uint64) Plan

	// Encode returns what goes to the slot at address slot for the instruction at pc:
	// at most SlotSize bytes, ending in the jump back, or in the second breakpoint
	// that stands for it. code and pc are what p was made from. It fails for a plan
	// that needs no slot, and where the slot is too far from what the instruction
	// refers to.
	Encode func(p Plan, code []byte, pc, slot uint64) ([]byte, error)

	// Do returns what the machine does itself for the instruction at pc, before or
	// instead of what is in its slot: nothing on an architecture whose slots do it all.
	// code and pc are what p was made from.
	Do func(p Plan, code []byte, pc uint64) arch.Emulation
}

// isas has what displacing takes on each architecture.
var isas arch.Table[*ISA]

// For returns the ISA of an architecture.
func For(a *arch.Arch) (*ISA, error) {
	if isa, ok := isas.Of(a); ok {
		return isa, nil
	}
	return nil, fmt.Errorf("displacing instructions of %s is not supported", a)
}
