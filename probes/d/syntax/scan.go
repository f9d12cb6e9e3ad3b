package syntax

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// A scanner turns source text into tokens, one at a time. It is a small value: the parser
// looks ahead by working on a copy.
type scanner struct {
	src  []byte
	off  int // of the next byte
	line int // of the next byte
	bol  int // offset of the first byte of the line

	inPred bool // a / before { or ; ends the predicate

	tok   Token
	pos   Pos    // of tok
	start int    // offset of tok
	text  string // of IDENT, AGG and MACRO, without @; the value of STRING; the literal INT
	value uint64 // of INT

	pragmas *[]*Pragma // control lines met so far
}

// fail stops the parse: Parse recovers it.
func fail(pos Pos, tag Tag, format string, args ...any) {
	panic(&Error{Pos: pos, Tag: tag, Msg: fmt.Sprintf(format, args...)})
}

func (s *scanner) here() Pos { return Pos{s.line, s.off - s.bol + 1} }

// peek is the byte n places ahead, 0 behind the end.
func (s *scanner) peek(n int) byte {
	if s.off+n < len(s.src) {
		return s.src[s.off+n]
	}
	return 0
}

func (s *scanner) more() bool { return s.off < len(s.src) }

// skip passes over white space, comments and control lines.
func (s *scanner) skip() {
	for s.more() {
		switch c := s.src[s.off]; {
		case c == '\n':
			s.off++
			s.line++
			s.bol = s.off
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			s.off++
		case c == '/' && s.peek(1) == '*':
			s.comment()
		case c == '/' && s.peek(1) == '/':
			s.restOfLine()
		case c == '#' && len(bytes.TrimSpace(s.src[s.bol:s.off])) == 0:
			s.control()
		default:
			return
		}
	}
}

func (s *scanner) comment() {
	pos := s.here()
	s.off += 2
	for ; s.more(); s.off++ {
		switch {
		case s.src[s.off] == '\n':
			s.line++
			s.bol = s.off + 1
		case s.src[s.off] == '*' && s.peek(1) == '/':
			s.off += 2
			return
		case s.src[s.off] == '/' && s.peek(1) == '*':
			fail(s.here(), SyntaxError, "/* encountered inside a comment")
		}
	}
	fail(pos, SyntaxError, "end of file encountered before matching */")
}

// restOfLine passes to the newline and returns the text before it. A backslash before
// the newline continues the line.
func (s *scanner) restOfLine() string {
	start := s.off
	for ; s.more() && s.src[s.off] != '\n'; s.off++ {
		if s.src[s.off] == '\\' && s.peek(1) == '\n' {
			s.off++
			s.line++
			s.bol = s.off + 1
		}
	}
	return string(s.src[start:s.off])
}

// control reads a line that begins with #.
func (s *scanner) control() {
	pos := s.here()
	s.off++
	line := s.restOfLine()
	if pos == (Pos{1, 1}) && strings.HasPrefix(line, "!") {
		return
	}
	line = strings.TrimSuffix(strings.ReplaceAll(line, "\\\n", " "), "\\")
	words := strings.Fields(line)
	switch {
	case len(words) == 0:
	case words[0] == "pragma":
		s.pragma(pos, words[1:])
	case words[0] == "error":
		fail(pos, PragError, "#error: %s", strings.Join(words[1:], " "))
	case words[0] == "ident":
	case words[0] == "line" && len(words) > 1:
		s.setLine(pos, words[1])
	case words[0][0] >= '0' && words[0][0] <= '9':
		s.setLine(pos, words[0])
	default:
		fail(pos, PragCtl, "invalid control directive: #%s", words[0])
	}
}

// setLine obeys a line marker of the preprocessor: the next line has the number n.
func (s *scanner) setLine(pos Pos, word string) {
	n, err := strconv.ParseInt(word, 10, 31)
	if err != nil {
		fail(pos, PragMalformed, "invalid line number in control directive: %s", word)
	}
	s.line = int(n) - 1
}

func (s *scanner) pragma(pos Pos, words []string) {
	if len(words) == 0 || words[0] != "D" {
		return // another program's
	}
	*s.pragmas = append(*s.pragmas, &Pragma{Pos: pos, Words: words[1:]})
}

// next reads one token into s.tok.
func (s *scanner) next() {
	s.skip()
	s.pos, s.start, s.text = s.here(), s.off, ""
	if !s.more() {
		s.tok = EOF
		return
	}
	switch c := s.src[s.off]; {
	case isLetter(c):
		s.word()
	case isDigit(c):
		s.number()
	case c == '"':
		s.string()
	case c == '\'':
		s.char()
	case c == '@':
		s.off++
		s.tok, s.text = AGG, s.name()
	case c == '$':
		s.macro()
	default:
		s.operator()
	}
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// name passes over letters and digits.
func (s *scanner) name() string {
	start := s.off
	for s.more() && (isLetter(s.src[s.off]) || isDigit(s.src[s.off])) {
		s.off++
	}
	return string(s.src[start:s.off])
}

func (s *scanner) word() {
	s.text = s.name()
	s.tok = IDENT
	if k, ok := keywords[s.text]; ok {
		s.tok = k
	}
}

// macro reads $name, $1, $$name or $$1; the text keeps the dollars.
func (s *scanner) macro() {
	s.off++
	if s.peek(0) == '$' {
		s.off++
	}
	if s.name() == "" {
		fail(s.pos, SyntaxError, "syntax error near \"%s\"", s.src[s.start:s.off])
	}
	s.tok, s.text = MACRO, string(s.src[s.start:s.off])
}

func (s *scanner) operator() {
	for n := 3; n > 0; n-- {
		for _, t := range operators[n] {
			if bytes.HasPrefix(s.src[s.off:], []byte(tokenText[t])) {
				s.off += n
				s.tok = t
				s.endPred()
				return
			}
		}
	}
	fail(s.pos, SyntaxError, "syntax error near %q", string(s.src[s.off]))
}

// endPred turns a / into ENDPRED if what follows can only follow a predicate.
func (s *scanner) endPred() {
	if s.tok != DIV || !s.inPred {
		return
	}
	ahead := *s
	ahead.pragmas = new([]*Pragma)
	ahead.skip()
	if c := ahead.peek(0); !ahead.more() || c == '{' || c == ';' {
		s.tok = ENDPRED
	}
}

// description reads a probe description: letters, digits and the marks of names and
// globs. It is called where a clause may begin.
func (s *scanner) description() string {
	s.skip()
	s.pos, s.start = s.here(), s.off
	for s.more() && (isLetter(s.src[s.off]) || isDigit(s.src[s.off]) ||
		strings.IndexByte("-$:.?*\\[]!`%+@", s.src[s.off]) >= 0) {
		s.off++
	}
	return string(s.src[s.start:s.off])
}
