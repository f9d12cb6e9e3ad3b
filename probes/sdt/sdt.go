package sdt

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
	"trapline/probes"
	"trapline/probes/ktext"
)

// A Place is an instruction at which a probe fires. Places of one name in one function make
// one probe.
type Place struct {
	Module   string
	Function string // "": the one that holds the place
	Name     string
	Addr     uint64 // 0: the probe is declared, and never fires
	Args     Args   // nil: they are where those of a function are, up to maxArgs
	// Declared is what the guest declares of the arguments.
	Declared []ctypes.Arg
}

// maxArgs is how many arguments a probe of dtrace_probe.h has at most.
const maxArgs = 5

// Args are the arguments of a probe that are not simply in registers.
type Args interface {
	// Select reports whether the probe fires at this hit, and fills in f.Args.
	Select(f *probes.Firing) bool
	// Types are those of the arguments, none if they are not known.
	Types() []*ctypes.Type
}

// Provider provides the static probes of one provider's name.
type Provider struct {
	// Needs says, of a kernel that could have tracepoints and has none, how it is built so that it has.
	Needs string

	name     string
	registry *probes.Registry
	text     *ktext.Text
	arch     *arch.Arch
	points   *Tracepoints // nil: none
	asked    bool         // for its places
	on       int          // probes
	places   []Place      // by address, or as the guest has them
	made     map[*probes.Probe][]Place
	skips    ktext.Skips
	skipped  map[uint64]bool
}

// New makes a provider without places.
func New(name string, r *probes.Registry, text *ktext.Text, a *arch.Arch) *Provider {
	return &Provider{
		name: name, registry: r, text: text, arch: a,
		made: map[*probes.Probe][]Place{}, skipped: map[uint64]bool{},
	}
}

// AddTracepoints makes a kernel's tracepoints probes of the provider sdt, or of another
// those that are known under its names. They are looked for when the first probe is asked
// for.
func (p *Provider) AddTracepoints(t *Tracepoints) { p.points = t }

// Add makes places known.
func (p *Provider) Add(places ...Place) {
	p.places = append(p.places, places...)
	if p.points == nil || p.points.Declared == nil { // a guest that declares them has an order of its own
		slices.SortStableFunc(p.places, func(a, b Place) int { return cmp.Compare(a.Addr, b.Addr) })
	}
}

// Forget drops the places at [lo, hi), where there is no text any more.
func (p *Provider) Forget(lo, hi uint64) {
	gone := func(x Place) bool { return x.Addr-lo < hi-lo }
	p.places = slices.DeleteFunc(p.places, gone)
	for q, places := range p.made {
		if p.made[q] = slices.DeleteFunc(places, gone); len(p.made[q]) == 0 {
			delete(p.made, q)
		}
	}
	maps.DeleteFunc(p.skipped, func(addr uint64, _ bool) bool { return addr-lo < hi-lo })
}

// Name is the provider's name.
func (p *Provider) Name() string { return p.name }

// all are the places that there are.
func (p *Provider) all() []Place {
	if p.points != nil && !p.asked {
		p.asked = true
		p.Add(p.points.places(p.name)...)
	}
	return p.places
}

// Provide makes the probes that d names. It is an error that there is none of a name that
// is no pattern, if the provider is asked by its own name.
func (p *Provider) Provide(d probes.Desc) ([]*probes.Probe, error) {
	var out []*probes.Probe
	for _, x := range p.matching(d) {
		q, why := p.probe(x)
		if why != "" {
			p.skip(x, why)
			continue
		}
		out = append(out, q)
	}
	slices.SortFunc(out, func(a, b *probes.Probe) int { return cmp.Compare(a.ID(), b.ID()) })
	if out = slices.Compact(out); len(out) > 0 || d.Provider != p.name {
		return out, nil
	}
	return nil, p.unknown(d)
}

// matching are the places that a description means.
func (p *Provider) matching(d probes.Desc) (out []Place) {
	for _, x := range p.candidates(d) {
		want := d
		if p.text.InModule(d.Module, x.Module) {
			want.Module = ""
		}
		if want.Match(probes.Desc{Provider: p.name, Module: x.Module, Function: p.function(x), Name: x.Name}) {
			out = append(out, x)
		}
	}
	return out
}

// candidates are places among which those are that a description means. A kernel's tracepoints are not
// looked for by a name that none of them has, as BEGIN.
func (p *Provider) candidates(d probes.Desc) []Place {
	if p.points != nil && !kernel.IsGlob(d.Name) && !p.points.has(p.name, d.Name) {
		return p.places
	}
	return p.all()
}

// function is the name of the function that holds a place.
func (p *Provider) function(x Place) string {
	if x.Function != "" {
		return x.Function
	}
	s, _, _ := p.text.At(x.Addr)
	return s.Name
}

// unknown says that there is no probe of a name, or no such module, nil if that is no error.
func (p *Provider) unknown(d probes.Desc) error {
	if _, err := p.text.Parts(d.Module); err != nil {
		return err
	}
	if kernel.IsGlob(d.Name) {
		return nil
	}
	var names []string
	for _, x := range p.all() {
		names = append(names, x.Name)
	}
	slices.Sort(names)
	err := noProbe(p.name, d, slices.Compact(names))
	if p.Needs != "" {
		err = fmt.Errorf("%w: this kernel has no tracepoints: build it with %s", err, p.Needs)
	}
	return err
}

// probe makes the probe of a place, or says why that cannot be.
func (p *Provider) probe(x Place) (q *probes.Probe, why string) {
	if x.Addr == 0 {
		return p.registry.Group(p, x.Module, x.Function, 0).Named(x.Name, 0), ""
	}
	s, _, ok := p.text.At(x.Addr)
	if !ok {
		return nil, "no function is there"
	}
	if why := p.point(x, s); why != "" {
		return nil, why
	}
	g := p.registry.Group(p, x.Module, s.Name, s.Addr)
	if x.Function != "" {
		g = p.registry.Group(p, x.Module, x.Function, 0)
	}
	q = g.Named(x.Name, x.Addr)
	if !slices.ContainsFunc(p.made[q], func(y Place) bool { return y.Addr == x.Addr }) {
		p.made[q] = append(p.made[q], x)
	}
	return q, ""
}

// point makes the point of a place in a function, or says why that cannot be.
func (p *Provider) point(x Place, s kernel.Symbol) (why string) {
	f := p.text.Set.Func(s.Addr, int(s.Size))
	why = "no instruction begins there"
	err := f.Each(func(off int, code []byte) bool {
		if f.Start+uint64(off) != x.Addr {
			return true
		}
		in := f.Instr(off, code)
		if why = p.text.RefusalAt(f, in); why == "" {
			p.text.Set.Add(f, in)
		}
		return false
	})
	if err != nil && why != "" {
		return err.Error()
	}
	return why
}

// skip counts a place that has no probe, once.
func (p *Provider) skip(x Place, why string) {
	if !p.skipped[x.Addr] {
		p.skipped[x.Addr] = true
		p.skips.Add(why, fmt.Sprintf("%s in %s", x.Name, p.function(x)))
	}
}
