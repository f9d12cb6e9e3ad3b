package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/d/syntax"
	"trapline/probes/front"
	"trapline/probes/ktext"
	"trapline/probes/modules"
	"trapline/probes/trace"
)

// tagZero is the tag of a description that matches nothing.
const tagZero syntax.Tag = "D_PDESC_ZERO"

// matched are the probes of a program.
type matched struct {
	on     trace.Enablings
	counts []int   // by source
	none   []error // descriptions without a probe
}

// Compile compiles the sources as one program and makes the probes that it describes. It
// is called once. The error is a *front.CompileError where it is one of the program.
func (s *Session) Compile(sources []front.Source, m front.Macros) error {
	defer s.typesTrouble()
	var err error
	if s.Program, err = s.front().Compile(sources, m); err != nil {
		return err
	}
	return s.match()
}

// front is what programs are compiled for.
func (s *Session) front() *front.Config {
	return &front.Config{
		Arch: s.Target.Arch(), System: s.OS.System(), Text: s.ktext, Types: s.Types, Modules: s.Modules,
		Registry: s.registry, Resolver: s.resolver, Options: s.Options, Stderr: s.Stderr,
	}
}

// typesTrouble says what is wrong with the image's type information: what could
// not be read is missing without another word.
func (s *Session) typesTrouble() {
	t, ok := s.Types.(interface{ Err() error })
	if ok && t.Err() != nil {
		s.complain("types of the kernel: %v", t.Err())
	}
}

// match finds the probes of all clauses.
func (s *Session) match() error {
	var err error
	if s.ktext.Policy, err = guestos.ParsePolicy(s.Options.KinstPolicy); err != nil {
		return fmt.Errorf("option kinstpolicy: %w", err)
	}
	s.matched.counts = make([]int, len(s.Sources))
	for i, src := range s.Sources {
		from, to := s.Clauses(i)
		for c := from; c < to; c++ {
			n, err := s.matchClause(src, c)
			if err != nil {
				return err
			}
			if !s.Code.Clauses[c].Sugar {
				s.matched.counts[i] += n
			}
		}
	}
	s.matched.on.Index(s.registry.Len())
	return nil
}

// matchClause finds the probes of a clause, makes its enablings and returns their number.
func (s *Session) matchClause(src front.Source, clause int) (n int, err error) {
	c := s.Code.Clauses[clause]
	for _, text := range c.Probes {
		ps, err := s.lookup(text)
		if err != nil {
			err = s.noProbe(src, c.Line, err)
		}
		if err != nil && !s.Options.ZeroDefs {
			return 0, s.matched.none[0]
		}
		s.matched.on.Add(ps, clause)
		n += len(ps)
	}
	return n, nil
}

// lookup finds the probes of a description. It is an error that there are none, unless a module may
// bring them.
func (s *Session) lookup(text string) ([]*probes.Probe, error) {
	ps, err := s.resolver.Lookup(text)
	if len(ps) == 0 {
		expected, why := s.resolver.Expects(text)
		if expected {
			return nil, nil
		}
		err = cmp.Or(why, err)
	}
	if err == nil && len(ps) == 0 {
		err = s.resolver.NoMatch(text)
	}
	return ps, err
}

// noProbe makes the error of a description without a probe, and keeps it.
func (s *Session) noProbe(src front.Source, line int, cause error) error {
	if src.File == "" {
		line = 0
	}
	err := &syntax.Error{Pos: syntax.Pos{Line: line}, Tag: tagZero, Msg: cause.Error(), Cause: cause}
	s.matched.none = append(s.matched.none, &front.CompileError{Source: src, Err: err, Tags: s.Options.ErrTags})
	return err
}

// Unmatched returns what is wrong with the descriptions for which there is no probe, in the order of
// the sources. Without option zdefs Compile has failed with the first.
func (s *Session) Unmatched() []error { return s.matched.none }

// missed reports whether a description names a module that is not there.
func (s *Session) missed() bool {
	return slices.ContainsFunc(s.matched.none, func(err error) bool { return errors.Is(err, ktext.ErrNoModule) })
}

// matchModule finds the probes of a module for all clauses, and makes their enablings.
func (s *Session) matchModule(m *modules.Module) (all []*probes.Probe) {
	for i, c := range s.Code.Clauses {
		for _, text := range c.Probes {
			ps, err := s.resolver.InModule(m, text)
			if err != nil {
				s.complain("module %s: %v", m.Name(), err)
			}
			for _, p := range ps {
				s.matched.on.AddLate(p, i)
			}
			all = append(all, ps...)
		}
	}
	slices.SortFunc(all, func(a, b *probes.Probe) int { return cmp.Compare(a.ID(), b.ID()) })
	return slices.Compact(all)
}

// announce says how many probes each source matched.
func (s *Session) announce() {
	if s.Options.Quiet {
		return
	}
	for i, src := range s.Sources {
		if src.Library {
			continue
		}
		plural := "s"
		if s.matched.counts[i] == 1 {
			plural = ""
		}
		s.complain("%v matched %d probe%s", src, s.matched.counts[i], plural)
	}
}
