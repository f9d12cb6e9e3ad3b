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

// filter is the program that decides about each system call of the process pid. It looks for the
// number by bisection. A kernel since Linux 5.11 asks it only where arguments matter: it has run it for
// every number before, and remembers which are allowed.
func filter(children bool, pid int) []bpf.Instruction {
	rules, others := ours(uint32(pid)), refused
	if children {
		rules, others = theirs(), allowed
	}
	program := append(make([]bpf.Instruction, 0, 512),
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: architecture, SkipTrue: 1},
		kill,
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1},
		kill,
	)
	return bisect(program, spans(rules, others))
}

// spans sorts rules into spans: each stands for the numbers from its own to that of the next one.
// Numbers without a rule are others, those that are not known unknown.
func spans(rules []rule, others []bpf.Instruction) []rule {
	all := make([]rule, 0, 256)
	var then [newest + 1][]bpf.Instruction
	for _, r := range rules {
		then[r.number] = r.then
	}
	for n, t := range then {
		if t == nil {
			t = others
		}
		if len(all) == 0 || &all[len(all)-1].then[0] != &t[0] {
			all = append(all, rule{uint32(n), t})
		}
	}
	return append(all, rule{newest + 1, []bpf.Instruction{unknown}})
}

// bisect adds to a program what finds the span of a number. A jump passes over less than half of a
// program, at most 255 instructions.
func bisect(program []bpf.Instruction, all []rule) []bpf.Instruction {
	if len(all) == 1 {
		return append(program, all[0].then...)
	}
	at, half := len(program), len(all)/2
	program = bisect(append(program, nil), all[:half])
	program[at] = bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: all[half].number, SkipTrue: uint8(len(program) - at - 1)}
	return bisect(program, all[half:])
}

// Rules for system calls whose arguments do not matter.
var (
	allowed = []bpf.Instruction{allow}
	refused = []bpf.Instruction{refuse}
)

// each makes such rules.
func each(verdict []bpf.Instruction, numbers []uint32) []rule {
	rules := make([]rule, len(numbers))
	for i, n := range numbers {
		rules[i] = rule{n, verdict}
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

// installFilter sets the filter, and no_new_privs, for all threads.
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
	if err := noNewPrivileges(); err != nil {
		return err
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
