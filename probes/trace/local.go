package trace

import (
	"fmt"

	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
)

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
	locals, err := e.tr.Locals(e.firing.Probe)
	if err != nil {
		return 0, nil, err
	}
	v, ok := locals.Find(start, name)
	if pc := e.Reg(int(e.tr.Target.Arch().PC)); ok && pc != start {
		there, found := locals.Find(pc, name)
		// What has been inlined into the function there may have a variable of that name too.
		v, ok = there, found && ctypes.Same(v.Type, there.Type)
	}
	if !ok {
		return 0, nil, fmt.Errorf("%s: not there", name)
	}
	return locals.Read(v, localGuest{e})
}
