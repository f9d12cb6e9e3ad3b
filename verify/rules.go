package verify

import (
	"math/rand/v2"

	"trapline/kernel/arch"
)

// rules is what states are made of on an architecture.
type rules struct {
	general []arch.Reg // registers that hold any value, but the stack pointer
	sp, pc  arch.Reg
	count   arch.Reg   // of string instructions
	control []arch.Reg // whose values system instructions are given
	align   uint64     // of the stack pointer, in bytes
	// flags puts flags and the interrupt mask at random.
	flags func(r *rand.Rand, regs arch.Regs)
	// settles lists instructions that change how the machine runs at all, by a part of their text,
	// the register that they write, and the bits of it that may change. Other bits would take the
	// machine out of the mode in which kernels run; processors refuse most of that, the
	// emulator does not.
	settles []setting
}

type setting struct {
	text string
	reg  arch.Reg
	bits uint64
}

// rulesOf has what random states are made of on each architecture.
var rulesOf arch.Table[*rules]

// numbered are the registers from..to-1.
func numbered(from, to arch.Reg) (regs []arch.Reg) {
	for r := from; r < to; r++ {
		regs = append(regs, r)
	}
	return regs
}
