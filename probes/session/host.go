package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"trapline/probes/d/code"
	"trapline/probes/d/option"
)

// allowed refuses a program that does what option destructive is needed for, or what this
// target cannot do.
func (s *Session) allowed() error {
	if line, yes := s.prog.Destructive(); yes && !s.Options.Destructive {
		return fmt.Errorf("line %d: destructive actions not allowed", line)
	}
	for _, c := range s.prog.Clauses {
		for _, a := range c.Actions {
			if can := guestActs[a.Act].can; can != nil {
				if err := can(s); err != nil {
					return fmt.Errorf("line %d: %v( ) is not possible: %w", a.Line, a.Act, err)
				}
			}
		}
	}
	return nil
}

// Halted says that a panic() or breakpoint() action has ended the run, and which.
func (s *Session) Halted() (act code.Act, yes bool) { return s.halted, s.halted != code.Eval }

// host is the consumer's host: it runs commands and opens files.
type host struct {
	s     *Session
	first io.Writer
	file  *os.File // of freopen
}

// System implements consume.Host. The status of the command does not matter.
func (h *host) System(command string, out io.Writer) error {
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Stdout, cmd.Stderr = out, h.s.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

// Reopen implements consume.Host.
func (h *host) Reopen(name string) (io.Writer, error) {
	var f *os.File
	if name != "" {
		var err error
		if f, err = os.Create(name); err != nil {
			return nil, err
		}
	}
	err := h.close()
	if h.file = f; f == nil {
		return h.first, err
	}
	return f, err
}

func (h *host) close() error {
	if h.file == nil {
		return nil
	}
	f := h.file
	h.file = nil
	return f.Close()
}

// Truncate implements consume.Host.
func (h *host) Truncate(out io.Writer) error {
	f, ok := out.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// SetOption implements consume.Host: the options that may change while a trace runs and
// are not the consumer's own.
func (h *host) SetOption(name, value string) error {
	if !option.WhileRunning(name) {
		return errors.New("it cannot be set while a trace runs")
	}
	err := h.s.Options.Set(name, value)
	if name == "switchrate" {
		h.s.profile.Every(h.s.Options.SwitchRate, h.s.show)
	}
	return err
}
