package cli

import (
	"fmt"
	"io"
)

// consoleLog passes the guest's console on, and cuts it into lines.
type consoleLog struct {
	out  io.Writer
	line func(string)
	buf  []byte
	err  error // the first of writing; the rest is dropped

	said      []byte // up to the command, if recording
	recording bool
	panicked  bool
}

const longestLine = 4096

// byte takes one byte. It reports whether the log can still be written.
func (l *consoleLog) byte(b byte) (ok bool) {
	if b == '\r' {
		return true
	}
	l.buf = append(l.buf, b)
	if b == '\n' || len(l.buf) == longestLine {
		l.flush()
	}
	return l.err == nil
}

// flush writes a line that may lack its end.
func (l *consoleLog) flush() {
	if len(l.buf) == 0 {
		return
	}
	if l.err == nil {
		if _, err := l.out.Write(l.buf); err != nil {
			l.err = fmt.Errorf("writing the console: %w", err)
		}
	}
	text := l.buf
	if text[len(text)-1] == '\n' {
		text = text[:len(text)-1]
	}
	l.line(string(text))
	l.buf = l.buf[:0]
}
