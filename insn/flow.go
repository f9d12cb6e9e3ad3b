package insn

import "trapline/kernel/arch"

// A Way is how an instruction passes control on.
type Way uint8

const (
	// Onward: to the instruction behind it. Traps come back there, as far as a function is
	// concerned.
	Onward Way = iota
	// Call: to another function, which comes back to the instruction behind it.
	Call
	// Jump: to Flow.Target.
	Jump
	// Branch: to Flow.Target, or to the instruction behind it.
	Branch
	// Indirect: to an address out of a register or of memory.
	Indirect
	// Return: to where the function was called from.
	Return
)

var wayNames = [...]string{"onward", "call", "jump", "branch", "indirect", "return"}

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
	// Next returns, right before a Branch or Indirect runs, where it goes. It is not ok
	// where memory could not be read. Authentication codes of pointers are taken off.
	Next func(regs arch.Regs, read ReadMem) (pc uint64, ok bool)
}

// MayLeave reports whether control may go elsewhere than to the instruction behind this one and
// not come back there.
func (f Flow) MayLeave() bool { return f.Way != Onward && f.Way != Call }

// Leaves reports whether it always does.
func (f Flow) Leaves() bool { return f.MayLeave() && f.Way != Branch }

// emulated is the flow of an instruction of n bytes at pc that does e. One that keeps a return
// address is a call.
func emulated(a *arch.Arch, e arch.Emulation, pc uint64, n int) Flow {
	switch {
	case e.Op == arch.OpNone, e.Op == arch.OpSet:
		return Flow{}
	case e.A != arch.NoReg:
		return Flow{Way: Call}
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
