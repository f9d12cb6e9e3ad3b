// Package host is what a D program does to the host while its trace is shown: it runs commands and
// opens files. Nothing else in probes does.
package host

import (
	"errors"
	"io"
	"os"
	"os/exec"
)

// A Host runs the commands of system() and opens the files of freopen().
type Host struct {
	Stdout, Stderr io.Writer // of the trace

	file *os.File // of freopen
}

// System does what consume.Host asks. The status of the command does not matter.
func (h *Host) System(command string, out io.Writer) error {
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Stdout, cmd.Stderr = out, h.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

// Reopen does what consume.Host asks.
func (h *Host) Reopen(name string) (io.Writer, error) {
	var f *os.File
	if name != "" {
		var err error
		if f, err = os.Create(name); err != nil {
			return nil, err
		}
	}
	err := h.Close()
	if h.file = f; f == nil {
		return h.Stdout, err
	}
	return f, err
}

// Close closes the file of freopen.
func (h *Host) Close() error {
	if h.file == nil {
		return nil
	}
	f := h.file
	h.file = nil
	return f.Close()
}

// Truncate does what consume.Host asks.
func (h *Host) Truncate(out io.Writer) error {
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
