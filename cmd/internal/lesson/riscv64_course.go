package lesson

import "trapline/kernel/arch"

var _ = courses.Row(arch.RISCV64, &course{
	breakpoint: "ebreak",
	trap: "ebreak (c.ebreak over an instruction of two bytes) raises exception 3. The hart saves the program counter in sepc and the cause in scause, " +
		"moves sstatus.SIE to SPIE, clears it, and goes to stvec (Privileged Architecture, 4.1):",
	frame: []field{
		{"sepc", arch.RiscvPC, "the breakpoint"},
		{"sstatus", arch.RiscvSSTATUS, "SIE is bit 1, SPP (the level it came from) bit 8"},
		{"sp", arch.RiscvSP, "stack pointer"},
		{"ra", arch.RiscvRA, "return address"},
		{"tp", arch.RiscvTP, "the current thread"},
	},
	mask:   "SIE, bit 1 of sstatus",
	masked: func(regs []uint64) bool { return regs[arch.RiscvSSTATUS]&(1<<1) == 0 },
	double: true,
})
