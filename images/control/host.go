package control

import (
	"fmt"
	"io"
	"strings"
)

// Host is the host's side of one conversation: it hears the guest byte by byte,
// sends the command when the guest is ready, passes output on and keeps the status.
//
// It does nothing on its own: every step is caused by a byte of the guest, so a
// conversation is as reproducible as the guest.
type Host struct {
	stdout, stderr io.Writer
	send           func([]byte)
	command        []byte // the frame, ready to be sent

	dec    Decoder
	state  hostState
	status int
}

type hostState uint8

const (
	waiting hostState = iota // for Ready
	running                  // the command was sent
	ended                    // the status has come
)

func (s hostState) String() string {
	return [...]string{"before the guest was ready", "while the command runs", "after the exit status"}[s]
}

// NewHost starts a conversation in which the guest is to run the shell line
// command. The host's bytes go to send, which must not call back into Host.
// It fails if command is empty, holds a NUL or is longer than MaxCommand.
func NewHost(command string, stdout, stderr io.Writer, send func([]byte)) (*Host, error) {
	if strings.IndexByte(command, 0) >= 0 {
		return nil, fmt.Errorf("command for the guest holds a NUL byte")
	}
	if len(command) == 0 || len(command) > MaxCommand {
		return nil, fmt.Errorf("command for the guest has %d bytes: 1 to %d are allowed", len(command), MaxCommand)
	}
	frame, err := Frame{Command, []byte(command)}.Append(nil)
	if err != nil {
		return nil, err
	}
	return &Host{stdout: stdout, stderr: stderr, send: send, command: frame}, nil
}

// Byte takes the next byte that the guest has sent. It fails if the byte breaks
// the protocol or if an output cannot be written.
func (h *Host) Byte(b byte) error {
	f, ok, err := h.dec.Byte(b)
	if err != nil || !ok {
		return err
	}
	return h.frame(f)
}

func (h *Host) frame(f Frame) error {
	switch {
	case f.Type == Ready && h.state == waiting:
		h.state = running
		h.send(h.command)
		return nil
	case f.Type == Stdout && h.state == running:
		return write(h.stdout, f.Payload, "output")
	case f.Type == Stderr && h.state == running:
		return write(h.stderr, f.Payload, "standard error")
	case f.Type == Status && h.state == running:
		h.state, h.status = ended, int(f.Payload[0])
		return nil
	}
	return fmt.Errorf("control channel: frame %v from the guest %v", f.Type, h.state)
}

func write(w io.Writer, p []byte, what string) error {
	if _, err := w.Write(p); err != nil {
		return fmt.Errorf("writing the guest's %s: %w", what, err)
	}
	return nil
}

// Ready reports whether the guest has asked for its command.
func (h *Host) Ready() bool { return h.state != waiting }

// Status returns the exit status of the command, 128+n when signal n ended it.
// ok is false as long as the guest has not sent it.
func (h *Host) Status() (status int, ok bool) { return h.status, h.state == ended }
