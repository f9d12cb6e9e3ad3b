package consume

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"trapline/probes/d/agg"
	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
)

// A printer prints values through a format, as C's printf does in the C locale, with the
// conversions of D. Length modifiers do not matter: a value knows its size. A value of a
// kind that the conversion is not for is printed in the form of its own kind.
type printer struct {
	*Text
	values []Value
	next   int // of values
	// In printa: the aggregations, their values in this row, and which comes next.
	tabs []*agg.Table
	data [][]int64
	nagg int
}

// maxWidth bounds a width or precision taken from the trace.
const maxWidth = 1 << 16

func (p *printer) format(f *code.Format) {
	for i := range f.Convs {
		c := &f.Convs[i]
		p.buf = append(p.buf, c.Lit...)
		if c.WidthStar || c.PrecStar {
			c = p.stars(*c)
		}
		if c.Agg {
			p.aggregate(c)
		} else if v := p.take(); v != nil {
			p.conv(c, v)
		}
	}
	p.buf = append(p.buf, f.Tail...)
}

// take is the next value, nil after the last.
func (p *printer) take() *Value {
	if p.next >= len(p.values) {
		return nil
	}
	p.next++
	return &p.values[p.next-1]
}

// stars is c with * replaced by what the values say. A negative width justifies left, a negative
// precision is none.
func (p *printer) stars(c code.Conv) *code.Conv {
	if c.WidthStar {
		c.Width = p.star()
		if c.Width < 0 {
			c.Minus, c.Width = true, -c.Width
		}
	}
	if c.PrecStar {
		c.Prec = max(p.star(), -1)
	}
	return &c
}

func (p *printer) star() int {
	v := p.take()
	if v == nil {
		return 0
	}
	return int(min(max(int64(v.Int), -maxWidth), maxWidth))
}

func (p *printer) aggregate(c *code.Conv) {
	if len(p.tabs) == 0 {
		return
	}
	tab, data := p.tabs[p.nagg], p.data[p.nagg]
	p.nagg = min(p.nagg+1, len(p.tabs)-1)
	if tab.Fn.Distribution() {
		p.buf = p.appendDistribution(p.buf, tab, data)
		return
	}
	p.conv(c, &Value{Kind: buffer.Int, Size: 8, Signed: true, Int: uint64(tab.Number(data, tab.Normal))})
}

// conv prints one value. The width is made at the end, from the length of what was printed.
func (p *printer) conv(c *code.Conv, v *Value) {
	start := len(p.buf)
	zero := false
	switch v.Kind {
	case buffer.Stack:
		p.buf = p.stack(p.buf, v.Stack)
	case buffer.Int:
		zero = p.integer(c, v)
	default:
		if strings.Contains("eEfgG", c.Verb) {
			zero = true
			p.float(c, v.float())
			break
		}
		zero = true
		p.text(c, v.Bytes)
	}
	p.pad(start, c, zero)
}

// integer prints v and reports whether zeros may fill its width.
func (p *printer) integer(c *code.Conv, v *Value) bool {
	switch c.Verb[0] {
	case 'c':
		p.buf = append(p.buf, byte(v.Int))
	case 'C':
		p.buf = appendEscaped(p.buf, byte(v.Int))
	case 'a', 'A', 'k':
		if v.Form != code.Number {
			p.buf = p.form(p.buf, v.Form, v.Int)
			return false
		}
		p.buf = p.symbol(p.buf, v.Int)
	case 'Y', 'T':
		p.buf = appendTime(p.buf, c.Verb[0], int64(v.Int))
	case 'e', 'E', 'f', 'g', 'G':
		p.float(c, v.float())
		return true
	case 'u':
		p.unsigned(c, v, 10)
		return c.Prec < 0
	case 'o':
		p.unsigned(c, v, 8)
		return c.Prec < 0
	case 'i':
		p.decimal(c, v.signed())
		return c.Prec < 0
	case 'x', 'X', 'p':
		p.unsigned(c, v, 16)
		return c.Prec < 0
	default:
		p.decimal(c, v)
		return c.Prec < 0
	}
	return false
}

// signed is v as a signed integer of its size.
func (v *Value) signed() *Value {
	unused := 64 - 8*min(v.Size, 8)
	return &Value{Kind: v.Kind, Size: v.Size, Signed: true, Int: uint64(int64(v.Int<<unused) >> unused)}
}

// decimal prints v by the sign of its type.
func (p *printer) decimal(c *code.Conv, v *Value) {
	if !v.Signed {
		p.unsigned(c, v, 10)
		return
	}
	n := v.Int
	if int64(n) < 0 {
		n = -n
	}
	p.sign(c, int64(v.Int) < 0)
	p.digits(c, n, 10)
}

func (p *printer) sign(c *code.Conv, negative bool) {
	switch {
	case negative:
		p.buf = append(p.buf, '-')
	case c.Plus:
		p.buf = append(p.buf, '+')
	case c.Space:
		p.buf = append(p.buf, ' ')
	}
}

// unsigned prints the bytes that v's type has.
func (p *printer) unsigned(c *code.Conv, v *Value, base int) {
	n := v.Int
	if v.Size < 8 {
		n &= 1<<(8*v.Size) - 1
	}
	start := len(p.buf)
	if c.Alt && base == 16 && n != 0 {
		p.buf = append(p.buf, "0x"...)
	}
	first := len(p.buf)
	p.digits(c, n, base)
	if c.Alt && base == 8 && (first == len(p.buf) || p.buf[first] != '0') {
		p.buf = slices.Insert(p.buf, first, '0')
	}
	if c.Verb == "X" {
		copy(p.buf[start:], bytes.ToUpper(p.buf[start:]))
	}
}

// digits prints n with at least as many digits as the precision says.
func (p *printer) digits(c *code.Conv, n uint64, base int) {
	if c.Prec < 0 {
		p.buf = strconv.AppendUint(p.buf, n, base)
		return
	}
	var tmp [22]byte
	s := strconv.AppendUint(tmp[:0], n, base)
	for i := len(s); i < c.Prec; i++ {
		p.buf = append(p.buf, '0')
	}
	p.buf = append(p.buf, s...)
}

// float is the floating-point number in the value's bytes, or the one that an integer is. Of a long
// double only zero is known.
func (v *Value) float() float64 {
	switch {
	case v.Kind == buffer.Int && v.Signed:
		return float64(int64(v.Int))
	case v.Kind == buffer.Int:
		return float64(v.Int)
	case len(v.Bytes) == 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v.Bytes)))
	case len(v.Bytes) == 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(v.Bytes))
	}
	return 0
}

// float prints a number in floating point.
func (p *printer) float(c *code.Conv, f float64) {
	p.sign(c, f < 0)
	prec := c.Prec
	if prec < 0 {
		prec = 6
	}
	verb := c.Verb[0]
	if verb == 'g' || verb == 'G' {
		p.general(math.Abs(f), max(prec, 1), verb)
		return
	}
	p.buf = strconv.AppendFloat(p.buf, math.Abs(f), verb, min(prec, maxWidth), 64)
}

// general prints %g: with an exponent if it has more digits than prec or is small, without zeros at
// the end of the fraction.
func (p *printer) general(f float64, prec int, verb byte) {
	var tmp [400]byte
	s := strconv.AppendFloat(tmp[:0], f, 'e', min(prec-1, 20), 64)
	mantissa, exp, _ := bytes.Cut(s, []byte("e"))
	if n, _ := strconv.Atoi(string(exp)); n < prec && n >= -4 {
		s = strconv.AppendFloat(tmp[:0], f, 'f', min(prec-1-n, 20), 64)
		if prec-1-n > 0 {
			s = bytes.TrimRight(bytes.TrimRight(s, "0"), ".")
		}
		p.buf = append(p.buf, s...)
		return
	}
	if bytes.IndexByte(mantissa, '.') >= 0 {
		mantissa = bytes.TrimRight(bytes.TrimRight(mantissa, "0"), ".")
	}
	p.buf = append(append(append(p.buf, mantissa...), verb-'g'+'e'), exp...)
}

// text prints a string, or the bytes of a character array up to a NUL, cut to the precision; 0 is none, as
// in DTrace.
func (p *printer) text(c *code.Conv, s []byte) {
	if i := bytes.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	if c.Prec > 0 && c.Prec < len(s) {
		s = s[:c.Prec]
	}
	if c.Verb != "S" {
		p.buf = append(p.buf, s...)
		return
	}
	for _, b := range s {
		p.buf = appendEscaped(p.buf, b)
	}
}

// appendEscaped prints a character as D's source would write it in a string.
func appendEscaped(b []byte, c byte) []byte {
	const plain, escapes = "\a\b\f\n\r\t\v\"\\", `abfnrtv"\`
	if i := bytes.IndexByte([]byte(plain), c); i >= 0 {
		return append(b, '\\', escapes[i])
	}
	if c == 0 {
		return append(b, `\0`...)
	}
	if c < ' ' || c > '~' {
		return append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
	}
	return append(b, c)
}

// appendTime prints a time in nanoseconds since 1970: Y as 1973 Dec  3 17:20:00, T as
// Mon, 03 Dec 1973 17:20:00 UTC.
func appendTime(b []byte, verb byte, ns int64) []byte {
	t := time.Unix(0, ns).UTC()
	if verb == 'Y' {
		return t.AppendFormat(b, "2006 Jan _2 15:04:05")
	}
	return t.AppendFormat(b, "Mon, 02 Jan 2006 15:04:05 MST")
}

// pad widens what was printed from start on to the width of c.
func (p *printer) pad(start int, c *code.Conv, zero bool) {
	n := min(c.Width, maxWidth) - (len(p.buf) - start)
	if n <= 0 {
		return
	}
	if c.Minus {
		p.blanks(n)
		return
	}
	fill := byte(' ')
	if zero && c.Zero {
		fill = '0'
		start += prefix(p.buf[start:])
	}
	end := len(p.buf)
	p.blanks(n)
	copy(p.buf[start+n:], p.buf[start:end])
	for i := start; i < start+n; i++ {
		p.buf[i] = fill
	}
}

// prefix is the length of what stands before the zeros that fill a number.
func prefix(s []byte) int {
	n := 0
	if len(s) > 0 && (s[0] == '-' || s[0] == '+' || s[0] == ' ') {
		n = 1
	}
	if len(s) > n+1 && s[n] == '0' && (s[n+1] == 'x' || s[n+1] == 'X') {
		n += 2
	}
	return n
}
