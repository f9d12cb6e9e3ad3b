package session

import (
	"fmt"
	"io"
	"strings"

	"trapline/probes"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// Disasm lists the code of the compiled program, clause by clause, with the stack after
// each instruction: option -S.
func (s *Session) Disasm(w io.Writer) error {
	var b strings.Builder
	for i, c := range s.prog.Clauses {
		fmt.Fprintf(&b, "clause %d: %s", i+1, strings.Join(c.Probes, ", "))
		if c.Line > 0 {
			fmt.Fprintf(&b, " (line %d)", c.Line)
		}
		b.WriteString("\n")
		if c.Pred != nil {
			s.disasmFunc(&b, "predicate", c.Pred)
		}
		for n, a := range c.Actions {
			fmt.Fprintf(&b, "  action %d: %s%s\n", n+1, a.Act, s.actionText(&a))
			for k, f := range a.Args {
				s.disasmFunc(&b, fmt.Sprintf("  value %d", k+1), f)
			}
			if a.Incr != nil {
				s.disasmFunc(&b, "  increment", a.Incr)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// actionText is what an action has beside its values.
func (s *Session) actionText(a *code.Action) (text string) {
	for _, n := range a.Aggs {
		text += " @" + s.prog.Aggs[n].Name
	}
	if a.Format != "" {
		text += fmt.Sprintf(" %q", a.Format)
	}
	return text
}

func (s *Session) disasmFunc(b *strings.Builder, what string, f *code.Func) {
	name := f.Type.Name
	if f.Type.Kind == code.Void {
		name = "void"
	}
	fmt.Fprintf(b, "  %s: %s, stack of %d\n", what, name, f.MaxStack)
	for _, line := range strings.SplitAfter(s.prog.Disasm(f), "\n") {
		if line != "" {
			b.WriteString("  " + line)
		}
	}
}

// Desugared writes the program as it is compiled, without the language's sugar: option -d.
func (s *Session) Desugared(w io.Writer) error { return syntax.Print(w, s.tree) }

// Stability tells how far the program depends on what may change with the kernel: option
// -v.
func (s *Session) Stability(w io.Writer) error {
	var b strings.Builder
	described := s.described()
	for i, src := range s.sources {
		if src.Library {
			continue
		}
		desc, stmt := probes.Stable, probes.Stable
		from := 0
		if i > 0 {
			from = s.ends[i-1]
		}
		for n := from; n < s.ends[i]; n++ {
			desc = least(desc, described[n])
			stmt = least(stmt, s.statements(s.prog.Clauses[n]))
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
	out := make([]probes.Stability, len(s.prog.Clauses))
	for i := range out {
		out[i] = probes.Stable
	}
	for id := range s.on.Each {
		p, _ := s.registry.Probe(id)
		of := probes.AboutOf(p.Group().Provider()).Stability
		for _, e := range s.on.Of(id) {
			out[e.Clause] = least(out[e.Clause], of)
		}
	}
	return out
}

// statements are the attributes of what a clause computes: memory, registers and
// structures of the kernel may change with it.
func (s *Session) statements(c *code.Clause) probes.Stability {
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
