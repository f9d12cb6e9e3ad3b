package front

import (
	"fmt"
	"io"
	"strings"

	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// A Program is the result of Compile.
type Program struct {
	Code    *code.Program
	Sources []Source // including libraries
	ends    []int    // by source: the number of clauses up to its end
	tree    *syntax.Program
}

// Clauses returns the range [from, to) of Code.Clauses that comes from a source.
func (p *Program) Clauses(source int) (from, to int) {
	if source > 0 {
		from = p.ends[source-1]
	}
	return from, p.ends[source]
}

// Disasm writes the bytecode of each clause with the stack after each instruction, for the flag -S.
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

// actionText returns the aggregations and the format of an action.
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

// Desugared writes the program without syntactic sugar, for the flag -d.
func (p *Program) Desugared(w io.Writer) error { return syntax.Print(w, p.tree) }

// Effects are what a program does to the host while the guest runs.
type Effects struct {
	System  bool     // it runs commands
	Reopens []string // the formats of the names of files that it opens for writing
}

// Effects returns the effects of a program. A nil program has none.
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
