package lesson

import "trapline/kernel/arch"

var _ = courses.Row(arch.RISCV64, &course{
	breakpoint: "ebreak",
	trap: "ebreak (c.ebreak over an instruction of two bytes) raises exception 3. The hart saves the program counter in sepc and the cause in scause, " +
		"moves sstatus.SIE to SPIE, clears it, and goes to stvec (Privileged Architecture, 4.1):",
	frame: []field{
		{"sepc", arch.RISCV64PC, "the breakpoint"},
		{"sstatus", arch.RISCV64SSTATUS, "SIE is bit 1, SPP (the level it came from) bit 8"},
		{"sp", arch.RISCV64SP, "stack pointer"},
		{"ra", arch.RISCV64RA, "return address"},
		{"tp", arch.RISCV64TP, "the current thread"},
	},
	mask:   "SIE, bit 1 of sstatus",
	masked: func(regs []uint64) bool { return regs[arch.RISCV64SSTATUS]&(1<<1) == 0 },
	double: true,
})
