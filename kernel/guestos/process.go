package guestos

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"

	"trapline/kernel/arch"
	"trapline/kernel/debuginfo"
)

// Processes is an OS that knows what its processes do in user mode.
type Processes interface {
	// UserReg is a register as the current thread has it in user mode. It is not ok for a
	// thread that has none, and for a register that the kernel does not keep.
	UserReg(mem Mem, regs arch.Regs, r arch.Reg) (v uint64, ok bool)
	// Parents calls yield for the current process, its parent, and so on up to the first.
	Parents(mem Mem, regs arch.Regs, yield func(pid int) bool) error
	// Arguments are those of the current process, each with a NUL behind it, at most n
	// bytes; none of a thread of the kernel.
	Arguments(mem Mem, regs arch.Regs, n int) ([]byte, error)
}

// process is where Linux keeps what Processes returns: offsets in bytes. The zero value
// knows nothing.
type process struct {
	stack, mm        uint64 // in task_struct
	argStart, argEnd uint64 // in mm_struct
}

// processOf finds the offsets, or none if one is missing.
func processOf(all *debuginfo.Types) process {
	var p process
	task, err1 := structOf(all, "task_struct")
	mm, err2 := structOf(all, "mm_struct")
	if err1 != nil || err2 != nil || cmp.Or(
		field(task, "stack", 8, &p.stack), field(task, "mm", 8, &p.mm),
		field(mm, "arg_start", 8, &p.argStart), field(mm, "arg_end", 8, &p.argEnd),
	) != nil {
		return process{}
	}
	return p
}

// Stacks of threads have 4 pages or, with some debugging options, 8. Above the registers
// that are saved there may be 16 bytes of padding.
const (
	threadStack = 16 << 10
	stackPad    = 16
)

// UserReg looks at the record that the entry to the kernel left at the top of the stack.
func (l *linux) UserReg(mem Mem, regs arch.Regs, r arch.Reg) (v uint64, ok bool) {
	if l.isa.userMode(regs) {
		return regs.Reg(r), true
	}
	p := l.types().process
	if l.isa.savedRegs == nil || p.mm == 0 || l.isa.savedRegs(r) < 0 {
		return 0, false
	}
	task, err := l.isa.currentTask(l, mem, regs)
	if err != nil || task == 0 {
		return 0, false
	}
	stack, err := l.u64(mem, task+p.stack)
	if err != nil {
		return 0, false
	}
	for _, size := range []uint64{threadStack, 2 * threadStack} {
		for _, pad := range []uint64{0, stackPad} {
			at := stack + size - pad - uint64(l.isa.savedSize)
			if l.savedUserMode(mem, at) {
				v, err = l.u64(mem, at+uint64(l.isa.savedRegs(r)))
				return v, err == nil
			}
		}
	}
	return 0, false
}

// savedUserMode reports whether the record at that address is one of user mode.
func (l *linux) savedUserMode(mem Mem, at uint64) bool {
	regs := &savedRegs{&l.reader, l.isa.savedRegs, mem, at}
	if l.isa.savedUser != nil {
		return l.isa.savedUser(regs)
	}
	return l.isa.userMode(regs)
}

// savedRegs are the registers of a record of them.
type savedRegs struct {
	*reader
	place func(arch.Reg) int // from at; less than 0: nowhere
	mem   Mem
	at    uint64
}

// Reg is 0 for a register that is not in the record or can not be read.
func (s *savedRegs) Reg(r arch.Reg) uint64 {
	off := s.place(r)
	if off < 0 {
		return 0
	}
	v, err := s.u64(s.mem, s.at+uint64(off))
	if err != nil {
		return 0
	}
	return v
}

// SetReg does nothing.
func (*savedRegs) SetReg(arch.Reg, uint64) {}

// maxParents bounds the ancestors of a process.
const maxParents = 10000

// Parents follows real_parent up to the process that is its own parent.
func (l *linux) Parents(mem Mem, regs arch.Regs, yield func(pid int) bool) error {
	lay := l.types().layout
	if lay == nil {
		return l.types().err
	}
	task, err := l.isa.currentTask(l, mem, regs)
	for range maxParents {
		if err != nil || task == 0 {
			return err
		}
		pid, e := l.u32(mem, task+lay.tgid)
		if e != nil {
			return e
		}
		if !yield(int(int32(pid))) {
			return nil
		}
		parent, e := l.u64(mem, task+lay.parent)
		if parent == task {
			return e
		}
		task, err = parent, e
	}
	return errors.New("a process has too many ancestors")
}

// Arguments reads them from the process's own memory.
func (l *linux) Arguments(mem Mem, regs arch.Regs, n int) ([]byte, error) {
	p := l.types().process
	task, err := l.isa.currentTask(l, mem, regs)
	if err != nil || task == 0 || p.mm == 0 {
		return nil, err
	}
	mm, err := l.u64(mem, task+p.mm)
	if err != nil || mm == 0 {
		return nil, err
	}
	from, err := l.u64(mem, mm+p.argStart)
	if err != nil {
		return nil, err
	}
	to, err := l.u64(mem, mm+p.argEnd)
	if err != nil || to <= from {
		return nil, err
	}
	b := make([]byte, min(to-from, uint64(n)))
	return b, mem.ReadMem(from, b)
}

// UserStack follows the frame pointers of the process, as far as it keeps them: each
// leads to the next, which is higher, and to a return address behind that.
func UserStack(p Processes, a *arch.Arch, mem Mem, regs arch.Regs, pcs []uint64) (n int) {
	pc, ok := p.UserReg(mem, regs, a.PC)
	fp, ok2 := p.UserReg(mem, regs, a.FP)
	isa, err := isaFor(a)
	if !ok || !ok2 || len(pcs) == 0 || err != nil {
		return 0
	}
	pcs[0] = pc
	for n = 1; n < len(pcs) && fp != 0 && fp%8 == 0 && !highHalf(fp); n++ {
		var frame [16]byte
		if mem.ReadMem(fp+isa.record.next, frame[:]) != nil {
			break
		}
		next := binary.LittleEndian.Uint64(frame[:])
		ret := binary.LittleEndian.Uint64(frame[8:])
		if ret == 0 || highHalf(ret) {
			break
		}
		pcs[n] = ret
		if next <= fp {
			return n + 1
		}
		fp = next
	}
	return n
}

// JoinArguments makes one line of arguments that end in NULs.
func JoinArguments(b []byte) []byte {
	return bytes.ReplaceAll(bytes.TrimRight(b, "\x00"), []byte{0}, []byte{' '})
}
