// Package resolve finds what descriptions of probes mean: probes that there are, probes of modules
// that are not loaded yet, the inlined copies of functions, the instructions at which lines begin.
package resolve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"trapline/kernel"
	"trapline/kernel/ctypes"
	"trapline/probes"
	"trapline/probes/ktext"
	"trapline/probes/modules"
)

// A Resolver finds the probes of descriptions.
type Resolver struct {
	registry *probes.Registry
	text     *ktext.Text
	modules  *modules.Modules
	debug    *modules.Debug // of the kernel

	done map[string]expansion
	// addrs are the link-time addresses that a description that was made means: other
	// functions may have the name of its function.
	addrs map[string][]uint64
	notes []string
}

// New makes a Resolver for the probes of a registry. debug is what is known of the kernel.
func New(r *probes.Registry, text *ktext.Text, m *modules.Modules, debug *modules.Debug) *Resolver {
	return &Resolver{
		registry: r, text: text, modules: m, debug: debug,
		done: map[string]expansion{}, addrs: map[string][]uint64{},
	}
}

// Notes are what was passed over, one fact a line.
func (r *Resolver) Notes() []string { return r.notes }

// About is what the probes of a provider have.
func (r *Resolver) About(provider string) *probes.About {
	p, _ := r.registry.Provider(provider)
	return probes.AboutOf(p)
}

// Lookup finds the probes of a description: four parts, fewer aligned to the right, or
// the number of a probe.
func (r *Resolver) Lookup(text string) ([]*probes.Probe, error) {
	if id, err := strconv.ParseUint(text, 10, 32); err == nil {
		if p, ok := r.registry.Probe(probes.ID(id)); ok {
			return []*probes.Probe{p}, nil
		}
		return nil, nil
	}
	if x, ok := r.done[text]; ok && x.err != nil {
		return nil, x.err
	}
	d, err := probes.ParseDesc(text)
	if err != nil {
		return nil, err
	}
	ps, err := r.registry.Match(d)
	return r.keep(text, ps), err
}

// Expects reports whether a description may match when a module is loaded, or why it will not.
func (r *Resolver) Expects(text string) (yes bool, why error) {
	d, err := probes.ParseDesc(text)
	if err != nil || r.done[text].err != nil {
		return false, nil
	}
	return r.modules.Expects(d)
}

// Foresee lists the probes of modules that a description means when they are loaded.
func (r *Resolver) Foresee(text string) []modules.Foreseen {
	d, err := probes.ParseDesc(text)
	if err != nil {
		return nil
	}
	meant, made := r.addrs[text]
	return r.modules.Foresee(d, func(link uint64) bool { return !made || slices.Contains(meant, link) })
}

// InModule finds the probes of a description in a module. The error says what the description
// cannot have there if it names the module: otherwise another may have it.
func (r *Resolver) InModule(m *modules.Module, text string) ([]*probes.Probe, error) {
	d, err := probes.ParseDesc(text)
	if err != nil || !r.text.InModule(d.Module, m.Name()) {
		return nil, nil
	}
	named := d.Module == m.Name()
	d.Module = m.Name()
	ps, err := r.registry.Match(d)
	if !named {
		err = nil
	}
	ps = slices.Clone(r.keep(text, ps))
	return slices.DeleteFunc(ps, func(p *probes.Probe) bool { return p.Module() != m.Name() }), err
}

// ArgTypes are the types of args[] of the probes of a description, none if they differ or
// are not known. Only providers that know types are asked.
func (r *Resolver) ArgTypes(text string) []*ctypes.Type {
	desc, err := probes.ParseDesc(text)
	if err != nil {
		return nil
	}
	for _, p := range r.registry.Providers() {
		typed, ok := p.(probes.Typed)
		if ok && desc.Provider != "" && kernel.Match(desc.Provider, p.Name()) {
			return typed.ArgTypes(desc)
		}
	}
	return nil
}

// Declared are the arguments that the guest declares of the probes of a description. It is not ok if
// it declares none, or they differ.
func (r *Resolver) Declared(text string) (args []ctypes.Arg, ok bool) {
	desc, err := probes.ParseDesc(text)
	if err != nil || desc.Provider == "" {
		return nil, false
	}
	for _, p := range r.registry.Providers() {
		if d, is := p.(probes.Declarer); is && kernel.Match(desc.Provider, p.Name()) {
			if args, ok = d.Declared(desc); ok {
				return args, true
			}
		}
	}
	return nil, false
}

// NoMatch is the error of a description that matches nothing: it says what is wrong with it, or
// what it lacks that a provider would make probes for.
func (r *Resolver) NoMatch(text string) error {
	return fmt.Errorf("probe description %s does not match any probes%s", full(text), r.hint(text))
}

func (r *Resolver) hint(text string) string {
	d, err := probes.ParseDesc(text)
	switch {
	case err != nil:
	case d.Provider == "" && !kernel.IsGlob(d.Function):
		if _, err := r.text.Kernel().Named(d.Function); err != nil {
			return ": " + err.Error()
		}
		return fmt.Sprintf(": fbt has entry and return, and kinst makes probes when it is named, as in kinst::%s:", d.Function)
	case userProvider(d.Provider):
		return ": user programs cannot be probed, only the kernel"
	}
	if p, ok := r.registry.Provider(d.Provider); ok {
		if h, can := p.(probes.Hinter); can && h.Hint(d) != "" {
			return ": " + h.Hint(d)
		}
	}
	return ""
}

// userProvider reports whether a name is that of DTrace's provider of functions and instructions of
// a process: pid and a number.
func userProvider(name string) bool {
	id, ok := strings.CutPrefix(name, "pid")
	return ok && (id == "" || strings.Trim(id, "0123456789*") == "")
}

// full is a description with all four parts.
func full(text string) string {
	d, err := probes.ParseDesc(text)
	if err != nil {
		return text
	}
	return d.String()
}
