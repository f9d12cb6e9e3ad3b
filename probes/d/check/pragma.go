package check

import (
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
	switch {
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

// strsize settles the type string before anything is checked: the option counts wherever
// it stands.
func (c *checker) strsize() {
	size := c.env.Options.StrSize
	if size == 0 {
		size = code.DefaultStrSize
	}
	for _, it := range c.prog.Items {
		p, ok := it.(*syntax.Pragma)
		if !ok {
			continue
		}
		if opt, ok := Option(p); ok && opt.Name == "strsize" {
			n, err := code.ParseSize(opt.Value)
			if err != nil || n < 1 || n > code.MaxSize {
				c.fail(p, PragmaOptset, "failed to set option 'strsize' to '%s': invalid size", opt.Value)
			}
			size = int(n)
		}
	}
	c.str, c.prog.StrSize = ctypes.StringOf(size), size
}
