package trampoline

import (
	"fmt"

	"trapline/kernel/arch"
)

// An ISA is what displacing instructions takes on one architecture.
type ISA struct {
	Arch *arch.Arch

	SlotSize int    // bytes of a slot: a multiple of what the longest trampoline needs
	Fill     []byte // repeated, fills the rest of a slot, and free slots: a stray jump traps at once

	// Length returns the number of bytes of the first instruction of code.
	// The error wraps ErrTruncated, ErrUndefined or ErrTooLong.
	Length func(code []byte) (int, error)

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

	// Flow tells where control goes after the first instruction of code, which lies at pc.
	// What is no instruction goes onward.
	Flow func(code []byte, pc uint64) Flow

	// Text returns the first instruction of code in the syntax of the GNU assembler,
	// or "(bad)". sym names an address by the symbol that covers it and the symbol's
	// own address; it may be nil, and returns "" for an address without one.
	Text func(code []byte, pc uint64, sym func(uint64) (name string, base uint64)) string
}

// For returns the ISA of an architecture.
func For(a *arch.Arch) (*ISA, error) {
	for _, isa := range ISAs {
		if isa.Arch == a {
			return isa, nil
		}
	}
	return nil, fmt.Errorf("displacing instructions of %s is not supported", a)
}

// ISAs lists the architectures whose instructions can be displaced.
var ISAs = []*ISA{AMD64, ARM64, RISCV64}
