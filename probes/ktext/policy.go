package ktext

import (
	"trapline/insn"
	"trapline/kernel/arch"
	"trapline/probes/patch"
)

// original is what the original kinst refuses on one architecture for the sake of instructions: those of
// a policy that looks at code.
type original struct {
	// function says why the function with these instructions, at least one, is refused,
	// or "".
	function func(instrs []patch.Instr) string
	// instruction says why the i-th of them is refused, or "".
	instruction func(instrs []patch.Instr, i int) string
}

// originals has what the original kinst refuses on each architecture.
var originals arch.Table[original]

// exclusive reports whether the i-th instruction is one of those from a load-exclusive to its
// store-exclusive, both included: a breakpoint among them would make a live kernel try for
// ever.
func exclusive(set *insn.Set, instrs []patch.Instr, i int) bool {
	class := func(i int) insn.Class { return set.Class(instrs[i].Code) }
	if class(i) == insn.StoreExclusive {
		i--
	}
	for ; i >= 0 && class(i) != insn.StoreExclusive; i-- {
		if class(i) == insn.LoadExclusive {
			return true
		}
	}
	return false
}

const inExclusive = "it is between a load-exclusive and its store-exclusive"
