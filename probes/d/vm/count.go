package vm

import (
	"trapline/probes/d/agg"
	"trapline/probes/d/code"
)

// OnlyCounts says that a firing of these clauses does nothing but add one to counts, under
// keys that follow from the probe alone. So n firings may run together: FireTimes.
func (m *Machine) OnlyCounts(es []Enabling) bool {
	for _, e := range es {
		if !m.clauses[e.Clause].counts {
			return false
		}
	}
	return len(es) > 0
}

// FireTimes comes to the same as n times Fire, for clauses that OnlyCounts.
func (m *Machine) FireTimes(env Env, es []Enabling, n uint64) {
	m.times = n
	m.Fire(env, es)
	m.times = 1
}

// Dropped counts updates of aggregations for which there was no room.
func (m *Machine) Dropped() (n uint64) {
	for _, t := range m.tables {
		n += t.Drops
	}
	return n
}

// onlyCounts says the same of one clause.
func onlyCounts(p *code.Program, c *code.Clause) bool {
	if c.Pred != nil || len(c.Actions) == 0 {
		return false
	}
	for _, a := range c.Actions {
		if a.Act != code.Aggregate || p.Aggs[a.Aggs[0]].Fn != agg.Count || a.Incr != nil {
			return false
		}
		for _, key := range a.Args {
			if !ofProbe(key) {
				return false
			}
		}
	}
	return true
}

// ofProbe says that an expression is a constant or names the probe.
func ofProbe(f *code.Func) bool {
	for _, in := range f.Code {
		switch in.Op {
		case code.OpPush, code.OpStr, code.OpSext, code.OpZext:
		case code.OpBuiltin:
			switch code.Builtin(in.Imm) {
			case code.EPID, code.ID, code.Probefunc, code.Probemod, code.Probename, code.Probeprov:
			default:
				return false
			}
		default:
			return false
		}
	}
	return f.Type.Form == code.Number
}
