package job

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// An Error is a program that failed, with what it said.
type Error struct {
	Name   string
	Stderr string
	Err    error
}

// Error gives one line: the first that the program itself marked as its error.
func (e *Error) Error() string {
	for _, prefix := range []string{"E: ", ""} {
		for line := range strings.Lines(e.Stderr) {
			if text, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok && text != "" {
				return e.Name + ": " + text
			}
		}
	}
	return e.Name + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Command prepares a program of the host's. It and its children get no signal of
// the terminal; they end when ctx is done, and when this process dies.
func Command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

// Run runs a program to its end and returns its standard output.
func Run(ctx context.Context, dir, name string, args ...string) (string, error) {
	// Pdeathsig means the thread, so that must outlive the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var stdout, stderr strings.Builder
	cmd := Command(ctx, dir, name, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	return stdout.String(), Wrap(ctx, name, stderr.String(), err)
}

// Wrap makes the error of a program that Command has prepared, of what it has said.
func Wrap(ctx context.Context, name, stderr string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &Error{name, stderr, err}
}

// WatchSize adds to p what the files in dir grow, until the function that it
// returns is called.
func WatchSize(dir string, p Progress) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for seen := int64(0); ; {
			now := SizeOf(dir)
			p.Add(now - seen)
			seen = now
			select {
			case <-tick.C:
			case <-quit:
				p.Add(SizeOf(dir) - seen)
				return
			}
		}
	}()
	return func() { close(quit); <-ended }
}

// SizeOf returns the bytes of all files below dir.
func SizeOf(dir string) (total int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if st, err := d.Info(); err == nil {
			total += st.Size()
		}
		return nil
	})
	return total
}
