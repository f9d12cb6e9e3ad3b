package check

import (
	"cmp"
	"strings"

	"trapline/kernel/ctypes"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
	"trapline/probes/d/syntax"
)

// Option takes #pragma D option name=value apart; ok is false for another pragma.
func Option(p *syntax.Pragma) (opt code.Option, ok bool) {
	if len(p.Words) != 2 || p.Words[0] != "option" {
		return code.Option{}, false
	}
	name, value, _ := strings.Cut(p.Words[1], "=")
	return code.Option{Name: name, Value: value, Line: p.Line}, true
}

func (c *checker) pragma(p *syntax.Pragma) {
	opt, ok := Option(p)
	size, sets := strSize(p)
	switch {
	case sets && size == 0:
		c.fail(p, PragmaOptset, "failed to set option 'strsize' to '%s': invalid size", opt.Value)
	case ok && !option.Known(opt.Name):
		c.fail(p, PragmaOptset, "failed to set option '%s': invalid option name", opt.Name)
	case ok:
	case len(p.Words) == 0:
		c.fail(p, syntax.PragMalformed, "malformed #pragma D: no name follows")
	case p.Words[0] == "option":
		c.fail(p, syntax.PragMalformed, "malformed #pragma D option: want name or name=value")
	case p.Words[0] == "attributes":
		c.attributes(p)
	case p.Words[0] == "binding":
		c.binding(p)
	case p.Words[0] == "depends_on":
		c.dependsOn(p)
	case p.Words[0] == "error":
		c.fail(p, syntax.PragError, "#error: %s", strings.Join(p.Words[1:], " "))
	default:
		c.fail(p, PragmaInval, "invalid or unsupported #pragma D %s", p.Words[0])
	}
}

// strsize settles the type string before anything is checked.
func (c *checker) strsize(parts []*syntax.Program) {
	size := cmp.Or(c.env.Options.StrSize, code.DefaultStrSize)
	for _, p := range parts {
		for _, it := range p.Items {
			if n, ok := strSize(it); ok && n > 0 {
				size = n
			}
		}
	}
	c.str = ctypes.StringOf(size)
}

// strSize returns the size that an item sets by option strsize, 0 if it is not one. It is not ok if
// the item does something else.
func strSize(it syntax.Item) (n int, ok bool) {
	p, ok := it.(*syntax.Pragma)
	if !ok {
		return 0, false
	}
	opt, ok := Option(p)
	if !ok || opt.Name != "strsize" {
		return 0, false
	}
	size, err := code.ParseSize(opt.Value)
	if err != nil || size < 1 || size > code.MaxSize {
		return 0, true
	}
	return int(size), true
}
