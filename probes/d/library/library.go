// Package library chooses the D programs that are read before the user's: types and translators for
// what a guest's kernel keeps of processes, files and block I/O, and what the probes of some providers
// pass to programs. Which there are is known to the guest's operating system (kernel/guestos). One is
// read only where a program uses a name that it defines, so that others pay nothing.
package library

import (
	"fmt"
	"regexp"
	"strings"

	"trapline/probes/d/syntax"
)

// A File is a library. A guestos.Library converts to it.
type File struct {
	Name string // "sched.d"
	Text string
	// Tag and Member are of a structure of the kernel's: without them, the library is of no use.
	Tag, Member string
	// Names are in a program that needs it.
	Names *regexp.Regexp
}

// Probe is the declaration of a provider's probe, nil if the library has none.
func (f File) Probe(provider, name string) *syntax.ProbeDecl {
	any := func(string) bool { return true } // as the name of a type
	prog, err := syntax.Parse(f.Name, []byte(f.Text), syntax.Options{IsType: any})
	if err != nil {
		panic(fmt.Sprintf("library %s: %v", f.Name, err)) // as TestParses would have found
	}
	for _, item := range prog.Items {
		p, ok := item.(*syntax.Provider)
		if !ok || p.Name != provider {
			continue
		}
		for _, d := range p.Probes {
			if strings.ReplaceAll(d.Name, "__", "-") == name {
				return d
			}
		}
	}
	return nil
}

// dependsOn reports whether a program says that it does.
func dependsOn(program, name string) bool {
	return regexp.MustCompile(`#\s*pragma\s+D\s+depends_on\s+library\s+` + regexp.QuoteMeta(name)).MatchString(program)
}

// For returns those of a guest's libraries that a program needs. The text that shows it may be in a
// comment: that costs some time.
func For(all []File, program string) (needed []File) {
	for _, f := range all {
		if f.Names.MatchString(program) || dependsOn(program, f.Name) {
			needed = append(needed, f)
		}
	}
	return needed
}
