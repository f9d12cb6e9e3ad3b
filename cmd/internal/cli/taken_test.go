package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"trapline/cmd/internal/sandbox"
	"trapline/probes/d/option"
)

// takenOver names the directory of a process that plays one that its guest has taken over, and
// takenHow its --sandbox, in its environment.
const (
	takenOver = "TRAPLINE_TEST_TAKEN_OVER"
	takenHow  = "TRAPLINE_TEST_SANDBOX"
)

// A process in which a guest runs is asked for what a kernel that has taken it over would want.
// Every attempt is refused: by seccomp alone, or, where names of files are concerned, by Landlock,
// if the host has that. Without the sandbox none of those is refused that an ordinary user may do.
func TestTakenOver(t *testing.T) {
	if dir := os.Getenv(takenOver); dir != "" {
		playTakenOver(t, dir)
		return
	}
	host := sandbox.Host()
	t.Logf("seccomp %t, Landlock ABI %d", host.Seccomp, host.Landlock)
	free, confined := attemptsIn(t, "off"), attemptsIn(t, "auto")
	if len(confined) < 50 || len(confined) != len(free) {
		t.Fatalf("%d attempts, and %d without the sandbox", len(confined), len(free))
	}
	for name, a := range confined {
		needed := host.Seccomp
		if a.Files {
			needed = host.Landlock > 0
		}
		if needed && !a.refused() {
			t.Errorf("%s: %v", name, a.errno())
		}
		if a.Anyone && free[name].refused() {
			t.Errorf("%s is refused without the sandbox, too: %v", name, free[name].errno())
		}
	}
}

// An attempt is what a guest should not get, and how it ended.
type attempt struct {
	Files  bool          // Landlock decides
	Anyone bool          // may do it
	Errno  syscall.Errno // 0 if it was done
}

func (a attempt) errno() error { return a.Errno }

// refused reports whether the sandbox may have been the reason. The numbers of clone3 and of system
// calls of the future are as if they were not there.
func (a attempt) refused() bool {
	return a.Errno == unix.EPERM || a.Errno == unix.EACCES || a.Errno == unix.ENOSYS
}

// attemptsIn lets another process make the attempts.
func attemptsIn(t *testing.T, how string) map[string]attempt {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"home/.ssh", "work", "outside", "cache"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"home/.ssh/id", "outside/file", "outside/other", "outside/more", "outside/yours"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("secret"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestTakenOver$")
	cmd.Dir = filepath.Join(dir, "work")
	cmd.Env = append(os.Environ(), takenOver+"="+dir, takenHow+"="+how, "HOME="+filepath.Join(dir, "home"),
		"XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s%s", err, &out, &errs)
	}
	all := map[string]attempt{}
	if err := json.NewDecoder(&out).Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// playTakenOver brings a guest to where dtrace does, and then makes the attempts.
func playTakenOver(t *testing.T, dir string) {
	// Threads that are there before the sandbox is must be in it, too.
	const old = 8
	locked, enter, opened := make(chan bool), make(chan bool), make(chan error)
	for range old {
		go func() {
			runtime.LockOSThread()
			locked <- true
			<-enter
			f, err := os.Open("/etc/passwd")
			f.Close()
			opened <- err
		}()
	}
	for range old {
		<-locked
	}
	traceUntilRunning(t, os.Getenv(takenHow))
	results := map[string]attempt{"threads without filter": {Errno: unfiltered(t), Anyone: true}}
	for name, a := range attempts(dir) {
		err := a.make()
		var errno syscall.Errno
		if err != nil && !errors.As(err, &errno) {
			t.Errorf("%s: %v", name, err)
		}
		results[name] = attempt{a.files, a.anyone, errno}
	}
	close(enter)
	for i := range old {
		var errno syscall.Errno
		errors.As(<-opened, &errno)
		results[fmt.Sprint("read in old thread ", i)] = attempt{true, true, errno}
	}
	if !t.Failed() {
		json.NewEncoder(os.Stdout).Encode(results)
		os.Exit(0)
	}
}

func traceUntilRunning(t *testing.T, how string) {
	t.Helper()
	e := &env{ctx: context.Background(), stdout: io.Discard, stderr: os.Stderr, confined: new(confinement)}
	tr := &tracing{options: option.New()}
	args := []string{"--sandbox", how, "-c", "true", "-n", "BEGIN { }"}
	if err := tr.parse(tr.flags(e, "dtrace", "", noFlags), args); err != nil {
		t.Fatal(err)
	}
	e.allow(tr.policy())
	g, err := e.newGuest(tr.guest, tr.wanted(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	tracer := &tracer{env: e, tracing: tr, guest: g, out: io.Discard}
	if err := tracer.prepare(); err != nil {
		t.Fatal(err)
	}
	if err := tracer.approach(); err != nil {
		t.Fatal(err)
	}
}

// unfiltered is EPERM if all threads have a filter, and cannot have other rights again.
func unfiltered(t *testing.T) syscall.Errno {
	t.Helper()
	all, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(all) < 8 {
		t.Fatal(all, err)
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread is gone
		}
		if !strings.Contains(string(text), "\nSeccomp:\t2\n") || !strings.Contains(string(text), "\nNoNewPrivs:\t1\n") {
			return 0
		}
	}
	return unix.EPERM
}

// A call tried, and who could do it otherwise.
type try struct {
	make          func() error
	files, anyone bool
}

func attempts(dir string) map[string]try {
	all := map[string]try{}
	add := func(files, anyone bool, tries map[string]func() error) {
		for name, f := range tries {
			all[name] = try{f, files, anyone}
		}
	}
	add(true, true, fileTries(dir))
	add(false, true, ownTries(dir))
	add(false, false, privilegedTries(dir))
	return all
}

// fileTries are what Landlock refuses.
func fileTries(dir string) map[string]func() error {
	outside := func(name string) string { return filepath.Join(dir, "outside", name) }
	open := func(name string, flags int) func() error {
		return func() error {
			f, err := os.OpenFile(name, flags, 0o666)
			f.Close()
			return err
		}
	}
	return map[string]func() error{
		"read /etc/passwd":            open("/etc/passwd", os.O_RDONLY),
		"read the user's key":         open(filepath.Join(dir, "home/.ssh/id"), os.O_RDONLY),
		"read by another way":         open("/proc/self/root/etc/passwd", os.O_RDONLY),
		"read /proc of the parent":    open(fmt.Sprintf("/proc/%d/environ", os.Getppid()), os.O_RDONLY),
		"list /":                      func() error { _, err := os.ReadDir("/"); return err },
		"list the home":               func() error { _, err := os.ReadDir(filepath.Join(dir, "home")); return err },
		"write a file":                open(outside("file"), os.O_WRONLY),
		"append to a file":            open(outside("file"), os.O_WRONLY|os.O_APPEND),
		"make a file in /tmp":         inTemp,
		"make a file in the home":     open(filepath.Join(dir, "home/.profile"), os.O_CREATE|os.O_WRONLY),
		"make a file in the work":     open("made", os.O_CREATE|os.O_WRONLY),
		"make a directory":            func() error { return os.Mkdir(outside("dir"), 0o777) },
		"rename a file":               func() error { return os.Rename(outside("other"), outside("renamed")) },
		"rename a file into place":    func() error { return os.Rename(outside("yours"), filepath.Join(dir, "home/.bashrc")) },
		"remove a file":               func() error { return unix.Unlinkat(unix.AT_FDCWD, outside("more"), 0) },
		"write to its own memory":     open("/proc/self/mem", os.O_RDWR),
		"write /proc/self/oom_score":  open("/proc/self/oom_score_adj", os.O_WRONLY),
		"write to the parent's files": open(fmt.Sprintf("/proc/%d/oom_score_adj", os.Getppid()), os.O_WRONLY),
	}
}

func inTemp() error {
	f, err := os.CreateTemp("", "trapline-taken")
	if err == nil {
		f.Close()
		os.Remove(f.Name())
	}
	return err
}

// errnoOf makes a raw system call.
func errnoOf(number uintptr, args ...uintptr) func() error {
	return func() error {
		var a [6]uintptr
		copy(a[:], args)
		if _, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
			return errno
		}
		return nil
	}
}

// ownTries are what any process could otherwise do, to itself, its parent and its user's files.
func ownTries(dir string) map[string]func() error {
	file := filepath.Join(dir, "outside/file")
	self, parent := uintptr(os.Getpid()), uintptr(os.Getppid())
	socket := func(family, kind int) func() error {
		return func() error { _, err := unix.Socket(family, kind, 0); return err }
	}
	memfd := sync.OnceValue(func() int {
		fd, _ := unix.MemfdCreate("x", 0)
		return fd
	})
	return map[string]func() error{
		"socket AF_INET":            socket(unix.AF_INET, unix.SOCK_STREAM),
		"socket AF_INET6":           socket(unix.AF_INET6, unix.SOCK_DGRAM),
		"socket AF_UNIX":            socket(unix.AF_UNIX, unix.SOCK_STREAM),
		"socket AF_NETLINK":         socket(unix.AF_NETLINK, unix.SOCK_RAW),
		"socketpair":                func() error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
		"connect":                   errnoOf(unix.SYS_CONNECT, ^uintptr(0), 0, 0),
		"fork and exec":             func() error { return exec.Command("/bin/true").Run() },
		"execve":                    func() error { return unix.Exec("/nonexistent", nil, nil) },
		"execveat":                  func() error { return errnoOf(unix.SYS_EXECVEAT, uintptr(memfd()), 0, 0, 0, unix.AT_EMPTY_PATH)() },
		"memfd_create":              func() error { _, err := unix.MemfdCreate("x", 0); return err },
		"clone3":                    errnoOf(unix.SYS_CLONE3, 0, 0),
		"clone with another user":   errnoOf(unix.SYS_CLONE, unix.CLONE_THREAD|unix.CLONE_NEWUSER),
		"ptrace of the parent":      errnoOf(unix.SYS_PTRACE, unix.PTRACE_PEEKDATA, parent),
		"read the parent's memory":  errnoOf(unix.SYS_PROCESS_VM_READV, parent, 0, 0, 0, 0, 0),
		"write the parent's memory": errnoOf(unix.SYS_PROCESS_VM_WRITEV, parent, 0, 0, 0, 0, 0),
		"signal to the parent":      errnoOf(unix.SYS_KILL, parent, 0),
		"signal to its thread":      errnoOf(unix.SYS_TGKILL, parent, parent, 0),
		"tkill of the parent":       errnoOf(unix.SYS_TKILL, parent, 0),
		"limits of the parent":      errnoOf(unix.SYS_PRLIMIT64, parent, unix.RLIMIT_NOFILE, 0, 0),
		"pidfd_open of the parent":  errnoOf(unix.SYS_PIDFD_OPEN, parent, 0),
		"pidfd_getfd":               errnoOf(unix.SYS_PIDFD_GETFD, ^uintptr(0), 0, 0),
		"pidfd_send_signal":         errnoOf(unix.SYS_PIDFD_SEND_SIGNAL, ^uintptr(0), 0, 0, 0),
		"waitid":                    errnoOf(unix.SYS_WAITID, 99, self, 0, unix.WEXITED),
		"sched_setaffinity":         errnoOf(unix.SYS_SCHED_SETAFFINITY, 0, 0, 0),
		"setpgid":                   errnoOf(unix.SYS_SETPGID, 0, ^uintptr(0)),
		"symlink":                   func() error { return os.Symlink("file", filepath.Join(dir, "outside/sym")) },
		"link":                      func() error { return os.Link(file, filepath.Join(dir, "outside/hard")) },
		"link in the cache":         func() error { return os.Symlink("/etc/passwd", filepath.Join(dir, "cache/trapline/sym")) },
		"chmod":                     func() error { return os.Chmod(file, 0o600) },
		"chown":                     func() error { return os.Chown(file, os.Getuid(), os.Getgid()) },
		"truncate":                  func() error { return unix.Truncate(file, 6) },
		"setxattr":                  errnoOf(unix.SYS_SETXATTR),
		"mknod of a FIFO":           func() error { return unix.Mkfifo(filepath.Join(dir, "outside/fifo"), 0o600) },
		"chdir":                     func() error { return os.Chdir(".") },
		"umask":                     func() error { unix.Umask(0o22); return errnoOf(unix.SYS_UMASK, 0o22)() },
		"TIOCSTI":                   errnoOf(unix.SYS_IOCTL, ^uintptr(0), unix.TIOCSTI, 0),
		"TIOCSCTTY":                 errnoOf(unix.SYS_IOCTL, ^uintptr(0), unix.TIOCSCTTY, 0),
		"F_SETOWN":                  errnoOf(unix.SYS_FCNTL, ^uintptr(0), unix.F_SETOWN, parent),
		"bpf":                       errnoOf(unix.SYS_BPF, 999, 0, 0),
		"io_uring_setup":            errnoOf(unix.SYS_IO_URING_SETUP, 0, 0),
		"keyctl":                    errnoOf(unix.SYS_KEYCTL, 999),
		"add_key":                   errnoOf(unix.SYS_ADD_KEY, 0, 0, 0, 0, 0),
		"setns":                     errnoOf(unix.SYS_SETNS, ^uintptr(0), 0),
		"unshare":                   errnoOf(unix.SYS_UNSHARE, 1),
		"setuid":                    errnoOf(unix.SYS_SETUID, uintptr(os.Getuid())),
		"setresgid":                 errnoOf(unix.SYS_SETRESGID, ^uintptr(0), ^uintptr(0), ^uintptr(0)),
		"seccomp":                   errnoOf(unix.SYS_SECCOMP, 99, 0, 0),
		"no longer without a core":  errnoOf(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1),
		"personality":               errnoOf(unix.SYS_PERSONALITY, 0xffffffff),
		"shmget":                    errnoOf(unix.SYS_SHMGET, 0, 0, 0),
		"name_to_handle_at":         errnoOf(unix.SYS_NAME_TO_HANDLE_AT, 0, 0, 0, 0, 0),
		"inotify":                   errnoOf(unix.SYS_INOTIFY_INIT1, ^uintptr(0)),
	}
}

// privilegedTries are those that other users than root are refused anyway.
func privilegedTries(dir string) map[string]func() error {
	empty := []byte{0}
	return map[string]func() error{
		"mount":             func() error { return unix.Mount("none", filepath.Join(dir, "nowhere"), "nothing", 0, "") },
		"umount":            func() error { return unix.Unmount(filepath.Join(dir, "nowhere"), 0) },
		"pivot_root":        func() error { return unix.PivotRoot("/nowhere", "/nowhere") },
		"chroot":            func() error { return unix.Chroot(filepath.Join(dir, "nowhere")) },
		"mknod of a device": func() error { return unix.Mknod(filepath.Join(dir, "nowhere/null"), unix.S_IFCHR, 0x103) },
		"init_module":       func() error { return unix.InitModule(empty, "") },
		"finit_module":      func() error { return unix.FinitModule(-1, "", 0) },
		"open_by_handle_at": errnoOf(unix.SYS_OPEN_BY_HANDLE_AT, ^uintptr(0), 0, 0),
		"perf_event_open":   errnoOf(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, 0),
		"userfaultfd":       errnoOf(unix.SYS_USERFAULTFD, ^uintptr(0)),
		"kexec_load":        errnoOf(unix.SYS_KEXEC_LOAD, 0, 0, 0, ^uintptr(0)),
		"sethostname":       errnoOf(unix.SYS_SETHOSTNAME, 0, 1<<20),
		"clock_settime":     errnoOf(unix.SYS_CLOCK_SETTIME, 0, 0),
		"syslog":            errnoOf(unix.SYS_SYSLOG, 99, 0, 0),
		"fanotify":          errnoOf(unix.SYS_FANOTIFY_INIT, ^uintptr(0), 0),
		"swapoff":           errnoOf(unix.SYS_SWAPOFF, 0),
	}
}
