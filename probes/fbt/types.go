package fbt

import (
	"trapline/kernel"
	"trapline/kernel/ctypes"
	"trapline/probes"
)

// ArgTypes are those of the function's parameters, up to one that does not come in a
// register of its own; of a return, those of the offset and of the value. Where several
// functions match, they are what all have.
func (p *Provider) ArgTypes(d probes.Desc) []*ctypes.Type {
	want := wishOf(d.Name)
	if p.Types == nil || want.entry == want.leave {
		return nil
	}
	var all []*ctypes.Type
	for _, part := range p.Types(d.Module) {
		for _, name := range part.functions(d.Function) {
			got := part.typesOf(name, want)
			if all != nil {
				got = common(all, got)
			}
			if all = got; len(all) == 0 {
				return nil
			}
		}
	}
	return all
}

// functions are the names of those that a description means.
func (t Typed) functions(pattern string) (names []string) {
	if !kernel.IsGlob(pattern) {
		if _, err := t.Named(pattern); err != nil {
			return nil
		}
		return []string{pattern}
	}
	for _, s := range t.Symbols.Glob(pattern) {
		if unfit(t.Part, s) == "" {
			names = append(names, s.Name)
		}
	}
	return names
}

// typesOf are the types of one function's probe.
func (t Typed) typesOf(function string, want wish) []*ctypes.Type {
	f, ok := t.Types.Function(function)
	switch {
	case !ok || f.Base().Kind != ctypes.Func:
		return nil
	case want.leave:
		return returned(f.Base().Elem)
	}
	var out []*ctypes.Type
	for _, t := range f.Base().Params {
		if !t.IsScalar() {
			break
		}
		out = append(out, t)
	}
	return out
}

// returned are the types of a return's arguments.
func returned(value *ctypes.Type) []*ctypes.Type {
	if value.IsScalar() {
		return []*ctypes.Type{ctypes.LongType, value}
	}
	return []*ctypes.Type{ctypes.LongType}
}

// common is how far two lists of types are the same.
func common(a, b []*ctypes.Type) []*ctypes.Type {
	n := 0
	for n < min(len(a), len(b)) && ctypes.Same(a[n], b[n]) {
		n++
	}
	return a[:n]
}
