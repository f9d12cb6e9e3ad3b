package sdt

import (
	"slices"

	"trapline/kernel/callsite"
	"trapline/kernel/ctypes"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/ktext"
)

// Types are those of the kernel. *debuginfo.Types are some.
type Types interface {
	Function(name string) (*ctypes.Type, bool)
	Tagged(kind ctypes.Kind, tag string) (*ctypes.Type, bool)
}

// Tracepoints are the tracepoints of a kernel, as its system has them. While one is off, nothing has its
// arguments: they are found out by walking from the target of its site to the call.
type Tracepoints struct {
	*guestos.Tracepoints
	// Thread is the address of what the kernel keeps of the thread that a CPU is in, 0 if it is
	// not known.
	Thread func(cpu probes.CPU) uint64

	kernel ktext.Part
	types  Types // nil: nothing is known of them
	read   guestos.Reader
	walk   *walker
	cpu    probes.CPU                      // at whose hit a condition looks
	sites  map[uint64][]guestos.Tracepoint // by key
}

// places are those of a provider.
func (t *Tracepoints) places(provider string) []Place {
	if provider == callsite.DefaultProvider {
		return t.find()
	}
	return t.known(provider)
}

// has reports whether there could be a probe of that name.
func (t *Tracepoints) has(provider, name string) bool {
	if provider == callsite.DefaultProvider {
		return t.Has(t.kernel.Symbols, name)
	}
	return slices.ContainsFunc(t.Known, func(k guestos.Known) bool { return k.Provider == provider && k.Name == name })
}

// find are the places of all tracepoints that have any, by address.
func (t *Tracepoints) find() (out []Place) {
	t.sites = map[uint64][]guestos.Tracepoint{}
	for _, x := range t.Find(t.kernel.Symbols, t.read) {
		t.sites[x.Key] = append(t.sites[x.Key], x)
		out = append(out, Place{Module: t.kernel.Module, Name: x.Name, Addr: x.Site, Args: t.point(x)})
	}
	return out
}
