package guestos

import (
	"errors"

	"trapline/kernel/arch"
)

// savedAt is the offset of a register in a struct trapframe, less than 0 if it is not there.
func (f *freebsd) savedAt(r arch.Reg) int {
	if l := f.types().layout; l != nil {
		return l.trap.at(r)
	}
	return -1
}

// UserReg looks at the struct trapframe to which the thread's td_frame points: that of its entry from
// user mode.
func (f *freebsd) UserReg(mem Mem, regs arch.Regs, r arch.Reg) (v uint64, ok bool) {
	if f.isa.userMode(regs) {
		return regs.Reg(r), true
	}
	off := f.savedAt(r)
	td, err := f.current(mem, regs)
	if off < 0 || err != nil || td == 0 {
		return 0, false
	}
	at, err := f.u64(mem, td+f.types().layout.frame)
	if err != nil || at == 0 {
		return 0, false
	}
	saved := &savedRegs{&f.reader, f.savedAt, mem, at}
	user := f.isa.userMode
	if f.isa.savedUser != nil {
		user = f.isa.savedUser
	}
	if !user(saved) {
		return 0, false
	}
	v, err = f.u64(mem, at+uint64(off))
	return v, err == nil
}

// Parents follows p_pptr up to process 0, which has no parent.
func (f *freebsd) Parents(mem Mem, regs arch.Regs, yield func(pid int) bool) error {
	proc, err := f.process(mem, regs)
	for range maxParents {
		if err != nil || proc == 0 {
			return err
		}
		l := f.types().layout
		pid, e := f.u32(mem, proc+l.pid)
		if e != nil {
			return e
		}
		if !yield(int(int32(pid))) {
			return nil
		}
		proc, err = f.u64(mem, proc+l.parent)
	}
	return errors.New("a process has too many ancestors")
}

// process is the address of the current struct proc.
func (f *freebsd) process(mem Mem, regs arch.Regs) (uint64, error) {
	td, err := f.current(mem, regs)
	if err != nil || td == 0 {
		return 0, err
	}
	return f.u64(mem, td+f.types().layout.proc)
}

// Arguments reads the copy that the kernel keeps of them, unless they are long
// (kern.ps_arg_cache_limit).
func (f *freebsd) Arguments(mem Mem, regs arch.Regs, n int) ([]byte, error) {
	proc, err := f.process(mem, regs)
	if err != nil || proc == 0 {
		return nil, err
	}
	l := f.types().layout
	args, err := f.u64(mem, proc+l.args)
	if err != nil || args == 0 {
		return nil, err
	}
	length, err := f.u32(mem, args+l.argLength)
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(uint64(length), uint64(n)))
	return b, mem.ReadMem(args+l.argText, b)
}
