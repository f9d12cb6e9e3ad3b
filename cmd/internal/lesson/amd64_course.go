package lesson

import (
	"trapline/insn"
	"trapline/kernel/arch"
)

var _ = courses.Row(arch.AMD64, &course{
	breakpoint: "int3",
	trap: "int3 is one byte long, so it fits over any instruction. It raises the exception #BP, vector 3. The CPU saves where it was; " +
		"RIP is already one byte past the breakpoint (SDM vol. 3, 6.4.4):",
	frame: []field{
		{"SS", arch.SS, "stack segment"},
		{"RSP", arch.RSP, "stack pointer"},
		{"RFLAGS", arch.RFLAGS, "flags"},
		{"CS", arch.CS, "code segment: the low two bits are the privilege level"},
		{"RIP", arch.RIP, "the breakpoint + 1"},
	},
	mask:      "IF, bit 9 of RFLAGS",
	masked:    func(regs []uint64) bool { return regs[arch.RFLAGS]&(1<<9) == 0 },
	displaced: insn.AMD64Displacement,
})
