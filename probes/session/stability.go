package session

import (
	"fmt"
	"io"
	"strings"

	"trapline/probes"
	"trapline/probes/d/code"
)

// Stability writes how far the program depends on what may change with the kernel: option
// -v.
func (s *Session) Stability(w io.Writer) error {
	var b strings.Builder
	described := s.described()
	for i, src := range s.Sources {
		if src.Library {
			continue
		}
		desc, stmt := probes.Stable, probes.Stable
		from, to := s.Clauses(i)
		for n := from; n < to; n++ {
			desc = least(desc, described[n])
			stmt = least(stmt, statements(s.Code.Clauses[n]))
		}
		fmt.Fprintf(&b, "\nStability attributes for %v:\n\n", src)
		writeAttributes(&b, "Minimum Probe Description Attributes", desc)
		writeAttributes(&b, "Minimum Statement Attributes", stmt)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeAttributes(b *strings.Builder, title string, a probes.Stability) {
	fmt.Fprintf(b, "\t%s\n\t\tIdentifier Names: %s\n\t\tData Semantics:   %s\n\t\tDependency Class: %s\n\n", title, a.Name, a.Data, a.Class)
}

// described is, for each clause, the least of the attributes of its probes' providers.
func (s *Session) described() []probes.Stability {
	out := make([]probes.Stability, len(s.Code.Clauses))
	for i := range out {
		out[i] = probes.Stable
	}
	for id := range s.matched.on.Each {
		p, _ := s.registry.Probe(id)
		of := probes.AboutOf(p.Group().Provider()).Stability
		for _, e := range s.matched.on.Of(id) {
			out[e.Clause] = least(out[e.Clause], of)
		}
	}
	return out
}

// statements are the attributes of what a clause computes: memory, registers and
// structures of the kernel may change with it.
func statements(c *code.Clause) probes.Stability {
	fns := []*code.Func{}
	if c.Pred != nil {
		fns = append(fns, c.Pred)
	}
	for _, a := range c.Actions {
		fns = append(fns, a.Funcs()...)
	}
	a := probes.Stable
	for _, f := range fns {
		for _, in := range f.Code {
			a = least(a, ofInstr(in))
		}
	}
	return a
}

func ofInstr(in code.Instr) probes.Stability {
	switch in.Op {
	case code.OpReg, code.OpUReg, code.OpLoadS, code.OpLoadU, code.OpLoadBytes:
		return probes.Private
	case code.OpBuiltin:
		if code.Builtin(in.Imm) == code.Curthread {
			return probes.Stability{Name: "Stable", Data: "Private", Class: "Common"}
		}
	case code.OpArg:
		return probes.Stability{Name: "Stable", Data: "Private", Class: "ISA"}
	}
	return probes.Stable
}

var ranks = map[string]int{"Private": 0, "Unstable": 1, "Stable": 2, "ISA": 0, "Common": 1}

// least takes the lower of each attribute.
func least(a, b probes.Stability) probes.Stability {
	lower := func(x, y string) string {
		if ranks[y] < ranks[x] {
			return y
		}
		return x
	}
	return probes.Stability{Name: lower(a.Name, b.Name), Data: lower(a.Data, b.Data), Class: lower(a.Class, b.Class)}
}
