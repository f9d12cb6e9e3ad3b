package session

import (
	"fmt"
	"strings"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
	"trapline/kernel/debuginfo"
	"trapline/probes"
)

// Locals finds and reads local variables of the kernel. *debuginfo.Locals is one.
type Locals interface {
	// Find finds what a name means at an address, Names all that mean something there.
	Find(addr uint64, name string) (*debuginfo.Local, bool)
	Names(addr uint64) []string
	// Read gives a variable's address, or its bytes.
	Read(v *debuginfo.Local, g debuginfo.Guest) (addr uint64, data []byte, err error)
}

// localType is the type of a local variable at the probes of a description, which must be
// instructions of functions. A return of fbt, which is at several, has what the function
// begins with: its parameters, and what is declared in its outermost block.
func (s *Session) localType(desc, name string) (*ctypes.Type, error) {
	places, err := s.localPlaces(desc)
	if err != nil {
		return nil, err
	}
	var typ *ctypes.Type
	for _, p := range places {
		if p.Provider != "kinst" && p.Provider != "fbt" {
			return nil, fmt.Errorf("%s is not in a function: only probes of kinst and fbt see local variables", p.Desc)
		}
		locals, err := p.of.openLocals()
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
	of   *Debug
}

func (s *Session) localPlaces(desc string) (all []localPlace, err error) {
	found, err := s.lookup(desc)
	for _, p := range found {
		all = append(all, localPlace{p.Desc(), p.Key, s.modules.debug(p)})
	}
	foreseen := s.modules.foresee(desc)
	for _, p := range foreseen {
		all = append(all, localPlace{p.Desc, p.Addr, p.of})
	}
	if len(all) > 0 {
		err = nil
	}
	return all, err
}

// noLocal says what there is instead.
func noLocal(locals Locals, addr uint64, at, name string) error {
	names := locals.Names(addr)
	if near := kernel.Nearest(names, name, 3); len(near) > 0 {
		names = near
	}
	if len(names) == 0 {
		return fmt.Errorf("there are no local variables at %s", at)
	}
	return fmt.Errorf("there is no such variable at %s (there: %s)", at, strings.Join(names, ", "))
}

// localGuest is the CPU at a firing, for package debuginfo.
type localGuest struct{ e *env }

func (g localGuest) Reg(r arch.Reg) uint64 { return g.e.firing.CPU.Reg(r) }

func (g localGuest) Read(addr uint64, p []byte) error {
	if bad, ok := g.e.Read(addr, p); !ok {
		return fmt.Errorf("invalid address (0x%x)", bad)
	}
	return nil
}

// Local implements vm.Env.
func (e *env) Local(name string) (addr uint64, data []byte, err error) {
	start := e.firing.Probe.Key
	locals, err := e.s.modules.debug(e.firing.Probe).openLocals()
	if err != nil {
		return 0, nil, err
	}
	v, ok := locals.Find(start, name)
	if pc := e.Reg(int(e.s.Target.Arch().PC)); ok && e.firing.Probe.Provider() == "fbt" && pc != start {
		there, found := locals.Find(pc, name)
		// What has been inlined into the function there may have a variable of that name too.
		v, ok = there, found && ctypes.Same(v.Type, there.Type)
	}
	if !ok {
		return 0, nil, fmt.Errorf("%s: not there", name)
	}
	return locals.Read(v, localGuest{e})
}
