package cli

import "io"

// consoleLog passes the guest's console on, and cuts it into lines.
type consoleLog struct {
	out  io.Writer
	line func(string)
	buf  []byte
	err  error
}

const longestLine = 4096

func (l *consoleLog) byte(b byte) {
	if b == '\r' {
		return
	}
	l.buf = append(l.buf, b)
	if b == '\n' || len(l.buf) == longestLine {
		l.flush()
	}
}

// flush writes a line that may lack its end.
func (l *consoleLog) flush() {
	if len(l.buf) == 0 {
		return
	}
	if _, err := l.out.Write(l.buf); err != nil && l.err == nil {
		l.err = err
	}
	text := l.buf
	if text[len(text)-1] == '\n' {
		text = text[:len(text)-1]
	}
	l.line(string(text))
	l.buf = l.buf[:0]
}
