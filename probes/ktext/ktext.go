// Package ktext is what the providers of probes in kernel text have in common: the functions
// that a description names, and what of them may have a probe.
//
//	description --Parts--> kernel, modules --Named, Symbols.Glob--> symbols --Decode--> instructions --Refusal--> kinst, fbt
package ktext

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes/patch"
	"trapline/trampoline"
)

// Taken and NotTaken end the names of probes of one way of a conditional jump.
const (
	Taken    = "-taken"
	NotTaken = "-nottaken"
)

// Symbols is what providers ask of a symbol table. *kernel.Symtab is one.
type Symbols interface {
	Lookup(name string) []kernel.Symbol
	Glob(pattern string) []kernel.Symbol
	Nearest(name string, n int) []string
	At(addr uint64) (kernel.Symbol, bool)
}

// Text is the text of a kernel and its modules.
type Text struct {
	Set     *patch.Set
	Symbols Symbols // of the kernel proper
	Arch    *arch.Arch
	System  *guestos.System // the guest's; nil: nothing is known of it
	Policy  *guestos.Policy // may change until probes are made
	// Unsafe says why the guest's own tracers stay away from an address, or ""; it may
	// be nil.
	Unsafe func(addr uint64) string

	modules []Part
}

// An UnknownError says that there is no function of a name.
type UnknownError struct {
	Function string
	Module   string
	Near     []string // names that may have been meant
}

func (e *UnknownError) Error() string {
	text := fmt.Sprintf("no function %q in %s", e.Function, e.Module)
	if len(e.Near) > 0 {
		text += fmt.Sprintf(" (nearest: %s)", strings.Join(e.Near, ", "))
	}
	return text
}

var errEmpty = errors.New("the function has no size")

// Decode gives the instructions of a function. f is nil when there are none at all; err says
// why they end early.
func (t *Text) Decode(s kernel.Symbol) (f *patch.Func, instrs []patch.Instr, err error) {
	f = t.Set.Func(s.Addr, int(s.Size))
	instrs, err = f.Instrs()
	return decoded(s, f, instrs, err)
}

// DecodeAll is Decode of many functions of different addresses, on all CPUs: take gets what
// Decode would give of each, in their order.
func (t *Text) DecodeAll(syms []kernel.Symbol, take func(s kernel.Symbol, f *patch.Func, instrs []patch.Instr, err error)) {
	funcs := make([]*patch.Func, len(syms))
	for i, s := range syms {
		funcs[i] = t.Set.Func(s.Addr, int(s.Size))
	}
	type plans struct {
		instrs []patch.Instr
		err    error
	}
	look := func(f *patch.Func, walk patch.Walk) (p plans) {
		p.instrs, p.err = f.Plans(walk)
		return p
	}
	i := 0
	patch.Look(t.Set, funcs, look, func(f *patch.Func, p plans) {
		s := syms[i]
		i++
		f, instrs, err := decoded(s, f, p.instrs, p.err)
		take(s, f, instrs, err)
	})
}

// decoded is what Decode gives of a function that has these instructions.
func decoded(s kernel.Symbol, f *patch.Func, instrs []patch.Instr, err error) (*patch.Func, []patch.Instr, error) {
	if f.Size > int(s.Size) { // another name of it reaches further
		instrs = slices.DeleteFunc(instrs, func(in patch.Instr) bool { return in.Off >= int(s.Size) })
	}
	if len(instrs) == 0 {
		return nil, nil, cmp.Or(err, errEmpty)
	}
	return f, instrs, err
}

// Refusal says why the i-th instruction of f cannot be traced, or "".
func (t *Text) Refusal(f *patch.Func, instrs []patch.Instr, i int) string {
	in := instrs[i]
	if in.Plan.Kind == trampoline.Refuse {
		return in.Plan.Reason()
	}
	if t.Policy == nil {
		return ""
	}
	if t.Unsafe != nil {
		if why := t.Unsafe(f.Start + uint64(in.Off)); why != "" {
			return why
		}
	}
	if why := t.byName(f.Start); why != "" {
		return why
	}
	if !t.Policy.Code {
		return ""
	}
	o, _ := originals.Of(t.Arch)
	if why := o.function(instrs); why != "" {
		return why
	}
	return o.instruction(instrs, i)
}

// byName says why the policy leaves out the function at an address for what its symbol says, or "".
func (t *Text) byName(addr uint64) string {
	s, _, ok := t.At(addr)
	switch {
	case !ok:
		return ""
	case t.Policy.Sized && s.Label:
		return "the symbol table gives it no size"
	}
	return t.Policy.Function(s.Name)
}

// RefusalAt is Refusal of an instruction whose neighbours the caller does not know.
func (t *Text) RefusalAt(f *patch.Func, in patch.Instr) string {
	if t.Policy == nil {
		return in.Plan.Reason()
	}
	instrs, _ := f.Instrs() // up to in at least
	i := slices.IndexFunc(instrs, func(x patch.Instr) bool { return x.Off == in.Off })
	return t.Refusal(f, instrs, i)
}
