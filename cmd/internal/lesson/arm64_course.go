package lesson

import "trapline/kernel/arch"

var _ = courses.Row(arch.ARM64, &course{
	breakpoint: "brk",
	trap: "brk raises a synchronous exception of class 0x3c to EL1, the kernel's level. The CPU saves the program counter in ELR_EL1 and the state in SPSR_EL1, " +
		"masks interrupts and goes to the vector table (Arm ARM, D1.3):",
	frame: []field{
		{"ELR", arch.ArmPC, "the breakpoint"},
		{"SPSR", arch.ArmPSTATE, "NZCV in bits 31:28, interrupt masks DAIF in 9:6, level in 3:0"},
		{"SP", arch.ArmSP, "stack pointer"},
		{"X30", arch.ArmLR, "link register"},
		{"X29", arch.ArmFP, "frame pointer"},
	},
	mask:   "I, bit 7 of PSTATE, masks them when it is 1",
	masked: func(regs []uint64) bool { return regs[arch.ArmPSTATE]&(1<<7) != 0 },
	double: true,
})
