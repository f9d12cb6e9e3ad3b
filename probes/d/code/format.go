package code

import (
	"fmt"
	"slices"
	"strings"
)

// A Format is a parsed format string of printf or printa.
type Format struct {
	Convs []Conv
	Tail  string // literal text after the last conversion
}

// A Conv is one conversion of a format and the literal text before it.
type Conv struct {
	Lit   string
	Verb  string // "d", "s", "Y", ...; "%" stands for a literal %
	Size  string // length modifier, one of sizes
	Minus bool   // - left-justified
	Plus  bool   // + sign always
	Space bool   // blank in place of +
	Zero  bool   // 0 padding
	Alt   bool   // # alternate form
	Group bool   // ' thousands in groups
	Agg   bool   // @ the aggregation's value, in printa; before or after the width

	Width, Prec         int  // -1: none given
	WidthStar, PrecStar bool // * taken from the arguments, before the value
}

// The conversions of the language.
//
//	a A   an address as symbol, A with the module: as %a in dtrace(1)
//	c     one character
//	C     the same, unprintable ones escaped
//	d i   signed decimal; any integer, extended by its own type
//	e E f g G  floating point, of an integer's value
//	k     a stack
//	o u x X    unsigned octal, decimal, hexadecimal
//	p     an address in hexadecimal; 0x only with #
//	s S   a string; S with unprintable characters escaped
//	T Y   a time in ns since 1970: in words, or as date
const verbs = "aAcCdieEfgGkopsSTuxXY"

// sizes are the length modifiers that go with conversions; no other has any.
var sizes = map[string]string{
	"c": "l w", "s": "l w", "d": "h l ll", "i": "h l ll", "o": "h l ll", "u": "h l ll", "x": "h l ll", "X": "h l ll",
	"e": "L", "E": "L", "f": "L", "g": "L", "G": "L",
}

// ParseFormat takes a format string apart. The error says which conversion is malformed,
// counted from 1.
func ParseFormat(s string) (*Format, error) {
	f := new(Format)
	lit := ""
	for {
		text, rest, found := strings.Cut(s, "%")
		lit += text
		if !found {
			f.Tail = lit
			return f, nil
		}
		p := convParser{rest: rest}
		c, err := p.parse()
		if err != nil {
			return nil, fmt.Errorf("conversion #%d %w", len(f.Convs)+1, err)
		}
		if c.Verb == "%" && !strings.HasPrefix(rest, "%") {
			return nil, fmt.Errorf("conversion #%d: %%%% cannot be combined with flags, a width or a precision", len(f.Convs)+1)
		}
		s = p.rest
		if c.Verb == "%" {
			lit += "%"
			continue
		}
		c.Lit, lit = lit, ""
		f.Convs = append(f.Convs, c)
	}
}

// Stars is how many arguments c takes for its width and precision.
func (c Conv) Stars() (n int) {
	if c.WidthStar {
		n++
	}
	if c.PrecStar {
		n++
	}
	return n
}

func (c Conv) String() string { return "%" + c.Size + c.Verb }

// A convParser reads one conversion, after its %.
type convParser struct {
	rest string
}

func (p *convParser) parse() (Conv, error) {
	c := Conv{Width: -1, Prec: -1}
	p.flags(&c)
	var err error
	if c.Width, c.WidthStar, err = p.number(-1); err != nil {
		return c, err
	}
	if p.take(".") {
		if c.Prec, c.PrecStar, err = p.number(0); err != nil {
			return c, err
		}
	}
	if p.take("@") {
		c.Agg = true
	}
	for _, m := range []string{"hh", "h", "ll", "l", "L", "w"} {
		if p.take(m) {
			c.Size = m
			break
		}
	}
	return c, p.verb(&c)
}

func (p *convParser) flags(c *Conv) {
	for p.rest != "" {
		switch p.rest[0] {
		case '-': // of - and 0 the last counts
			c.Minus, c.Zero = true, false
		case '+':
			c.Plus = true
		case ' ':
			c.Space = true
		case '0':
			c.Minus, c.Zero = false, true
		case '#':
			c.Alt = true
		case '\'':
			c.Group = true
		case '@':
			c.Agg = true
		default:
			return
		}
		p.rest = p.rest[1:]
	}
}

// addrDigits is the width that ? stands for: the hexadecimal digits of an address.
const addrDigits = 16

// maxField bounds a width or precision in a format.
const maxField = 1 << 16

// number reads digits or *, or gives none.
func (p *convParser) number(none int) (n int, star bool, err error) {
	switch {
	case p.take("*"):
		return -1, true, nil
	case p.take("?"):
		return addrDigits, false, nil
	}
	n = none
	for p.rest != "" && p.rest[0] >= '0' && p.rest[0] <= '9' {
		n = max(n, 0)*10 + int(p.rest[0]-'0')
		p.rest = p.rest[1:]
		if n > maxField {
			return 0, false, fmt.Errorf("has a width or precision over %d", maxField)
		}
	}
	return n, false, nil
}

func (p *convParser) verb(c *Conv) error {
	if p.rest == "" {
		return fmt.Errorf("has no conversion character")
	}
	c.Verb, p.rest = p.rest[:1], p.rest[1:]
	if c.Verb == "$" {
		return fmt.Errorf("names an argument by its position (n$), which is not supported")
	}
	if c.Verb != "%" && !strings.Contains(verbs, c.Verb) {
		return fmt.Errorf("%%%s is not a conversion", c.Verb)
	}
	if c.Size != "" && !slices.Contains(strings.Fields(sizes[c.Verb]), c.Size) {
		return fmt.Errorf("%%%s%s is not a conversion", c.Size, c.Verb)
	}
	return nil
}

func (p *convParser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}
