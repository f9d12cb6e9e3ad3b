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

// A program is a filter as the kernel takes it.
type program []unix.SockFilter

// assembled is an instruction as the kernel takes it.
func assembled(in bpf.Instruction) unix.SockFilter {
	raw, err := in.Assemble()
	if err != nil {
		panic(err) // they are all written here
	}
	return unix.SockFilter{Code: raw.Op, Jt: raw.Jt, Jf: raw.Jf, K: raw.K}
}

func (p program) add(all ...bpf.Instruction) program {
	for _, in := range all {
		p = append(p, assembled(in))
	}
	return p
}

// head loads the number of a system call, if it is one of this architecture's.
var head = []bpf.Instruction{
	bpf.LoadAbsolute{Off: offArch, Size: 4},
	bpf.JumpIf{Cond: bpf.JumpEqual, Val: architecture, SkipTrue: 1},
	kill,
	bpf.LoadAbsolute{Off: offNumber, Size: 4},
	bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1},
	kill,
}

// filter is the program that decides about each system call of the process pid. It looks for the
// number by bisection. A kernel since Linux 5.11 asks it only where arguments matter: it has run it for
// every number before, and remembers which are allowed.
func filter(children bool, pid int) program {
	rules, others := ours(uint32(pid)), refused
	if children {
		rules, others = theirs(), allowed
	}
	return make(program, 0, 512).add(head...).bisect(spans(rules, others))
}

// spans sorts rules into spans: each stands for the numbers from its own to that of the next one.
// Numbers without a rule are others, those that are not known unknown.
func spans(rules []rule, others []bpf.Instruction) []rule {
	all := make([]rule, 0, 256)
	var by [newest + 1]uint16 // the rule for a number, counted from 1
	for i, r := range rules {
		by[r.number] = uint16(i + 1)
	}
	for n, i := range by {
		then := others
		if i > 0 {
			then = rules[i-1].then
		}
		if len(all) == 0 || &all[len(all)-1].then[0] != &then[0] {
			all = append(all, rule{uint32(n), then})
		}
	}
	return append(all, rule{newest + 1, []bpf.Instruction{unknown}})
}

// bisect adds to a program what finds the span of a number. A jump passes over less than half of a
// program, at most 255 instructions.
func (p program) bisect(all []rule) program {
	if len(all) == 1 {
		return p.add(all[0].then...)
	}
	at, half := len(p), len(all)/2
	p = append(p, unix.SockFilter{}).bisect(all[:half])
	p[at] = assembled(bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: all[half].number, SkipTrue: uint8(len(p) - at - 1)})
	return p.bisect(all[half:])
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
func installFilter(p program) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := noNewPrivileges(); err != nil {
		return err
	}
	return setFilter(&unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]})
}

// setFilter installs the filter. Without SPEC_ALLOW a Linux before 5.16 would also turn off the
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
