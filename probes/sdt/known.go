package sdt

import (
	"trapline/kernel/ctypes"
	"trapline/kernel/guestos"
	"trapline/probes"
)

// known are the places of one provider's known probes. A kernel without tracepoints has none.
func (t *Tracepoints) known(provider string) (out []Place) {
	points := t.find()
	if len(points) == 0 {
		return nil
	}
	for i := range t.Known {
		k := &t.Known[i]
		if k.Provider != provider {
			continue
		}
		for _, x := range points {
			if k.Point == x.Name {
				out = append(out, Place{Module: x.Module, Name: k.Name, Addr: x.Addr, Args: &chosen{t, k, x.Args}})
			}
		}
		for _, pattern := range k.Functions {
			for _, s := range t.kernel.Symbols.Glob(pattern) {
				out = append(out, Place{Module: t.kernel.Module, Name: k.Name, Addr: s.Addr, Args: &chosen{t, k, passed{t}}})
			}
		}
	}
	return out
}

// chosen are some of the arguments of a tracepoint or a function.
type chosen struct {
	t *Tracepoints
	*guestos.Known
	all Args
}

// Select implements Args.
func (c *chosen) Select(f *probes.Firing) bool {
	fires := c.all.Select(f)
	all := f.Args
	f.Args = [10]uint64{}
	for i, n := range c.Args {
		f.Args[i] = all[n]
	}
	c.t.cpu = f.CPU
	return fires && (c.When == nil || c.When(c.t, &f.Args))
}

// Types implements Args. Those of a function are declared in package library.
func (c *chosen) Types() (out []*ctypes.Type) {
	all := c.all.Types()
	for _, n := range c.Args {
		if n < len(all) {
			out = append(out, all[n])
		}
	}
	return out
}

// passed are the arguments of a function at its first instruction.
type passed struct{ t *Tracepoints }

// Select implements Args.
func (p passed) Select(f *probes.Firing) bool {
	for i, r := range p.t.walk.arch.Args {
		f.Args[i] = f.CPU.Reg(r)
	}
	return true
}

// Types implements Args.
func (passed) Types() []*ctypes.Type { return nil }
