package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"trapline/kernel"
	"trapline/probes"
	"trapline/probes/d/syntax"
	"trapline/probes/ktext"
	"trapline/probes/modules"
)

// tagZero is the tag of a description that matches nothing.
const tagZero syntax.Tag = "D_PDESC_ZERO"

// match finds the probes of a clause, makes its enablings and returns their number.
func (s *Session) match(src Source, clause int) (n int, err error) {
	line, descs := s.prog.Clauses[clause].Line, s.prog.Clauses[clause].Probes
	if src.File == "" {
		line = 0
	}
	for _, text := range descs {
		ps, err := s.lookup(text)
		if len(ps) == 0 {
			expected, why := s.toCome(text)
			if expected {
				continue
			}
			err = cmp.Or(why, err)
		}
		if err == nil && len(ps) == 0 {
			err = fmt.Errorf("probe description %s does not match any probes%s", full(text), s.hint(text))
		}
		if err != nil {
			err = &syntax.Error{Pos: syntax.Pos{Line: line}, Tag: tagZero, Msg: err.Error(), Cause: err}
			s.unmatched = append(s.unmatched, &CompileError{src, err, s.Options.ErrTags})
		}
		if err != nil && !s.Options.ZeroDefs {
			return 0, s.unmatched[0]
		}
		s.on.Add(ps, clause)
		n += len(ps)
	}
	return n, nil
}

// toCome reports whether a description may match when a module is loaded, or why it will not.
func (s *Session) toCome(text string) (yes bool, why error) {
	d, err := probes.ParseDesc(text)
	if err != nil || s.inlined.done[text].err != nil {
		return false, nil
	}
	return s.modules.Expects(d)
}

// Unmatched tells the descriptions for which there is no probe, in the order of the
// sources. Without option zdefs Compile has failed with the first.
func (s *Session) Unmatched() []error { return s.unmatched }

// userProvider tells DTrace's provider of functions and instructions of a process: pid and a number.
func userProvider(name string) bool {
	id, ok := strings.CutPrefix(name, "pid")
	return ok && (id == "" || strings.Trim(id, "0123456789*") == "")
}

// hint says what is wrong with a description that matches nothing, or what it lacks that
// kinst would make probes for.
func (s *Session) hint(text string) string {
	d, err := probes.ParseDesc(text)
	switch {
	case err != nil:
	case d.Provider == "" && !kernel.IsGlob(d.Function):
		if _, err := s.ktext.Kernel().Named(d.Function); err != nil {
			return ": " + err.Error()
		}
		return fmt.Sprintf(": fbt has entry and return, and kinst makes probes when it is named, as in kinst::%s:", d.Function)
	case userProvider(d.Provider):
		return ": user programs cannot be probed, only the kernel"
	}
	if p, ok := s.registry.Provider(d.Provider); ok {
		if h, can := p.(probes.Hinter); can && h.Hint(d) != "" {
			return ": " + h.Hint(d)
		}
	}
	return ""
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
	if x, ok := s.inlined.done[text]; ok && x.err != nil {
		return nil, x.err
	}
	d, err := probes.ParseDesc(text)
	if err != nil {
		return nil, err
	}
	ps, err := s.registry.Match(d)
	return s.inlined.keep(text, ps), err
}

// about is what the probes of a provider have.
func (s *Session) about(provider string) *probes.About {
	p, _ := s.registry.Provider(provider)
	return probes.AboutOf(p)
}

// foresee lists the probes of modules that a description means when they are loaded.
func (s *Session) foresee(text string) []modules.Foreseen {
	d, err := probes.ParseDesc(text)
	if err != nil {
		return nil
	}
	meant, made := s.inlined.addrs[text]
	return s.modules.Foresee(d, func(link uint64) bool { return !made || slices.Contains(meant, link) })
}

// missed reports whether a description names a module that is not there.
func (s *Session) missed() bool {
	return slices.ContainsFunc(s.unmatched, func(err error) bool { return errors.Is(err, ktext.ErrNoModule) })
}

// matchModule finds the probes of a module for all clauses, and makes their enablings. What a
// description cannot have there is reported if it names the module: otherwise another may have it.
func (s *Session) matchModule(m *modules.Module) (all []*probes.Probe) {
	for i, c := range s.prog.Clauses {
		for _, text := range c.Probes {
			for _, p := range s.inModule(m, text) {
				s.on.AddLate(p, i)
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b *probes.Probe) int { return cmp.Compare(a.ID(), b.ID()) })
	return slices.Compact(all)
}

// inModule finds the probes of a description in a module.
func (s *Session) inModule(m *modules.Module, text string) []*probes.Probe {
	d, err := probes.ParseDesc(text)
	if err != nil || !s.ktext.InModule(d.Module, m.Name()) {
		return nil
	}
	named := d.Module == m.Name()
	d.Module = m.Name()
	ps, err := s.registry.Match(d)
	if err != nil && named {
		s.complain("module %s: %v", m.Name(), err)
	}
	ps = slices.Clone(s.inlined.keep(text, ps))
	return slices.DeleteFunc(ps, func(p *probes.Probe) bool { return p.Module() != m.Name() })
}

// full is a description with all four parts.
func full(text string) string {
	d, err := probes.ParseDesc(text)
	if err != nil {
		return text
	}
	return d.String()
}
