package ktext

import (
	"slices"

	"trapline/insn"
	"trapline/kernel/arch"
	"trapline/probes/patch"
)

var _ = originals.Row(arch.AMD64, original{amd64Function, amd64Instruction})

// amd64Function wants a frame to be made somewhere: compilers put that off past an early return.
func amd64Function(instrs []patch.Instr) string {
	if slices.ContainsFunc(instrs, func(in patch.Instr) bool { return insn.AMD64.Frame(in.Code).SavesFP }) {
		return ""
	}
	return "the function has no push %rbp"
}

func amd64Instruction(instrs []patch.Instr, i int) string {
	switch insn.AMD64.Class(instrs[i].Code) {
	case insn.PopFlags:
		return "popf changes the interrupt mask"
	case insn.EnableInterrupts:
		return "sti changes the interrupt mask"
	}
	return ""
}
