package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// child is in the environment of a process that plays a part of a test.
const child = "TRAPLINE_TEST_SANDBOX_CHILD"

// again runs a test in a process of its own, which must not be confined here.
func again(t *testing.T, args ...string) (string, *os.ProcessState) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), child+"="+strings.Join(args, ","))
	cmd.Dir = t.TempDir()
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState
}

// A system call with another numbering is none that the filter could tell, and ends the process.
func TestForeignNumbers(t *testing.T) {
	if os.Getenv(child) != "" {
		Enter(Policy{})
		unix.RawSyscall(x32|unix.SYS_GETPID, 0, 0, 0)
		os.Exit(0)
	}
	if !Host().Seccomp {
		t.Skip("this host has no seccomp")
	}
	out, state := again(t, "x32")
	if status := state.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != unix.SIGSYS {
		t.Errorf("%v: %s", state, out)
	}
}

// What a policy names can be used, and what it does not cannot. Without Landlock all can.
func TestPolicy(t *testing.T) {
	if dirs := strings.Split(os.Getenv(child), ","); len(dirs) == 2 {
		usePolicy(t, dirs[0], dirs[1])
		return
	}
	dir, other := t.TempDir(), t.TempDir()
	for _, name := range []string{"read/below", "readable", "write/old", "other"} {
		name = filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(name), 0o755)
		if err := os.WriteFile(name, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, state := again(t, dir, other); !state.Success() {
		t.Error(out)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err != nil && Host().Landlock > 0 {
		t.Error(err)
	}
}

func usePolicy(t *testing.T, dir, other string) {
	in := func(name string) string { return filepath.Join(dir, name) }
	pipe, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	host := Host()
	have, err := Enter(Policy{
		Read:  []string{in("read"), in("readable"), in("missing")},
		Write: []string{in("write"), in("readable")}, // which is no directory
		Files: []string{in("new"), "", in("missing/new"), "/proc/self/fd/" + strings.TrimPrefix(pipe.Name(), "|")},
	})
	if have != host || err != nil && have.Whole() {
		t.Fatal(have, err)
	}
	read := func(name string) error { _, err := os.ReadFile(name); return err }
	write := func(name string) error { return os.WriteFile(name, []byte("x"), 0o666) }
	for _, c := range []struct {
		what    string
		err     error
		refused bool
	}{
		{"read below a directory", read(in("read/below")), false},
		{"read a file", read(in("readable")), false},
		{"read another", read(in("other")), true},
		{"write what may be read", write(in("read/below")), true},
		{"write the file that may be read", write(in("readable")), true},
		{"make below a directory to read", write(in("read/new")), true},
		{"write to the file", write(in("new")), false},
		{"write it again", write(in("new")), false},
		{"remove it", os.Remove(in("new")), true},
		{"make another", write(in("newer")), true},
		{"make below a directory", write(in("write/a")), false},
		{"rename there", os.Rename(in("write/a"), in("write/b")), false},
		{"rename out of it", os.Rename(in("write/b"), filepath.Join(other, "b")), true},
		{"remove there", os.Remove(in("write/old")), false},
		{"make a directory there", os.Mkdir(in("write/d"), 0o777), false},
		{"write in that", write(in("write/d/x")), false},
		{"a temporary file", write(filepath.Join(os.TempDir(), "trapline-never")), true},
	} {
		refused := errors.Is(c.err, unix.EACCES) || errors.Is(c.err, unix.EXDEV)
		if c.err != nil && !refused || have.Landlock > 0 && refused != c.refused {
			t.Errorf("%s: %v", c.what, c.err)
		}
	}
}

// A second call gives nothing back.
func TestEnterTwice(t *testing.T) {
	if file := os.Getenv(child); file != "" {
		first, _ := Enter(Policy{})
		second, err := Enter(Policy{Read: []string{file}, Children: true})
		if first.Seccomp && (second != InForce{} || err == nil) {
			t.Error(first, second, err)
		}
		if _, err := os.Open(file); err == nil && first.Landlock > 0 {
			t.Error("the second call allows what the first does not")
		}
		if err := exec.Command(os.Args[0], "-h").Run(); err == nil && first.Seccomp {
			t.Error("the second call allows to run programs")
		}
		return
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, state := again(t, file); !state.Success() {
		t.Error(out)
	}
}

// What a host refuses is left out, and the rest is in force.
func TestLacking(t *testing.T) {
	calls := map[string][]uint32{
		"landlock": {unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF},
		"rules":    {unix.SYS_LANDLOCK_ADD_RULE},
		"seccomp":  {unix.SYS_SECCOMP},
	}
	if what := os.Getenv(child); what != "" {
		whole := Host()
		if err := installFilter(program{}.add(bpf.LoadAbsolute{Off: offNumber, Size: 4}).
			bisect(spans(each(refused, calls[what]), allowed))); err != nil {
			t.Fatal(err)
		}
		have, err := Enter(Policy{})
		want := map[string]InForce{"landlock": {0, true}, "rules": {0, true}, "seccomp": {whole.Landlock, false}}[what]
		_, open := os.Open("/etc/passwd")
		_, socket := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if have != want || err == nil || (open != nil) != (want.Landlock > 0) || (socket != nil) != want.Seccomp {
			t.Error(what, have, err, open, socket)
		}
		return
	}
	if !Host().Seccomp {
		t.Skip("this host has no seccomp")
	}
	for what := range calls {
		if out, state := again(t, what); !state.Success() {
			t.Errorf("%s: %s", what, out)
		}
	}
}
