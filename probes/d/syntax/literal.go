package syntax

import (
	"errors"
	"strconv"
	"strings"
)

// number reads an integer literal: 12, 017, 0x1f, each with a suffix of u, l, ll or both. It ends
// where no more of it can follow: 10ms is a number and a name.
func (s *scanner) number() {
	digits := s.numberDigits()
	word := digits + s.suffix()
	if s.peek(0) == '.' && isDigit(s.peek(1)) {
		fail(s.pos, SyntaxError, "floating-point constants are not permitted")
	}
	s.tok, s.text = INT, word
	base := 10
	switch {
	case len(digits) > 1 && digits[0] == '0' && digits[1]|0x20 == 'x':
		base, digits = 16, digits[2:]
	case len(digits) > 1 && digits[0] == '0':
		base, digits = 8, digits[1:]
	}
	v, err := strconv.ParseUint(digits, base, 64)
	if errors.Is(err, strconv.ErrRange) {
		fail(s.pos, IntOverflow, "integer constant %s cannot be represented in any built-in integral type", word)
	}
	if err != nil {
		fail(s.pos, IntDigit, "integer constant %s contains an invalid digit for base %d", word, base)
	}
	s.value = v
}

// numberDigits passes over decimal digits, or over 0x and hexadecimal ones.
func (s *scanner) numberDigits() string {
	start, in := s.off, isDigit
	if s.peek(0) == '0' && s.peek(1)|0x20 == 'x' && hexDigit(s.peek(2)) >= 0 {
		s.off += 2
		in = func(c byte) bool { return hexDigit(c) >= 0 }
	}
	for s.more() && in(s.src[s.off]) {
		s.off++
	}
	return string(s.src[start:s.off])
}

// suffixes of integer literals, in lower case, the longest first.
var suffixes = []string{"ull", "llu", "ul", "lu", "ll", "u", "l"}

// suffix passes over the suffix of an integer literal, if there is one. The letters of ll are of
// the same case.
func (s *scanner) suffix() string {
	for _, x := range suffixes {
		word := string(s.src[s.off:min(s.off+len(x), len(s.src))])
		if strings.ToLower(word) == x && !strings.Contains(word, "lL") && !strings.Contains(word, "Ll") {
			s.off += len(x)
			return word
		}
	}
	return ""
}

// string reads a string literal; its text is the value.
func (s *scanner) string() {
	s.off++
	var b strings.Builder
	for s.more() && s.src[s.off] != '"' {
		if s.src[s.off] == '\n' {
			fail(s.pos, StrNewline, "newline encountered in string literal")
		}
		s.literalByte(&b)
	}
	if !s.more() {
		fail(s.pos, StrNewline, "end of file encountered in string literal")
	}
	s.off++
	s.tok, s.text = STRING, b.String()
}

// maxChars is how many characters a character literal may have: a 64-bit integer.
const maxChars = 8

// char reads a character literal. The last character is in the low byte of its value, as C
// compilers have it.
func (s *scanner) char() {
	s.off++
	var b strings.Builder
	for s.more() && s.src[s.off] != '\'' {
		if s.src[s.off] == '\n' {
			fail(s.pos, CharNewline, "newline encountered in character constant")
		}
		s.literalByte(&b)
	}
	switch {
	case !s.more():
		fail(s.pos, CharNewline, "end of file encountered in character constant")
	case b.Len() == 0:
		fail(s.pos, CharNull, "empty character constant")
	case b.Len() > maxChars:
		fail(s.pos, CharOverflow, "character constant is too long (more than %d bytes)", maxChars)
	}
	s.off++
	s.tok, s.text, s.value = INT, string(s.src[s.start:s.off]), 0
	for _, c := range []byte(b.String()) {
		s.value = s.value<<8 | uint64(c)
	}
}

var escapes = map[byte]byte{'a': 7, 'b': 8, 't': 9, 'n': 10, 'v': 11, 'f': 12, 'r': 13}

// literalByte adds the next character, or what an escape stands for, to b. As in DTrace, \? and \' are
// not escapes, but a quote after a backslash does not end a character literal.
func (s *scanner) literalByte(b *strings.Builder) {
	c := s.src[s.off]
	s.off++
	if c != '\\' || !s.more() {
		b.WriteByte(c)
		return
	}
	c = s.src[s.off]
	s.off++
	switch {
	case c == '\n':
		s.line++
		s.bol = s.off
	case escapes[c] != 0:
		b.WriteByte(escapes[c])
	case c == 'x' && hexDigit(s.peek(0)) >= 0:
		b.WriteByte(s.digits(16, 2))
	case hexDigit(c) >= 0 && hexDigit(c) < 8:
		s.off--
		b.WriteByte(s.digits(8, 3))
	case c == '"', c == '\\':
		b.WriteByte(c)
	default:
		b.WriteByte('\\') // no escape of D's: both characters stand
		b.WriteByte(c)
	}
}

// digits reads up to n digits of an escape.
func (s *scanner) digits(base, n int) (v byte) {
	for ; n > 0; n-- {
		d := hexDigit(s.peek(0))
		if d < 0 || d >= base || !s.more() {
			break
		}
		v = v*byte(base) + byte(d)
		s.off++
	}
	return v
}

func hexDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
