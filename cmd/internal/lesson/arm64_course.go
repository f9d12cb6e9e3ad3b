package lesson

import "trapline/kernel/arch"

var _ = courses.Row(arch.ARM64, &course{
	breakpoint: "brk",
	trap: "brk raises a synchronous exception of class 0x3c to EL1, the kernel's level. The CPU saves the program counter in ELR_EL1 and the state in SPSR_EL1, " +
		"masks interrupts and goes to the vector table (Arm ARM, D1.3):",
	frame: []field{
		{"ELR", arch.ARM64PC, "the breakpoint"},
		{"SPSR", arch.ARM64PSTATE, "NZCV in bits 31:28, interrupt masks DAIF in 9:6, level in 3:0"},
		{"SP", arch.ARM64SP, "stack pointer"},
		{"X30", arch.ARM64LR, "link register"},
		{"X29", arch.ARM64FP, "frame pointer"},
	},
	mask:   "I, bit 7 of PSTATE, masks them when it is 1",
	masked: func(regs []uint64) bool { return regs[arch.ARM64PSTATE]&(1<<7) != 0 },
	double: true,
})
