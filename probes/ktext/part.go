package ktext

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"trapline/kernel"
	"trapline/kernel/guestos"
	"trapline/probes"
)

// A Part is code with a symbol table of its own: the kernel proper, or a module that is
// loaded.
type Part struct {
	Module  string // in a probe's description
	Symbols Symbols
}

// ErrNoModule is wrapped by the error for a module that is asked for by its name and not
// there.
var ErrNoModule = errors.New("no module")

// InModule reports whether a description's module means a module of this name.
func (t *Text) InModule(pattern, module string) bool { return t.names().Means(pattern, module) }

// InKernel reports whether it means the kernel proper.
func (t *Text) InKernel(pattern string) bool { return t.InModule(pattern, t.names().Name) }

// names are those of the kernel proper.
func (t *Text) names() guestos.ModuleName { return cmp.Or(t.System, guestos.Bare).Module }

// Kernel is the kernel proper.
func (t *Text) Kernel() Part { return Part{t.names().Name, t.Symbols} }

// SetModules sets the modules that are loaded now.
func (t *Text) SetModules(modules []Part) { t.modules = modules }

// Parts are those that a description's module means, the kernel proper first. A module asked
// for by a name that is not there is an error.
func (t *Text) Parts(pattern string) ([]Part, error) {
	var out []Part
	for _, p := range append([]Part{t.Kernel()}, t.modules...) {
		if t.InModule(pattern, p.Module) {
			out = append(out, p)
		}
	}
	if len(out) == 0 && !kernel.IsGlob(pattern) {
		return nil, fmt.Errorf("%w %q: name its file with --module (the kernel itself is %q)", ErrNoModule, pattern, t.names().Name)
	}
	return out, nil
}

// At finds the symbol that covers an address, and the part that it is in.
func (t *Text) At(addr uint64) (s kernel.Symbol, p Part, ok bool) {
	if s, ok = t.Symbols.At(addr); ok {
		return s, t.Kernel(), true
	}
	for _, p := range t.modules {
		if s, ok = p.Symbols.At(addr); ok {
			return s, p, true
		}
	}
	return s, p, false
}

// Named are the functions of one name, each address once. It is an error that there is
// none.
func (p Part) Named(function string) ([]kernel.Symbol, error) {
	syms := slices.DeleteFunc(slices.Clone(p.Symbols.Lookup(function)), func(s kernel.Symbol) bool { return !s.Func || s.Size == 0 })
	syms = slices.CompactFunc(syms, func(a, b kernel.Symbol) bool { return a.Addr == b.Addr })
	if len(syms) == 0 {
		return nil, &UnknownError{function, p.Module, p.Symbols.Nearest(function, 3)}
	}
	return syms, nil
}

// Named makes the probes of the functions of one name in parts, by one call of make for each. If
// there are none the error is the first that there was.
func Named(parts []Part, function string, make func(Part, kernel.Symbol) ([]*probes.Probe, error)) ([]*probes.Probe, error) {
	var out []*probes.Probe
	var first error
	for _, part := range parts {
		syms, err := part.Named(function)
		first = cmp.Or(first, err)
		for _, s := range syms {
			ps, err := make(part, s)
			first = cmp.Or(first, err)
			out = append(out, ps...)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, first
}
