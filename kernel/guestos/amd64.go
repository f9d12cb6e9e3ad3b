package guestos

import (
	"slices"

	"trapline/kernel/arch"
)

// amd64: a CPU's own area is at the base of GS, stacks grow down.
var _ = isas.Row(arch.AMD64, &isa{
	userMode:    func(r arch.Regs) bool { return r.Reg(arch.CS)&3 != 0 },
	currentTask: amd64CurrentTask,
	anchor:      anchor{"entry_SYSCALL_64", arch.LSTAR}, // SDM vol. 4, IA32_LSTAR
	orc:         amd64ORC,
	record:      record{next: 0, ret: 8},
	frames:      amd64Frames,
	savedRegs:   amd64SavedReg,
	savedSize:   168,
	callArgs:    []arch.Reg{arch.RDI, arch.RSI, arch.RDX, arch.R10, arch.R8, arch.R9},
	callPrefix:  "__x64_sys_",
	signalFlag:  2,
})

// amd64Saved is struct pt_regs in registers of 8 bytes; 255 is the number of the system call.
var amd64Saved = []arch.Reg{
	arch.R15, arch.R14, arch.R13, arch.R12, arch.RBP, arch.RBX, arch.R11, arch.R10, arch.R9, arch.R8,
	arch.RAX, arch.RCX, arch.RDX, arch.RSI, arch.RDI, 255, arch.RIP, arch.CS, arch.RFLAGS, arch.RSP, arch.SS,
}

func amd64SavedReg(r arch.Reg) int {
	if i := slices.Index(amd64Saved, r); i >= 0 {
		return 8 * i
	}
	return -1
}

// amd64CurrentTask reads the CPU's current task_struct from its per-CPU area.
//
// The area is at the base of GS, but not always: on the first instructions after a
// system call, and at exceptions from user mode until SWAPGS, that is the user's, which
// can be any number, and the kernel's is the one that SWAPGS would bring in. The area
// knows its own address (this_cpu_off), which decides.
func amd64CurrentTask(l *linux, mem Mem, regs arch.Regs) (task uint64, err error) {
	current, own := l.place(l.percpu.current), l.place(l.percpu.self)
	if own == 0 { // a kernel for one CPU: an ordinary variable
		return l.u64(mem, current)
	}
	for _, gs := range [2]arch.Reg{arch.GSBase, arch.KernelGSBase} {
		base := regs.Reg(gs)
		if !highHalf(base) {
			continue
		}
		self, e := l.u64(mem, base+own)
		if e == nil && self == base {
			return l.u64(mem, base+current)
		}
		err = e
	}
	// Neither is an area: the boot CPU has none yet, unless one could not be read.
	return 0, err
}
