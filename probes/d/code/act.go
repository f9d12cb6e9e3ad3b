package code

import "fmt"

var actNames = [...]string{
	Eval: "evaluate", Trace: "trace", Printf: "printf", Printa: "printa", Stack: "stack", UStack: "ustack", SymOf: "sym",
	Clear: "clear", Normalize: "normalize", Denormalize: "denormalize", Trunc: "trunc",
	Speculate: "speculate", Commit: "commit", Discard: "discard", Print: "print", Tracemem: "tracemem",
	System: "system", Freopen: "freopen", Ftruncate: "ftruncate", Setopt: "setopt",
	Stop: "stop", Raise: "raise", Panic: "panic", Breakpoint: "breakpoint", Chill: "chill", Yield: "yield",
	Exit: "exit", Aggregate: "aggregate",
}

func (a Act) String() string {
	if int(a) < len(actNames) && actNames[a] != "" {
		return actNames[a]
	}
	return fmt.Sprintf("act(%d)", uint8(a))
}

// Destructive says that an action changes the guest or the host: it needs option
// destructive.
func (a Act) Destructive() bool {
	switch a {
	case Stop, Raise, Panic, Breakpoint, Chill, Yield, System, Freopen:
		return true
	}
	return false
}

// Immediate says that an action acts on the guest, at once.
func (a Act) Immediate() bool {
	switch a {
	case Stop, Raise, Panic, Breakpoint, Chill, Yield:
		return true
	}
	return false
}

// Records says that an action leaves something in the record of its clause.
func (a Act) Records() bool {
	switch a {
	case Eval, Aggregate, Speculate, Commit, Discard:
		return false
	}
	return !a.Immediate()
}

// OnAggs says that an action changes or shows aggregations when its record is read, so
// that this is to be done before they change again.
func (a Act) OnAggs() bool {
	switch a {
	case Printa, Clear, Normalize, Denormalize, Trunc:
		return true
	}
	return false
}

// Destructive says whether the program needs option destructive, and the line that does.
func (p *Program) Destructive() (line int, yes bool) {
	for _, c := range p.Clauses {
		for _, a := range c.Actions {
			if a.Act.Destructive() {
				return a.Line, true
			}
			for _, f := range append(a.Funcs(), c.Pred) {
				if f != nil && f.destructive() {
					return f.Line, true
				}
			}
		}
		if c.Pred != nil && c.Pred.destructive() {
			return c.Pred.Line, true
		}
	}
	return 0, false
}

func (f *Func) destructive() bool {
	for _, in := range f.Code {
		if in.Op == OpCall && Sub(in.Imm).Destructive() {
			return true
		}
	}
	return false
}
