package front

import (
	"fmt"
	"io"
	"strings"

	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// A Program is what sources have become.
type Program struct {
	Code    *code.Program
	Sources []Source // with those of libraries
	ends    []int    // by source: the number of clauses up to its end
	tree    *syntax.Program
}

// Clauses returns the clauses of a source, as a range of indexes of Code.Clauses.
func (p *Program) Clauses(source int) (from, to int) {
	if source > 0 {
		from = p.ends[source-1]
	}
	return from, p.ends[source]
}

// Disasm lists the code of the compiled program, clause by clause, with the stack after
// each instruction: option -S.
func (p *Program) Disasm(w io.Writer) error {
	var b strings.Builder
	for i, c := range p.Code.Clauses {
		fmt.Fprintf(&b, "clause %d: %s", i+1, strings.Join(c.Probes, ", "))
		if c.Line > 0 {
			fmt.Fprintf(&b, " (line %d)", c.Line)
		}
		b.WriteString("\n")
		if c.Pred != nil {
			p.disasmFunc(&b, "predicate", c.Pred)
		}
		for n, a := range c.Actions {
			fmt.Fprintf(&b, "  action %d: %s%s\n", n+1, a.Act, p.actionText(&a))
			for k, f := range a.Args {
				p.disasmFunc(&b, fmt.Sprintf("  value %d", k+1), f)
			}
			if a.Incr != nil {
				p.disasmFunc(&b, "  increment", a.Incr)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// actionText is what an action has beside its values.
func (p *Program) actionText(a *code.Action) (text string) {
	for _, n := range a.Aggs {
		text += " @" + p.Code.Aggs[n].Name
	}
	if a.Format != "" {
		text += fmt.Sprintf(" %q", a.Format)
	}
	return text
}

func (p *Program) disasmFunc(b *strings.Builder, what string, f *code.Func) {
	name := f.Type.Name
	if f.Type.Kind == code.Void {
		name = "void"
	}
	fmt.Fprintf(b, "  %s: %s, stack of %d\n", what, name, f.MaxStack)
	for _, line := range strings.SplitAfter(p.Code.Disasm(f), "\n") {
		if line != "" {
			b.WriteString("  " + line)
		}
	}
}

// Desugared writes the program as it is compiled, without the language's sugar: option -d.
func (p *Program) Desugared(w io.Writer) error { return syntax.Print(w, p.tree) }

// Effects are what a program does to the host while the guest runs.
type Effects struct {
	System  bool     // it runs commands
	Reopens []string // the formats of the names of files that it opens for writing
}

// Effects returns those of a program. Nil has none.
func (p *Program) Effects() (e Effects) {
	if p == nil {
		return e
	}
	for _, c := range p.Code.Clauses {
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
