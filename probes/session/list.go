package session

import (
	"fmt"
	"io"
	"strings"

	"trapline/probes"
)

const listFormat = "%5v %10s %17s %33s %s\n"

// List writes the probes that the compiled sources describe, in their order, as dtrace -l
// does. Without sources it writes all that need not be named to exist. Those that there will be
// when a module is loaded have no number yet. With the option verbose it says of each what may
// be relied on, and the types of args[].
func (s *Session) List(w io.Writer) error {
	if s.Program == nil {
		if _, err := s.registry.Match(probes.Desc{}); err != nil {
			return err
		}
	}
	l := lister{s: s, w: w}
	l.line("ID", probes.Desc{Provider: "PROVIDER", Module: "MODULE", Function: "FUNCTION", Name: "NAME"})
	if s.Program == nil {
		l.all()
	} else {
		l.described()
	}
	return l.err
}

// A lister writes probes.
type lister struct {
	s   *Session
	w   io.Writer
	err error // of writing
}

// all lists the probes that have been made, and those of all modules.
func (l *lister) all() {
	for p := range l.s.registry.All() {
		l.probe(p.ID(), p.Desc())
	}
	l.foreseen(":::")
}

// described lists the probes of all clauses.
func (l *lister) described() {
	epid := uint32(1)
	for i, c := range l.s.Code.Clauses {
		for ; ; epid++ {
			id, clause, ok := l.s.matched.on.Get(epid)
			if !ok || clause != i {
				break
			}
			p, _ := l.s.registry.Probe(id)
			l.probe(id, p.Desc())
		}
		for _, text := range c.Probes {
			l.foreseen(text)
		}
	}
}

func (l *lister) foreseen(text string) {
	for _, p := range l.s.resolver.Foresee(text) {
		l.probe("-", p.Desc)
	}
}

func (l *lister) probe(id any, d probes.Desc) {
	l.line(id, d)
	if l.s.Options.Verbose {
		l.details(d)
	}
}

func (l *lister) line(id any, d probes.Desc) {
	l.write(listFormat, id, d.Provider, d.Module, d.Function, d.Name)
}

// details are those of dtrace -lv.
func (l *lister) details(d probes.Desc) {
	var b strings.Builder
	of := l.s.resolver.About(d.Provider).Stability
	b.WriteString("\n")
	writeAttributes(&b, "Probe Description Attributes", of)
	writeAttributes(&b, "Argument Attributes", of)
	b.WriteString("\tArgument Types\n")
	types := l.s.front().ShownArgs(d)
	for i, t := range types {
		fmt.Fprintf(&b, "\t\targs[%d]: %s\n", i, t)
	}
	if len(types) == 0 {
		b.WriteString("\t\tNone\n")
	}
	l.write("%s\n", b.String())
}

func (l *lister) write(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, format, args...)
	}
}
