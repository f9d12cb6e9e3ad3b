package session

import (
	"fmt"
	"strconv"

	"trapline/probes"
	"trapline/probes/d/syntax"
)

// tagZero is the tag of a description that matches nothing.
const tagZero syntax.Tag = "D_PDESC_ZERO"

// match finds the probes of a clause, makes its enablings and returns their number. A
// line of 0 is that of a specifier on the command line.
func (s *Session) match(clause, line int, descs []string) (int, error) {
	n := 0
	for _, text := range descs {
		ps, err := s.lookup(text)
		if err == nil && len(ps) == 0 {
			err = fmt.Errorf("probe description %s does not match any probes", full(text))
		}
		if err != nil && !s.Options.ZeroDefs {
			return 0, &syntax.Error{Pos: syntax.Pos{Line: line}, Tag: tagZero, Msg: err.Error()}
		}
		if err != nil {
			s.notes = append(s.notes, err.Error())
		}
		for _, p := range ps {
			s.on.add(p, clause)
		}
		n += len(ps)
	}
	return n, nil
}

// lookup finds the probes of a description: four parts, fewer aligned to the right, or
// the number of a probe.
func (s *Session) lookup(text string) ([]*probes.Probe, error) {
	if id, err := strconv.ParseUint(text, 10, 32); err == nil {
		if p, ok := s.registry.Probe(probes.ID(id)); ok {
			return []*probes.Probe{p}, nil
		}
		return nil, nil
	}
	d, err := probes.ParseDesc(text)
	if err != nil {
		return nil, err
	}
	return s.registry.Match(d)
}

// full is a description with all four parts.
func full(text string) string {
	d, err := probes.ParseDesc(text)
	if err != nil {
		return text
	}
	return d.String()
}
