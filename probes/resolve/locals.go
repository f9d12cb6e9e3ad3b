package resolve

import (
	"fmt"
	"strings"

	"trapline/kernel"
	"trapline/kernel/ctypes"
	"trapline/probes"
	"trapline/probes/modules"
)

// LocalType is the type of a local variable at the probes of a description, which must be
// instructions of functions. A return of fbt, which is at several, has what the function
// begins with: its parameters, and what is declared in its outermost block.
func (r *Resolver) LocalType(desc, name string) (*ctypes.Type, error) {
	places, err := r.localPlaces(desc)
	if err != nil {
		return nil, err
	}
	var typ *ctypes.Type
	for _, p := range places {
		if !r.About(p.Provider).Locals {
			return nil, fmt.Errorf("%s is not in a function: only probes of kinst and fbt see local variables", p.Desc)
		}
		locals, err := p.of.OpenLocals()
		if err != nil {
			return nil, err
		}
		v, ok := locals.Find(p.addr, name)
		switch {
		case !ok:
			return nil, noLocal(locals, p.addr, p.String(), name)
		case typ != nil && !ctypes.Same(typ, v.Type):
			return nil, fmt.Errorf("it is of type %s at some of the probes of %s, of type %s at others", typ, desc, v.Type)
		case v.Type.Bytes() == 0:
			return nil, fmt.Errorf("it is of type %s, which has no size", v.Type)
		}
		typ = v.Type
	}
	if typ == nil {
		return nil, fmt.Errorf("%s does not match any probes", full(desc))
	}
	return typ, nil
}

// A localPlace is where a probe of a description is, or will be when a module is loaded: the
// module is at its link-time addresses until then.
type localPlace struct {
	probes.Desc
	addr uint64
	of   *modules.Debug
}

func (r *Resolver) localPlaces(desc string) (all []localPlace, err error) {
	found, err := r.Lookup(desc)
	for _, p := range found {
		all = append(all, localPlace{p.Desc(), p.Key, r.modules.DebugOf(p)})
	}
	foreseen := r.Foresee(desc)
	for _, p := range foreseen {
		all = append(all, localPlace{p.Desc, p.Addr, p.Debug})
	}
	if len(all) > 0 {
		err = nil
	}
	return all, err
}

// noLocal says what there is instead.
func noLocal(locals modules.Locals, addr uint64, at, name string) error {
	names := locals.Names(addr)
	if near := kernel.Nearest(names, name, 3); len(near) > 0 {
		names = near
	}
	if len(names) == 0 {
		return fmt.Errorf("there are no local variables at %s", at)
	}
	return fmt.Errorf("there is no such variable at %s (there: %s)", at, strings.Join(names, ", "))
}
