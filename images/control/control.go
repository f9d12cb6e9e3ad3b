// Package control is the language of the control channel: the second UART of a
// guest, on which trapline and the init of a guest talk past the console.
//
// The channel carries frames, in both directions, over raw bytes:
//
//	+------+---------+---------------------+
//	| type | length  | payload             |
//	| 1    | 2, LE   | length bytes        |
//	+------+---------+---------------------+
//
//	guest                                host
//	  R   ready, waiting for a command     ->
//	      <-                  C   shell line
//	  O   bytes of standard output         ->
//	  E   bytes of standard error          ->
//	  ...
//	  S   exit status, one byte            ->
//	  (powers off)
//
// A UART delivers single bytes, so the Decoder is a state machine that takes one
// at a time. Host is the host's side of a whole conversation.
package control

import "fmt"

// A Type says what the payload of a frame is. It is the first byte of the frame.
type Type byte

// The types of frames. The numbers in the comments are the sizes of the payload.
const (
	Ready   Type = 'R' // guest to host, 0: init is up and waits for a command
	Stdout  Type = 'O' // guest to host, 0 to MaxData: bytes of standard output
	Stderr  Type = 'E' // guest to host, 0 to MaxData: bytes of standard error
	Status  Type = 'S' // guest to host, 1: exit status of the command, 128+n for signal n
	Command Type = 'C' // host to guest, 1 to MaxCommand: one shell line, UTF-8, no NUL
)

// Limits of a payload, in bytes.
const (
	MaxData    = 65535 // of Stdout and Stderr: what the length can say
	MaxCommand = 32768 // of Command: the buffer of our init for Linux
)

// headerLen is the size of a frame without its payload.
const headerLen = 3

// limits returns the smallest and the largest payload of a type.
func (t Type) limits() (least, most int, ok bool) {
	switch t {
	case Ready:
		return 0, 0, true
	case Stdout, Stderr:
		return 0, MaxData, true
	case Status:
		return 1, 1, true
	case Command:
		return 1, MaxCommand, true
	}
	return 0, 0, false
}

// String returns the letter of the type, quoted.
func (t Type) String() string { return fmt.Sprintf("%q", byte(t)) }

// A Frame is one message.
type Frame struct {
	Type    Type
	Payload []byte
}

// check says whether a header of type t with a payload of n bytes is legal.
func check(t Type, n int) error {
	least, most, ok := t.limits()
	switch {
	case !ok:
		return fmt.Errorf("control channel: unknown frame type %v", t)
	case n < least:
		return fmt.Errorf("control channel: frame %v of %d bytes: at least %d needed", t, n, least)
	case n > most:
		return fmt.Errorf("control channel: frame %v of %d bytes: at most %d allowed", t, n, most)
	}
	return nil
}

// Append appends the bytes of f to dst. It fails, and returns dst as it was, if
// the type is unknown or does not allow a payload of that size.
func (f Frame) Append(dst []byte) ([]byte, error) {
	n := len(f.Payload)
	if err := check(f.Type, n); err != nil {
		return dst, err
	}
	dst = append(dst, byte(f.Type), byte(n), byte(n>>8))
	return append(dst, f.Payload...), nil
}

// A Decoder cuts a stream of bytes into frames. The zero value is ready for use
// and accepts every type.
//
// After an error the stream has no known frame boundary, so a Decoder stays with
// the error it found.
type Decoder struct {
	buf []byte // header and payload read so far
	err error
}

// Byte takes the next byte of the stream. When that byte ends a frame, ok is true
// and f is the frame; its payload is valid until the next call.
func (d *Decoder) Byte(b byte) (f Frame, ok bool, err error) {
	if d.err != nil {
		return Frame{}, false, d.err
	}
	d.buf = append(d.buf, b)
	if d.err = d.checkHeader(); d.err != nil {
		return Frame{}, false, d.err
	}
	if len(d.buf) < headerLen || len(d.buf) < headerLen+d.payloadLen() {
		return Frame{}, false, nil
	}
	f = Frame{Type: Type(d.buf[0]), Payload: d.buf[headerLen:]}
	d.buf = d.buf[:0]
	return f, true, nil
}

// Partial reports whether the stream has stopped inside a frame.
func (d *Decoder) Partial() bool { return len(d.buf) > 0 }

// checkHeader looks at the header as soon as there is something to see: an
// unknown type is an error at its first byte.
func (d *Decoder) checkHeader() error {
	switch len(d.buf) {
	case 1:
		if _, _, ok := Type(d.buf[0]).limits(); !ok {
			return check(Type(d.buf[0]), 0)
		}
	case headerLen:
		return check(Type(d.buf[0]), d.payloadLen())
	}
	return nil
}

func (d *Decoder) payloadLen() int { return int(d.buf[1]) | int(d.buf[2])<<8 }
