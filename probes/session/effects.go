package session

import (
	"trapline/probes"
	"trapline/probes/d/code"
)

// Effects are what the programs of a session do to the host while the guest runs.
type Effects struct {
	System  bool     // they run commands
	Reopens []string // the formats of the names of files that they open for writing
}

// Effects returns those of the programs that have been compiled. Without any there are none.
func (s *Session) Effects() (e Effects) {
	if s.prog == nil {
		return e
	}
	for _, c := range s.prog.Clauses {
		for _, a := range c.Actions {
			switch {
			case a.Act == code.System:
				e.System = true
			case a.Act == code.Freopen && a.Format != "":
				e.Reopens = append(e.Reopens, a.Format)
			}
		}
	}
	return e
}

// Clockwork reports whether the guest's clock alone can end the trace: a timed probe is enabled, and a
// clause of such a probe, or of ERROR, can call exit().
func (s *Session) Clockwork() bool {
	timed, exits := false, false
	for _, p := range s.probes() {
		if p.Provider() != s.profile.Name() && p != s.dtrace.Error {
			continue
		}
		timed = timed || p != s.dtrace.Error
		exits = exits || s.exits(p)
	}
	return timed && exits
}

// exits reports whether a clause of p can call exit().
func (s *Session) exits(p *probes.Probe) bool {
	for _, on := range s.on.Of(p.ID()) {
		for _, a := range s.prog.Clauses[on.Clause].Actions {
			if a.Act == code.Exit {
				return true
			}
		}
	}
	return false
}
