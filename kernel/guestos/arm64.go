package guestos

import "trapline/kernel/arch"

// arm64: the kernel keeps the current thread in SP_EL0, which it does not need as a stack
// pointer, and a CPU's own area at TPIDR_EL1.
var arm64 = isas.Row(arch.ARM64, &isa{
	userMode:    arm64User,
	currentTask: arm64CurrentTask,
	anchor:      anchor{"vectors", arch.ARM64VBAR}, // set by the last instructions before start_kernel
	record:      record{next: 0, ret: 8},
	frames:      arm64Frames,
	savedRegs:   arm64SavedReg,
	savedSize:   336,
	callArgs:    arch.ARM64.Args[:6],
	callPrefix:  "__arm64_sys_",
	signalFlag:  0,
})

// arm64CurrentTask reads SP_EL0. While the user runs, and in the code that enters and
// leaves the kernel, that may be the user's stack pointer, any number at all; there it is
// the per-CPU variable __entry_task, the one that this code takes it from. The variable
// changes a little before SP_EL0 does, and is 0 until the first switch.
func arm64CurrentTask(l *linux, mem Mem, regs arch.Regs) (task uint64, err error) {
	if l.percpu.entryTask != 0 && (arm64User(regs) || l.inEntry(regs.Reg(arch.ARM64PC))) {
		at := l.percpu.entryTask + l.img.Slide() + regs.Reg(arch.ARM64TPIDR)
		if task, err = l.u64(mem, at); err == nil && task != 0 {
			return task, nil
		}
	}
	if task = regs.Reg(arch.ARM64SP_EL0); highHalf(task) {
		return task, nil
	}
	return 0, err
}

// arm64User reports whether the CPU is at EL0 (Arm ARM, C5.2.19).
func arm64User(r arch.Regs) bool { return r.Reg(arch.ARM64PSTATE)&0xf == 0 }

// arm64SavedReg: struct pt_regs begins with X0 to X30, SP, PC and PSTATE.
func arm64SavedReg(r arch.Reg) int {
	if r <= arch.ARM64PSTATE {
		return 8 * int(r)
	}
	return -1
}
