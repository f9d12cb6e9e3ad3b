package images

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

// A commandError is a program that failed, with what it said.
type commandError struct {
	name   string
	stderr string
	err    error
}

// Error gives one line: the first that the program itself marked as its error.
func (e *commandError) Error() string {
	for _, prefix := range []string{"E: ", ""} {
		for line := range strings.Lines(e.stderr) {
			if text, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok && text != "" {
				return e.name + ": " + text
			}
		}
	}
	return e.name + ": " + e.err.Error()
}

func (e *commandError) Unwrap() error { return e.err }

// command prepares a program of the host's. It and its children get no signal of
// the terminal; they end when ctx is done, and when this process dies.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

// run runs a program to its end and returns its standard output.
func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	// Pdeathsig means the thread, so that must outlive the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var stdout, stderr strings.Builder
	cmd := command(ctx, dir, name, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	return stdout.String(), wrapCommand(ctx, name, stderr.String(), err)
}

func wrapCommand(ctx context.Context, name, stderr string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &commandError{name, stderr, err}
}

// aptError turns what apt says into an error that the caller can act on: a full
// disk, no network, or its first line.
func aptError(err error) error {
	e, ok := err.(*commandError)
	if !ok {
		return err
	}
	has := func(texts ...string) bool {
		for _, t := range texts {
			if strings.Contains(e.stderr, t) {
				return true
			}
		}
		return false
	}
	switch {
	case has("No space left on device", "enough free space"):
		return syscall.ENOSPC
	case has("Temporary failure resolving", "Could not resolve", "Could not connect", "Unable to connect",
		"Cannot initiate the connection", "Connection failed", "onnection timed out", "Network is unreachable"):
		return ErrNetwork
	}
	return e
}

// watchSize adds to p what the files in dir grow, until the function that it
// returns is called.
func watchSize(dir string, p Progress) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for seen := int64(0); ; {
			now := sizeOf(dir)
			p.Add(now - seen)
			seen = now
			select {
			case <-tick.C:
			case <-quit:
				p.Add(sizeOf(dir) - seen)
				return
			}
		}
	}()
	return func() { close(quit); <-ended }
}

// sizeOf returns the bytes of all files below dir.
func sizeOf(dir string) (total int64) {
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
