package trace

import (
	"slices"

	"trapline/kernel/guestos"
	"trapline/probes/d/code"
)

// parts are what a guest may not tell, and where programs ask for it.
var parts = []struct {
	name     string
	builtins []code.Builtin
	act      code.Act // if not 0
	always   string   // what programs get
}{
	{"pid", []code.Builtin{code.PID}, 0, "is 0"},
	{"tid", []code.Builtin{code.TID}, 0, "is 0"},
	{"ppid", []code.Builtin{code.PPID}, 0, "is 0"},
	{"uid", []code.Builtin{code.UID}, 0, "is 0"},
	{"gid", []code.Builtin{code.GID}, 0, "is 0"},
	{"execname", []code.Builtin{code.Execname}, 0, "is empty"},
	{"stack", []code.Builtin{code.Caller, code.Stackdepth}, code.Stack, "has one frame"},
}

// sayUnknown says once what the program asks for and this guest does not tell.
func (tr *Trace) sayUnknown() {
	os, partial := tr.OS.(guestos.Partial)
	if !partial {
		return
	}
	for _, p := range parts {
		asked := slices.ContainsFunc(p.builtins, func(b code.Builtin) bool { return usesBuiltin(tr.prog, b) })
		if !asked && !(p.act != 0 && usesAct(tr.prog, p.act)) {
			continue
		}
		if why := os.Unknown(p.name); why != "" {
			tr.Complain("%s %s: %s", p.name, p.always, why)
		}
	}
}

// usesAct reports whether a program has an action, or a stack as a key.
func usesAct(p *code.Program, act code.Act) bool {
	return slices.ContainsFunc(p.Clauses, func(c *code.Clause) bool {
		return slices.ContainsFunc(c.Actions, func(a code.Action) bool {
			return a.Act == act || slices.ContainsFunc(a.Funcs(), usesFrames)
		})
	})
}

// usesFrames reports whether an expression is a stack of the kernel's.
func usesFrames(f *code.Func) bool {
	return slices.ContainsFunc(f.Code, func(in code.Instr) bool { return in.Op == code.OpFrames && in.N == 0 })
}
