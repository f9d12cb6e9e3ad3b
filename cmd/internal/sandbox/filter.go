package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets in what a filter sees of a system call (struct seccomp_data, seccomp(2)), in bytes.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16 // 8 bytes each, the low half first
)

// x32 is the bit of the system calls of another numbering with the same architecture.
const x32 = 0x40000000

// What becomes of a system call.
var (
	allow   = bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	refuse  = bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	unknown = bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)} // the caller has another way
	kill    = bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS}
)

// A rule says what becomes of a system call: the instructions always return. They may load
// arguments in place of its number.
type rule struct {
	number uint32
	then   []bpf.Instruction
}

// filter is the program that decides about each system call of the process pid. A kernel since
// Linux 5.11 asks it only where arguments matter, and knows the other answers by number; an older
// one goes through it from the top, where the frequent ones are.
func filter(children bool, pid int) []bpf.Instruction {
	rules, last := ours(uint32(pid)), refuse
	if children {
		rules, last = theirs(), allow
	}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: architecture, SkipTrue: 1},
		kill,
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1},
		kill,
	}
	for _, r := range rules {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: r.number, SkipFalse: uint8(len(r.then))})
		program = append(program, r.then...)
	}
	return append(program,
		bpf.JumpIf{Cond: bpf.JumpLessOrEqual, Val: newest, SkipTrue: 1},
		unknown,
		last,
	)
}

// each makes rules for system calls whose arguments do not matter.
func each(verdict bpf.Instruction, numbers ...uint32) (rules []rule) {
	for _, n := range numbers {
		rules = append(rules, rule{n, []bpf.Instruction{verdict}})
	}
	return rules
}

// argument loads the low half of an argument, the first is 0: all that the kernel looks at of an
// argument of type int.
func argument(i uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offArgs + 8*i, Size: 4} }

// among is then where argument i is one of the values, otherwise it is other.
func among(i uint32, then, other bpf.Instruction, values ...uint32) []bpf.Instruction {
	program := []bpf.Instruction{argument(i)}
	for _, v := range values {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipFalse: 1}, then)
	}
	return append(program, other)
}

// installFilter sets the filter for all threads, and takes from them what setuid programs could
// give back.
func installFilter(program []bpf.Instruction) error {
	raw, err := bpf.Assemble(program)
	if err != nil {
		return fmt.Errorf("the filter of system calls: %w", err)
	}
	code := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		code[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	return setFilter(&unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]})
}

// setFilter tells the kernel. Without SPEC_ALLOW a Linux before 5.16 would also turn off the
// host's speculation past stores, for which all of the guest would pay.
func setFilter(p *unix.SockFprog) error {
	const flags = unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(p)))
	switch {
	case errno != 0:
		return fmt.Errorf("seccomp: %w", errno)
	case thread != 0:
		return fmt.Errorf("seccomp: thread %d has another filter", thread)
	}
	return nil
}

// seccompAvailable reports whether the kernel has filters that refuse, and lets the process ask.
func seccompAvailable() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}
