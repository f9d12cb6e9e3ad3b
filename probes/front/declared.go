package front

import (
	"fmt"
	"strings"

	"trapline/kernel/ctypes"
	"trapline/probes/d/syntax"
)

// declared is what the guest declares of the probes of a description, nil if that is nothing or cannot
// be read as D.
func (c *Config) declared(desc string) *syntax.ProbeDecl {
	if args, ok := c.Resolver.Declared(desc); ok {
		return declaration(args)
	}
	return nil
}

// declaration declares a probe with these arguments.
func declaration(args []ctypes.Arg) *syntax.ProbeDecl {
	var types, seen []string
	for _, a := range args {
		types, seen = append(types, a.Type), append(seen, a.Seen())
	}
	text := fmt.Sprintf("provider p { probe p(%s) : (%s); };", strings.Join(types, ", "), strings.Join(seen, ", "))
	any := func(string) bool { return true } // as the name of a type
	prog, err := syntax.Parse("", []byte(text), syntax.Options{IsType: any})
	if err != nil {
		return nil
	}
	for _, item := range prog.Items {
		if p, ok := item.(*syntax.Provider); ok && len(p.Probes) == 1 {
			return p.Probes[0]
		}
	}
	return nil
}

// unnamed are types as they are shown, without the names of parameters.
func unnamed(list []*syntax.TypeName) (types []string) {
	for _, t := range list {
		types = append(types, t.Unnamed())
	}
	return types
}
