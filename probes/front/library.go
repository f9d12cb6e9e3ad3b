package front

import (
	"strings"

	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/d/library"
	"trapline/probes/d/syntax"
)

// addLibrary begins with what the sources need of the guest's libraries, if anything is known
// of what those are about.
func (f *front) addLibrary() error {
	if f.Types == nil || f.Options.NoLibs {
		return nil
	}
	var text strings.Builder
	for _, src := range f.sources {
		text.WriteString(src.Text)
	}
	for _, lib := range library.For(libraries(f.System), text.String()) {
		if !f.hasMember(lib.Tag, lib.Member) {
			continue
		}
		p, err := syntax.Parse(lib.Name, []byte(lib.Text), syntax.Options{IsType: f.isType()})
		if err != nil {
			return err
		}
		f.parts = append(f.parts, p)
	}
	return nil
}

// isType returns the test for the types that the parser has not seen in the source it reads:
// those of the parts before, and of the kernel.
func (f *front) isType() func(name string) bool {
	names := make(map[string]bool)
	for _, p := range f.parts {
		for _, it := range p.Items {
			if d, ok := it.(*syntax.Decl); ok && d.Class == "typedef" {
				for _, n := range d.Names {
					names[n.Name] = true
				}
			}
		}
	}
	types := f.types()
	return func(name string) bool {
		if names[name] || types == nil {
			return names[name]
		}
		_, ok := types.Typedef(name)
		return ok
	}
}

// ShownArgs are the types of args[] of a probe as they are shown: those that the guest's
// libraries declare, or those that the provider knows.
func (c *Config) ShownArgs(d probes.Desc) (types []string) {
	for _, lib := range library.For(libraries(c.System), d.Provider+":") {
		if c.Types == nil || !c.hasMember(lib.Tag, lib.Member) {
			continue
		}
		if x := lib.Probe(d.Provider, d.Name); x != nil {
			return unnamed(x.Xlated)
		}
	}
	if x := c.declared(d.String()); x != nil {
		return unnamed(x.Xlated)
	}
	for _, t := range c.Resolver.ArgTypes(d.String()) {
		types = append(types, t.String())
	}
	return types
}

// libraries are those of a system.
func libraries(system *guestos.System) (all []library.File) {
	for _, l := range system.Libraries {
		all = append(all, library.File(l))
	}
	return all
}
