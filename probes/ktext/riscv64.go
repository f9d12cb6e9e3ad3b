package ktext

import (
	"slices"

	"trapline/insn"
	"trapline/kernel/arch"
	"trapline/probes/patch"
)

var _ = originals.Row(arch.RISCV64, original{riscv64Function, riscv64Instruction})

// riscv64Function looks for a store of the return address on the stack.
func riscv64Function(instrs []patch.Instr) string {
	if slices.ContainsFunc(instrs, func(in patch.Instr) bool { return insn.RISCV64.Frame(in.Code).StoresLink }) {
		return ""
	}
	return "the function does not save the return address"
}

// riscv64Instruction refuses all of SYSTEM, ebreak among it, but for c.ebreak.
func riscv64Instruction(instrs []patch.Instr, i int) string {
	code := instrs[i].Code
	switch class := insn.RISCV64.Class(code); {
	case class == insn.System, class == insn.Breakpoint && len(code) == 4:
		return "it is a SYSTEM instruction, which may read or change the interrupt mask"
	case exclusive(insn.RISCV64, instrs, i):
		return inExclusive
	}
	return ""
}
