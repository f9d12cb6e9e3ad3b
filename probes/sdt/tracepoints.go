package sdt

import (
	"cmp"
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
	// Write writes the kernel's memory.
	Write func(addr uint64, p []byte) error

	kernel ktext.Part
	types  Types // nil: nothing is known of them
	read   guestos.Reader
	walk   *walker
	cpu    probes.CPU                      // at whose hit a condition looks
	sites  map[uint64][]guestos.Tracepoint // by key; nil: they have not been looked for
	found  []found
	on     map[string]int // by switch: how many providers want it
	late   []string       // switches that could not be written yet
}

// Providers are those of all tracepoints.
func (t *Tracepoints) Providers() []string {
	if t.Declared == nil {
		return append([]string{callsite.DefaultProvider}, t.Tracepoints.Providers()...)
	}
	return append(t.Declared(t.kernel.Symbols, t.read), t.Tracepoints.Providers()...)
}

// places are those of a provider.
func (t *Tracepoints) places(provider string) (out []Place) {
	for _, x := range t.find() {
		if x.provider == provider {
			out = append(out, x.Place)
		}
	}
	return append(out, t.known(provider)...)
}

// has reports whether there could be a probe of that name.
func (t *Tracepoints) has(provider, name string) bool {
	known := func(k guestos.Known) bool { return k.Provider == provider && k.Name == name }
	declares := t.Declared != nil || provider == callsite.DefaultProvider
	return declares && (t.Has == nil || t.Has(t.kernel.Symbols, name)) || slices.ContainsFunc(t.Known, known)
}

// A found is a place of a provider.
type found struct {
	Place
	provider string
}

// find are the places of all tracepoints, and those that have none. They are looked for once.
func (t *Tracepoints) find() []found {
	if t.sites != nil {
		return t.found
	}
	t.sites = map[uint64][]guestos.Tracepoint{}
	for _, x := range t.Find(t.kernel.Symbols, t.read) {
		t.sites[x.Key] = append(t.sites[x.Key], x)
		place := Place{
			Module: cmp.Or(x.Module, t.kernel.Module), Function: x.Function, Name: x.Name, Addr: x.Site,
			Args: t.point(x), Declared: x.Args,
		}
		t.found = append(t.found, found{place, cmp.Or(x.Provider, callsite.DefaultProvider)})
	}
	return t.found
}
