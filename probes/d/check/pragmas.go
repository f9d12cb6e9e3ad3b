package check

import (
	"regexp"
	"slices"
	"strings"

	"trapline/probes/d/syntax"
)

// The words of stability attributes (manual, chapter 39).
var (
	stabilities = strings.Fields("Internal Private Obsolete External Unstable Evolving Stable Standard")
	classes     = strings.Fields("Unknown CPU Platform Group ISA Common")
	bindable    = strings.Fields("provider module function name args")
	version     = regexp.MustCompile(`^"[0-9]+(\.[0-9]+){0,2}"$`)
)

// attributes is #pragma D attributes NAME/DATA/CLASS [part] NAME. What it says of a name is
// checked and not used: the stability that -v shows is that of the guest's probes.
func (c *checker) attributes(p *syntax.Pragma) {
	words := p.Words[1:]
	if len(words) < 2 || len(words) > 3 {
		c.fail(p, syntax.PragMalformed, "malformed #pragma D attributes: want name/data/class [%s] name", strings.Join(bindable, "|"))
	}
	parts := strings.Split(words[0], "/")
	if len(parts) != 3 || !slices.Contains(stabilities, parts[0]) || !slices.Contains(stabilities, parts[1]) || !slices.Contains(classes, parts[2]) {
		c.fail(p, PragmaInval, "invalid attributes specified by #pragma D attributes: %s", words[0])
	}
	c.pragmaName(p, "attributes", words[1:])
}

// binding is #pragma D binding "version" NAME.
func (c *checker) binding(p *syntax.Pragma) {
	words := p.Words[1:]
	if len(words) < 2 || len(words) > 3 || !version.MatchString(words[0]) {
		c.fail(p, syntax.PragMalformed, "malformed #pragma D binding: want \"version\" name")
	}
	c.pragmaName(p, "binding", words[1:])
}

// pragmaName checks the name that a pragma speaks of: part of a provider or a global name.
func (c *checker) pragmaName(p *syntax.Pragma, what string, words []string) {
	name := words[len(words)-1]
	if len(words) == 2 {
		if !slices.Contains(bindable, words[0]) {
			c.fail(p, syntax.PragMalformed, "malformed #pragma D %s: %s is not one of %s", what, words[0], strings.Join(bindable, ", "))
		}
		if c.providers[name] == nil && !c.hasProvider(name) {
			c.fail(p, PragmaScope, "#pragma D %s refers to undeclared provider: %s", what, name)
		}
		return
	}
	switch {
	case c.named(name):
	case c.reserved(name):
		c.fail(p, PragmaScope, "#pragma D %s may not be about what the program does not define: %s", what, name)
	default:
		c.pending = append(c.pending, p)
	}
}

// named reports whether the program defines a global name, be it that of a type.
func (c *checker) named(name string) bool {
	_, typ := c.typedefs[name]
	return typ || c.defined(name)
}

// pragmasUsed checks, at the end, that what pragmas are about has been defined.
func (c *checker) pragmasUsed() {
	for _, p := range c.pending {
		if name := p.Words[len(p.Words)-1]; !c.named(name) {
			c.fail(p, PragmaUnused, "unused #pragma D %s: %s is not defined", p.Words[0], name)
		}
	}
}

func (c *checker) hasProvider(name string) bool {
	return c.env.HasProvider != nil && c.env.HasProvider(name)
}

// dependsOn is #pragma D depends_on library|module|provider NAME.
func (c *checker) dependsOn(p *syntax.Pragma) {
	if len(p.Words) != 3 {
		c.fail(p, syntax.PragMalformed, "malformed #pragma D depends_on: want library, module or provider and a name")
	}
	kind, name := p.Words[1], p.Words[2]
	ok := false
	switch kind {
	case "provider":
		ok = c.providers[name] != nil || c.hasProvider(name)
	case "module":
		ok = c.env.HasModule != nil && c.env.HasModule(name)
	case "library":
		ok = slices.Contains(c.env.Libraries, name)
	default:
		c.fail(p, syntax.PragMalformed, "invalid class specified by #pragma D depends_on: %s", kind)
	}
	if !ok {
		c.fail(p, PragmaDepend, "program requires %s %s, which is not there", kind, name)
	}
}
