package guestos

import (
	"fmt"

	"trapline/kernel/arch"
)

// isa is what an architecture adds: how kernels on it find the current thread and lay
// out their stacks.
type isa struct {
	// userMode reports whether the CPU runs user code.
	userMode func(arch.Regs) bool
	// currentTask finds Linux's current task_struct; 0 means that the boot CPU has not
	// got so far.
	currentTask func(l *linux, mem Mem, regs arch.Regs) (uint64, error)
	anchor      anchor
	// orc follows Linux's stack by its ORC tables. It is nil where Linux has none.
	orc func(l *linux, t *orcTable, mem Mem, regs arch.Regs, pcs []uint64) int
	// savedRegs is where the kernel keeps a register of user mode, from the start of the
	// record at the top of the thread's stack, which has savedSize bytes; -1: nowhere.
	savedRegs func(r arch.Reg) int
	savedSize int
	// callArgs are the registers with the arguments of a system call, which savedRegs knows.
	callArgs []arch.Reg
	// callPrefix begins the names of Linux's functions that take them from the record.
	callPrefix string
	// savedUser reports whether such a record is one of user mode, where userMode cannot.
	savedUser func(arch.Regs) bool
	// signalFlag is the bit of a thread's flags that says it has a signal to take.
	signalFlag int
	// record is where a frame pointer leads to.
	record record
	// frames follows a stack of frame pointers.
	frames func(f *frames, mem Mem, regs arch.Regs, pcs []uint64) int
}

// isas has how kernels keep the thread and lay out stacks on each architecture.
var isas arch.Table[*isa]

func isaFor(a *arch.Arch) (*isa, error) {
	if i, ok := isas.Of(a); ok {
		return i, nil
	}
	return nil, fmt.Errorf("no knowledge of threads and stacks on %s", a)
}
