package guestos

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
	"trapline/kernel/debuginfo"
)

// A MemWriter is guest memory that can be changed.
type MemWriter interface {
	Mem
	// WriteMem stores p at addr, or fails where something is not mapped.
	WriteMem(addr uint64, p []byte) error
}

// Signaler is an OS whose threads can be sent a signal from outside.
type Signaler interface {
	// CanSignal says why that is not possible with this kernel, nil if it is.
	CanSignal() error
	// Signal sends the current thread the signal n, which must be in 1 to LastSignal. The
	// thread takes it when it next leaves the kernel; a thread of the kernel, never.
	Signal(mem MemWriter, regs arch.Regs, n int) error
	// StopSignal is the number of the signal that stops a process.
	StopSignal() int
}

// LastSignal is the highest number of a signal.
const LastSignal = 64

// linuxStop is SIGSTOP there, on all architectures here.
const linuxStop = 19

// StopSignal implements Signaler.
func (l *linux) StopSignal() int { return linuxStop }

// signals is where Linux keeps the signals of a thread: offsets in task_struct, in bytes.
// The zero value knows nothing.
type signals struct {
	pending uint64 // set of the signals that wait for the thread, bit n-1 for signal n
	flags   uint64 // of thread_info
}

// signalsOf finds the offsets. A thread_info outside of task_struct is not known here.
func signalsOf(all *debuginfo.Types) (signals, error) {
	var s signals
	task, err := structOf(all, "task_struct")
	if err != nil {
		return s, err
	}
	s.pending, err = nested(task, "pending", "signal", LastSignal/8)
	if err != nil {
		return s, err
	}
	s.flags, err = nested(task, "thread_info", "flags", 8)
	return s, err
}

// nested is the offset of a member of a member, which must have size bytes.
func nested(s *ctypes.Type, outer, inner string, size int) (uint64, error) {
	f, ok := s.Member(outer)
	if !ok {
		return 0, fmt.Errorf("struct %s has no member %s", s.Name, outer)
	}
	var off uint64
	err := field(f.Type.Base(), inner, size, &off)
	return uint64(f.Offset) + off, err
}

// Linux numbers the flags of a thread by a macro, which no image has; the numbers
// in the table of architectures hold up to this version.
const signalMajor, signalMinor = 6, 12

// CanSignal wants a kernel whose structures and flags are known.
func (l *linux) CanSignal() error {
	var major, minor int
	fmt.Sscanf(l.img.Banner(linuxBanner), "Linux version %d.%d", &major, &minor)
	if cmp.Or(cmp.Compare(major, signalMajor), cmp.Compare(minor, signalMinor)) > 0 {
		return fmt.Errorf("how Linux after %d.%d marks a thread that has a signal is not known", signalMajor, signalMinor)
	}
	return l.types().noSignals
}

// Signal puts the signal into the set of those that wait for the thread, and marks the
// thread as one that has to look there before it leaves the kernel. A signal in the set
// needs no more: Linux does without the record of its sender when memory is short.
func (l *linux) Signal(mem MemWriter, regs arch.Regs, n int) error {
	if n < 1 || n > LastSignal {
		return fmt.Errorf("no signal has the number %d", n)
	}
	task, err := l.isa.currentTask(l, mem, regs)
	if err != nil || task == 0 {
		return err
	}
	t := l.types()
	if mm, err := l.u64(mem, task+t.process.mm); err != nil || mm == 0 {
		return err
	}
	if err := l.setBit(mem, task+t.signals.pending, n-1); err != nil {
		return err
	}
	return l.setBit(mem, task+t.signals.flags, l.isa.signalFlag)
}

func (l *linux) setBit(mem MemWriter, addr uint64, bit int) error {
	v, err := l.u64(mem, addr)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(l.word[:], v|1<<bit)
	return mem.WriteMem(addr, l.word[:])
}
