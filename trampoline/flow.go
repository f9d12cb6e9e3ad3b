package trampoline

import "trapline/kernel/arch"

// A Way is how an instruction passes control on.
type Way uint8

const (
	// Onward: to the instruction behind it. Calls come back there, and so do traps, as far as
	// a function is concerned.
	Onward Way = iota
	// Jump: to Flow.Target.
	Jump
	// Branch: to Flow.Target, or to the instruction behind it.
	Branch
	// Indirect: to an address out of a register or of memory.
	Indirect
	// Return: to where the function was called from.
	Return
)

var wayNames = [...]string{"onward", "jump", "branch", "indirect", "return"}

func (w Way) String() string {
	if int(w) < len(wayNames) {
		return wayNames[w]
	}
	return "invalid"
}

// ReadMem reads guest memory.
type ReadMem func(addr uint64, p []byte) error

// A Flow is where control goes after one instruction. What can be known beforehand is
// known when it is made.
type Flow struct {
	Way    Way
	Target uint64 // of Jump and Branch
	// Next tells, right before a Branch or Indirect runs, where it goes. It is not ok
	// where memory could not be read. Authentication codes of pointers are taken off.
	Next func(regs arch.Regs, read ReadMem) (pc uint64, ok bool)
}

// emulated is the flow of an instruction that a machine could carry out itself, of n bytes
// at pc. One that keeps a return address is a call.
func emulated(a *arch.Arch, e arch.Emulation, pc uint64, n int) Flow {
	switch {
	case e.Op == arch.OpNone, e.Op == arch.OpSet, e.Op >= arch.OpLend, e.A != arch.NoReg:
		return Flow{}
	case e.Op == arch.OpJump:
		return Flow{Way: Jump, Target: pc + uint64(e.Imm)}
	}
	f := Flow{Way: Branch, Target: pc + uint64(e.Imm), Next: func(regs arch.Regs, _ ReadMem) (uint64, bool) {
		return e.Next(a, n, regs), true
	}}
	if e.Op == arch.OpJumpReg {
		f.Way, f.Target = Indirect, 0
	}
	return f
}
