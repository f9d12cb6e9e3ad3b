package session

import (
	"fmt"
	"io"
	"iter"

	"trapline/probes"
)

const listFormat = "%5v %10s %17s %33s %s\n"

// List writes the probes that the compiled sources describe, in their order, as dtrace -l
// does. Without sources it writes all that need not be named to exist.
func (s *Session) List(w io.Writer) error {
	if s.prog == nil {
		if _, err := s.registry.Match(probes.Desc{}); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(w, listFormat, "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME"); err != nil {
		return err
	}
	for p := range s.listed() {
		d := p.Desc()
		if _, err := fmt.Fprintf(w, listFormat, p.ID(), d.Provider, d.Module, d.Function, d.Name); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) listed() iter.Seq[*probes.Probe] {
	if s.prog == nil {
		return s.registry.All()
	}
	return func(yield func(*probes.Probe) bool) {
		for epid := range s.on.len() {
			id, _, _ := s.on.get(uint32(epid + 1))
			if p, ok := s.registry.Probe(id); ok && !yield(p) {
				return
			}
		}
	}
}
