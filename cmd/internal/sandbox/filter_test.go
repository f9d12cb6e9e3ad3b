package sandbox

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const pid = 4711

// decide runs a filter on a system call, as the kernel would.
func decide(t *testing.T, p program, arch, number uint32, args ...uint64) bpf.RetConstant {
	t.Helper()
	var instructions []bpf.Instruction
	for _, i := range p {
		instructions = append(instructions, bpf.RawInstruction{Op: i.Code, Jt: i.Jt, Jf: i.Jf, K: i.K}.Disassemble())
	}
	vm, err := bpf.NewVM(instructions)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, offArgs+8*6)
	word := binary.BigEndian.PutUint32 // packets have that order, seccomp the host's
	word(data[offNumber:], number)
	word(data[offArch:], arch)
	for i, a := range args {
		word(data[offArgs+8*i:], uint32(a))
		word(data[offArgs+8*i+4:], uint32(a>>32))
	}
	verdict, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return bpf.RetConstant{Val: uint32(verdict)}
}

func TestFilter(t *testing.T) {
	const thread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD
	for _, c := range []struct {
		name         string
		number       uint32
		args         []uint64
		ours, theirs bpf.RetConstant
	}{
		{"write", unix.SYS_WRITE, nil, allow, allow},
		{"uname", unix.SYS_UNAME, nil, allow, allow},
		{"memory that is executed", unix.SYS_MMAP, []uint64{0, 4096, unix.PROT_READ | unix.PROT_WRITE | unix.PROT_EXEC}, allow, allow},
		{"a thread of glibc", unix.SYS_CLONE, []uint64{0x3d0f00}, allow, allow},
		{"a thread of Go", unix.SYS_CLONE, []uint64{thread | unix.CLONE_SYSVSEM}, allow, allow},
		{"a process", unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, refuse, allow},
		{"a process that shares memory", unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)}, refuse, allow},
		{"a thread with its own namespace", unix.SYS_CLONE, []uint64{thread | unix.CLONE_NEWNET}, refuse, refuse},
		{"a process with its own namespace", unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, refuse, refuse},
		{"clone3", unix.SYS_CLONE3, nil, unknown, unknown},
		{"execve", unix.SYS_EXECVE, nil, refuse, allow},
		{"a signal to a thread of its own", unix.SYS_TGKILL, []uint64{pid, pid + 1, 23}, allow, allow},
		{"a signal to a thread of another", unix.SYS_TGKILL, []uint64{pid + 1, pid + 1, 23}, refuse, allow},
		{"a signal to itself", unix.SYS_KILL, []uint64{pid, 6}, allow, allow},
		{"a signal to all", unix.SYS_KILL, []uint64{1<<64 - 1, 9}, refuse, allow},
		{"limits of its own", unix.SYS_PRLIMIT64, []uint64{0, 7}, allow, allow},
		{"limits of another", unix.SYS_PRLIMIT64, []uint64{1, 7}, refuse, allow},
		{"the terminal's size", unix.SYS_IOCTL, []uint64{1, unix.TIOCGWINSZ}, allow, allow},
		{"input to the terminal", unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, refuse, refuse},
		{"input to the terminal, and high bits", unix.SYS_IOCTL, []uint64{0, 1<<32 | unix.TIOCSTI}, refuse, refuse},
		{"the console's selection", unix.SYS_IOCTL, []uint64{0, unix.TIOCLINUX}, refuse, refuse},
		{"flags of a file", unix.SYS_FCNTL, []uint64{1, unix.F_SETFL}, allow, allow},
		{"who gets signals of a file", unix.SYS_FCNTL, []uint64{1, unix.F_SETOWN}, refuse, allow},
		{"a name for memory", unix.SYS_PRCTL, []uint64{unix.PR_SET_VMA}, allow, allow},
		{"another prctl", unix.SYS_PRCTL, []uint64{unix.PR_SET_MM}, refuse, allow},
		{"socket", unix.SYS_SOCKET, nil, refuse, refuse},
		{"ptrace", unix.SYS_PTRACE, nil, refuse, refuse},
		{"bpf", unix.SYS_BPF, nil, refuse, refuse},
		{"io_uring", unix.SYS_IO_URING_SETUP, nil, refuse, refuse},
		{"the last known", newest, nil, refuse, allow},
		{"one of the future", newest + 1, nil, unknown, unknown},
		{"x32", x32 | unix.SYS_WRITE, nil, kill, kill},
	} {
		for i, want := range []bpf.RetConstant{c.ours, c.theirs} {
			if have := decide(t, filter(i == 1, pid), architecture, c.number, c.args...); have != want {
				t.Errorf("%s, children %t: %#x, want %#x", c.name, i == 1, have.Val, want.Val)
			}
		}
	}
	if have := decide(t, filter(false, pid), unix.AUDIT_ARCH_I386, 4); have != kill {
		t.Errorf("of a program of 32 bits: %#x", have.Val)
	}
}

// No system call is in two rules: the second would not count.
func TestRulesOnce(t *testing.T) {
	for _, rules := range [][]rule{ours(pid), theirs()} {
		seen := map[uint32]bool{}
		for _, r := range rules {
			if seen[r.number] {
				t.Errorf("system call %d is in two rules", r.number)
			}
			seen[r.number] = true
		}
	}
}

// Every number comes to its own rule.
func TestNumbers(t *testing.T) {
	for _, children := range []bool{false, true} {
		program := filter(children, pid)
		want, others := map[uint32]bpf.RetConstant{}, refuse
		rules := ours(pid)
		if children {
			rules, others = theirs(), allow
		}
		for n := range uint32(newest + 1) {
			want[n] = others
		}
		for _, r := range rules {
			delete(want, r.number)
			if verdict, ok := r.then[0].(bpf.RetConstant); ok {
				want[r.number] = verdict
			}
		}
		for n, verdict := range want {
			if have := decide(t, program, architecture, n); have != verdict {
				t.Errorf("children %t, system call %d: %#x, want %#x", children, n, have.Val, verdict.Val)
			}
		}
		t.Logf("children %t: %d instructions", children, len(program))
	}
}

// What a program must not do at all is not allowed to us either.
func TestDangerous(t *testing.T) {
	for _, n := range slices.Concat(dangerous, olderDangerous) {
		if have := decide(t, filter(false, pid), architecture, n); have != refuse {
			t.Errorf("system call %d: %#x", n, have.Val)
		}
	}
}
