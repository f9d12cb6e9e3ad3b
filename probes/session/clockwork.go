package session

import (
	"trapline/probes"
	"trapline/probes/d/code"
)

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
	for _, on := range s.matched.on.Of(p.ID()) {
		for _, a := range s.Code.Clauses[on.Clause].Actions {
			if a.Act == code.Exit {
				return true
			}
		}
	}
	return false
}
