package check

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/syntax"
)

// maxProvider is the longest name of a provider: room for a process number is kept free.
const maxProvider = 58

// provider checks a declaration of probes. It has no effect otherwise, but for what it says of
// translated arguments: the probes of the guest tell the types of those that they pass themselves.
func (c *checker) provider(p *syntax.Provider) {
	last := p.Name[len(p.Name)-1]
	switch {
	case len(p.Name) > maxProvider:
		c.fail(p, ProvBadname, "provider name may not exceed %d characters: %s", maxProvider, p.Name)
	case last >= '0' && last <= '9':
		c.fail(p, ProvBadname, "provider name may not end with a digit: %s", p.Name)
	}
	seen := make(map[string]bool)
	for _, d := range p.Probes {
		if seen[d.Name] {
			c.fail(d, ProvPrdup, "probe redeclared: %s:::%s", p.Name, d.Name)
		}
		seen[d.Name] = true
		c.probeArgs(p, d)
	}
	if old := c.providers[p.Name]; old != nil {
		c.sameProvider(p, old)
	}
	c.providers[p.Name] = p
}

// maxProbeArgs bounds the arguments of a probe.
const maxProbeArgs = 32

func (c *checker) probeArgs(p *syntax.Provider, d *syntax.ProbeDecl) {
	if len(d.Args) > maxProbeArgs || len(d.Xlated) > maxProbeArgs {
		c.fail(d, ProvPrarglen, "probe %s:::%s has more than %d arguments", p.Name, d.Name, maxProbeArgs)
	}
	in, out := c.probeTypes(d, d.Args), c.probeTypes(d, d.Xlated)
	for i, t := range out {
		from := t
		if len(in) > 0 {
			from = in[origin(d, i)]
		}
		if d.HasX && !ctypes.Same(t, from) && c.findXlator(elem(t), from) == nil {
			c.fail(d, ProvPrxlator, "translator from %s to %s undefined for probe %s:::%s argument #%d", from, t, p.Name, d.Name, i+1)
		}
	}
}

func elem(t *ctypes.Type) *ctypes.Type {
	if t.IsPointer() {
		return t.Base().Elem
	}
	return t
}

func (c *checker) probeTypes(d *syntax.ProbeDecl, list []*syntax.TypeName) (types []*ctypes.Type) {
	types = c.prototype("probe "+d.Name, list, 0)
	for i, t := range types {
		if t.Base().Kind == ctypes.Func {
			c.fail(d, DeclProtoType, "probe %s prototype parameter #%d may not be a function", d.Name, i+1)
		}
	}
	return types
}

// sameProvider checks a declaration against an earlier one.
func (c *checker) sameProvider(p, old *syntax.Provider) {
	for _, d := range p.Probes {
		for _, o := range old.Probes {
			if d.Name == o.Name && !sameTypes(c.probeTypes(d, d.Args), c.probeTypes(o, o.Args)) {
				c.fail(d, ProvIncompat, "provider %s probe %s is declared again with other arguments", p.Name, d.Name)
			}
		}
	}
}
