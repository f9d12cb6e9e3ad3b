package session

import "trapline/probes/d/code"

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
