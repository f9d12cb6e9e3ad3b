package guestos

import (
	"encoding/binary"
	"errors"

	"trapline/kernel/arch"
)

// Mem is guest memory at virtual addresses, as the kernel sees it.
type Mem interface {
	// ReadMem fills p from addr, or fails where something is not mapped.
	ReadMem(addr uint64, p []byte) error
}

// A Thread is a thread of the guest.
type Thread struct {
	// Key identifies a thread for good, unlike its ID and the address of its
	// structures, which are used again after it has ended. It is never 0.
	Key uint64

	PID, TID, PPID int // process, thread and parent process, as the guest's root sees them
	UID, GID       uint32
	Execname       string // name of the program, as the kernel keeps it
	Errno          int32  // of its last system call; 0 if the kernel keeps none
	Addr           uint64 // of the kernel's structure for the thread, 0 if there is none
}

// ErrNoThread is wrapped by errors of [OS.Thread] when the image does not tell how to
// find threads: it will not get better on another try, and tracing can go on without.
var ErrNoThread = errors.New("no thread information")

// An OS reads the state of one guest. It keeps buffers: one goroutine at a time may use it.
type OS interface {
	// System is what is known of all such guests.
	System() *System
	// Thread is the current thread of the CPU. It fails with what mem fails with, or
	// with an error that wraps ErrNoThread.
	Thread(mem Mem, regs arch.Regs) (Thread, error)
	// Stack fills pcs with the kernel's call stack, innermost first: the CPU's program
	// counter, then return addresses. It gives their number, 0 in user mode. A stack that
	// cannot be followed to its end is cut short.
	Stack(mem Mem, regs arch.Regs, pcs []uint64) int
	// Slide is how far the kernel has moved itself from where it was linked (KASLR). It is
	// not known before the boot has come to a certain point, which comes early.
	Slide(regs arch.Regs) (delta uint64, known bool)
	// Unsafe says why a tracer in the guest itself could not put a breakpoint at addr,
	// "" if it could.
	Unsafe(addr uint64) string
}

// Parts are parts of a Thread that lie elsewhere in the guest's memory than the rest.
type Parts uint8

// Parts of a Thread.
const (
	Parent      Parts = 1 << iota // PPID
	Credentials                   // UID, GID
)

// A Sparing OS can leave parts of a Thread unread, when nobody asks for them: they are 0.
type Sparing interface {
	// Spare has these parts left out from now on, and no others.
	Spare(Parts)
}

// An Enterer is an OS in which it depends on the program counter what the current thread is,
// in some of the kernel's code.
type Enterer interface {
	// Enters reports whether the kernel is entered or left in the code at an address. At any other
	// address of the kernel Thread does not depend on it.
	Enters(addr uint64) bool
}

// Numbered are the registers of a CPU that knows its number, from 0. Those that a tracer hands to
// [OS.Thread] are.
type Numbered interface {
	arch.Regs
	ID() int
}

// A Partial OS does not know everything that programs may ask for.
type Partial interface {
	// Unknown says why a part of a Thread is always 0 or "", or why a stack is always its innermost
	// function alone; "" for what is known. The part has the name that D has for it: "execname",
	// "stack".
	Unknown(part string) string
}

// A Switcher is an OS that knows where its kernel goes from one thread to another.
type Switcher interface {
	// SwitchFuncs are the names of the functions that it does so in. At the first instruction the
	// current thread is still the one that the CPU leaves, or would leave.
	SwitchFuncs() []string
	// OneThread reports whether all CPUs are always in the same thread.
	OneThread() bool
}

// noThread is the key of the only thread there is before, or without, threads.
const noThread = ^uint64(0)

// one is a stack of one frame.
func one(pc uint64, pcs []uint64) int {
	if len(pcs) == 0 {
		return 0
	}
	pcs[0] = pc
	return 1
}

// reader reads words of guest memory. Its buffer is a part of something on the heap, so
// that a read allocates nothing.
type reader struct {
	word [8]byte
}

func (r *reader) u64(mem Mem, addr uint64) (uint64, error) {
	err := mem.ReadMem(addr, r.word[:])
	return binary.LittleEndian.Uint64(r.word[:]), err
}

func (r *reader) u32(mem Mem, addr uint64) (uint32, error) {
	err := mem.ReadMem(addr, r.word[:4])
	return binary.LittleEndian.Uint32(r.word[:]), err
}

// text64 reads a string of at most 64 bytes. It may be that only the first are mapped.
func (r *reader) text64(mem Mem, addr uint64) (string, error) {
	var b [64]byte
	for i := range b {
		if err := mem.ReadMem(addr+uint64(i), b[i:i+1]); err != nil {
			return "", err
		}
		if b[i] == 0 {
			return string(b[:i]), nil
		}
	}
	return string(b[:]), nil
}

// highHalf reports whether an address is in the kernel's half, not in user space.
func highHalf(addr uint64) bool { return addr>>63 != 0 }
