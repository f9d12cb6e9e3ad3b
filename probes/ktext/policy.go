package ktext

import "trapline/probes/patch"

// original is what the original kinst refuses on one architecture for the sake of instructions: those of
// a policy that looks at code.
type original struct {
	// function says why the function with these instructions, at least one, is refused,
	// or "".
	function func(instrs []patch.Instr) string
	// instruction says why the i-th of them is refused, or "".
	instruction func(instrs []patch.Instr, i int) string
}

// originals has a row for each architecture.
var originals = map[string]original{
	"amd64":   {amd64Function, amd64Instruction},
	"arm64":   {arm64Function, arm64Instruction},
	"riscv64": {riscv64Function, riscv64Instruction},
}

// exclusive reports whether the i-th instruction is one of those from a load-exclusive to its
// store-exclusive, both included: a breakpoint among them would make a live kernel try for
// ever.
func exclusive(instrs []patch.Instr, i int, load, store func(code []byte) bool) bool {
	if store(instrs[i].Code) {
		i--
	}
	for ; i >= 0 && !store(instrs[i].Code); i-- {
		if load(instrs[i].Code) {
			return true
		}
	}
	return false
}

const inExclusive = "it is between a load-exclusive and its store-exclusive"
