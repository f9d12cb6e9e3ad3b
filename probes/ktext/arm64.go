package ktext

import (
	"trapline/insn"
	"trapline/kernel/arch"
	"trapline/probes/patch"
)

var _ = originals.Row(arch.ARM64, original{arm64Function, arm64Instruction})

// arm64Function looks for stp x, x, [sp, #-n]! or sub sp, sp, #n, or for a nop at the
// beginning, the mark of assembly that may be traced; a bti before it does not count.
func arm64Function(instrs []patch.Instr) string {
	for i, in := range instrs {
		if insn.ARM64.Frame(in.Code).Grows {
			return ""
		}
		first := i == 0 || i == 1 && insn.ARM64.Class(instrs[0].Code) == insn.Landing
		if first && insn.ARM64.Class(in.Code) == insn.Nop {
			return ""
		}
	}
	return "the function makes no room on the stack"
}

func arm64Instruction(instrs []patch.Instr, i int) string {
	switch {
	case insn.ARM64.Class(instrs[i].Code) == insn.Address:
		return "adr and adrp are not traced"
	case exclusive(insn.ARM64, instrs, i):
		return inExclusive
	}
	return ""
}
