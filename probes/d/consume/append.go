package consume

import (
	"fmt"
	"strconv"

	"trapline/probes/d/code"
)

// int prints v right-justified in a column of at least width.
func (t *Text) int(v int64, width int) {
	var tmp [20]byte
	s := strconv.AppendInt(tmp[:0], v, 10)
	t.blanks(width - len(s))
	t.buf = append(t.buf, s...)
}

func (t *Text) blanks(n int) { t.buf = appendBlanks(t.buf, n) }

func appendBlanks(b []byte, n int) []byte {
	for ; n > 0; n-- {
		b = append(b, ' ')
	}
	return b
}

// rawDump prints bytes in hexadecimal and in ASCII, 16 to a row.
func (t *Text) rawDump(p []byte) {
	t.buf = append(t.buf, "\n           "...)
	for i := range 16 {
		t.buf = fmt.Appendf(t.buf, "  %x", i)
	}
	t.buf = append(t.buf, "  0123456789abcdef\n"...)
	for at := 0; at < len(p); at += 16 {
		t.rawRow(at, p[at:min(at+16, len(p))])
	}
}

func (t *Text) rawRow(at int, row []byte) {
	t.buf = fmt.Appendf(t.buf, "     %5x:", at)
	for _, c := range row {
		t.buf = fmt.Appendf(t.buf, " %02x", c)
	}
	t.blanks(3*(16-len(row)) + 2)
	for _, c := range row {
		if c < ' ' || c > '~' {
			c = '.'
		}
		t.buf = append(t.buf, c)
	}
	t.buf = append(t.buf, '\n')
}

// stack appends a stack: an empty line, then one frame to a line.
func (t *Text) stack(b []byte, pcs []uint64) []byte {
	b = append(b, '\n')
	for i, pc := range pcs {
		for _, name := range t.trace.inlined(pcs, i) {
			b = appendBlanks(b, t.opts.StackIndent)
			b = fmt.Appendf(t.form(b, code.Mod, pc), "`%s (inlined)\n", name)
		}
		b = appendBlanks(b, t.opts.StackIndent)
		b = append(t.place(b, pc, t.trace.frame(pcs, i)), '\n')
	}
	return b
}

// frame looks up the symbol of a frame. A call that never returns may be the last instruction
// of its function, so the address behind it may be in none: it is counted from the caller's
// start then.
func (t *Trace) frame(pcs []uint64, i int) symbol {
	s := t.symbol(pcs[i])
	if s.ok || i == 0 {
		return s
	}
	s = t.symbol(pcs[i] - 1)
	s.off++
	return s
}

// inlined are the functions inlined around a frame. Those of a caller are around the call,
// which lies before the address that it returns to.
func (t *Trace) inlined(pcs []uint64, frame int) []string {
	switch {
	case t.Inlined == nil:
		return nil
	case frame > 0:
		return t.Inlined(pcs[frame] - 1)
	}
	return t.Inlined(pcs[frame])
}

// symOf prints an address in the form that sym() and its kin give it, as a column.
func (t *Text) symOf(form code.Form, addr uint64) {
	t.string(t.form(nil, form, addr), 50)
}

// form appends an address as its symbol or module. Nothing is known of a process.
func (t *Text) form(b []byte, form code.Form, addr uint64) []byte {
	if t.trace.Symbol != nil && (form == code.Sym || form == code.Mod) {
		module, name, _, ok := t.trace.Symbol(addr)
		switch {
		case ok && form == code.Mod:
			return append(b, module...)
		case ok && name != "":
			return fmt.Appendf(b, "%s`%s", module, name)
		case ok:
			return fmt.Appendf(b, "%s`0x%x", module, addr)
		}
	}
	return fmt.Appendf(b, "0x%x", addr)
}

// symbol appends an address as module`function+0xoffset, as far as that is known.
func (t *Text) symbol(b []byte, addr uint64) []byte { return t.place(b, addr, t.trace.symbol(addr)) }

// place appends an address by what is known of it.
func (t *Text) place(b []byte, addr uint64, s symbol) []byte {
	switch {
	case !s.ok:
		return fmt.Appendf(b, "0x%x", addr)
	case s.name == "":
		return fmt.Appendf(b, "%s`0x%x", s.module, addr)
	case s.off == 0:
		return fmt.Appendf(b, "%s`%s", s.module, s.name)
	}
	return fmt.Appendf(b, "%s`%s+0x%x", s.module, s.name, s.off)
}

// A symbol is what Trace.Symbol knows of an address.
type symbol struct {
	module, name string
	off          uint64
	ok           bool
}

func (t *Trace) symbol(addr uint64) (s symbol) {
	if t.Symbol != nil {
		s.module, s.name, s.off, s.ok = t.Symbol(addr)
	}
	return s
}
