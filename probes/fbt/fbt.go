package fbt

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/ktext"
	"trapline/probes/patch"
	"trapline/trampoline"
)

// Config is what a Provider is made of.
type Config struct {
	Registry *probes.Registry
	Text     *ktext.Text
	Target   probes.Target
	// Types returns the parts that a description's module means and whose types are known,
	// modules that are not loaded too. Nil: nothing is known of types.
	Types func(module string) []Typed

	// Name is the provider's name, "" for fbt, and About is what its probes have, nil for those of
	// fbt.
	Name  string
	About *probes.About
	// Args, if not nil, gives argument i of a firing instead, of an entry or of a return.
	Args func(f *probes.Firing, i int, entry bool) uint64
	// Fires, if not nil, reports whether a firing is one: a function may stand for more than its probe.
	Fires func(f *probes.Firing) bool
	// Both: a function that nothing leaves has a return, too, which never fires.
	Both bool
	// Errno, if not nil, gives the error at a return, of a provider of system calls.
	Errno func(f *probes.Firing) int32
	// Await, if not nil, has the return of a function that jumps to another wait for that one's,
	// when the value is known. It returns the thread that a CPU is in, of which the key and the
	// address matter.
	Await func(cpu probes.CPU) guestos.Thread
}

// Types are the types of functions. *debuginfo.Types are some.
type Types interface {
	Function(name string) (*ctypes.Type, bool)
}

// A Typed is a part with the types of its functions.
type Typed struct {
	ktext.Part
	Types Types
}

// Provider makes fbt probes.
type Provider struct {
	Config
	arch    *arch.Arch
	isa     *trampoline.ISA
	funcs   map[uint64]*function // by start, which is a probe's Key
	skips   ktext.Skips
	skipped map[uint64]bool // functions that are in skips
	awaited guestos.PerThread[awaited]
	word    [8]byte // for reads that allocate nothing
}

// New makes the provider.
func New(c Config) (*Provider, error) {
	isa, err := trampoline.For(c.Target.Arch())
	if err != nil {
		return nil, err
	}
	return &Provider{Config: c, arch: c.Target.Arch(), isa: isa, funcs: map[uint64]*function{}, skipped: map[uint64]bool{}}, nil
}

// Name is that of the provider itself.
const Name = "fbt"

// Name implements probes.Provider.
func (p *Provider) Name() string { return cmp.Or(p.Config.Name, Name) }

// About is what its probes have in common.
var About = probes.About{Stability: probes.Private, Locals: true, Names: []string{entryName, returnName}}

// About implements probes.Abouter.
func (p *Provider) About() *probes.About { return cmp.Or(p.Config.About, &About) }

// Names of probes.
const (
	entryName  = "entry"
	returnName = "return"
)

// A wish is which of a function's probes are asked for.
type wish struct{ entry, leave bool }

func wishOf(name string) wish {
	return wish{kernel.Match(name, entryName), kernel.Match(name, returnName)}
}

// Provide makes the probes of the functions that d names. What cannot be probed is an error
// if it was asked for by the provider's and its own name, otherwise it is passed over.
func (p *Provider) Provide(d probes.Desc) ([]*probes.Probe, error) {
	out, err := p.provide(d)
	if d.Provider != p.Name() {
		err = nil
	}
	slices.SortFunc(out, func(a, b *probes.Probe) int { return cmp.Compare(a.ID(), b.ID()) })
	return slices.Compact(out), err
}

func (p *Provider) provide(d probes.Desc) ([]*probes.Probe, error) {
	want := wishOf(d.Name)
	if want == (wish{}) {
		return nil, p.badName(d.Name)
	}
	parts, err := p.Text.Parts(d.Module)
	if err != nil {
		return nil, err
	}
	if kernel.IsGlob(d.Function) {
		return p.all(parts, d.Function, want), nil
	}
	return p.named(parts, d.Function, want)
}

func (p *Provider) badName(name string) error {
	if kernel.IsGlob(name) {
		return nil
	}
	return fmt.Errorf("%s has no probe %q (only entry and return)", p.Name(), name)
}

// all makes the probes of all functions that match.
func (p *Provider) all(parts []ktext.Part, pattern string, want wish) []*probes.Probe {
	var out []*probes.Probe
	for _, part := range parts {
		fit := slices.DeleteFunc(part.Symbols.Glob(pattern), func(s kernel.Symbol) bool { return unfit(part, s) != "" })
		p.ahead(fit, want, func(s kernel.Symbol) {
			ps, _ := p.probes(part, s, want) // why one is missing is in skips
			out = append(out, ps...)
		})
	}
	return out
}

// ahead calls do for each function, when its exits have been looked for if they are wanted.
func (p *Provider) ahead(syms []kernel.Symbol, want wish, do func(s kernel.Symbol)) {
	if !want.leave {
		for _, s := range syms {
			do(s)
		}
		return
	}
	funcs := make([]*patch.Func, len(syms))
	for i, s := range syms {
		funcs[i] = p.function(s).pieces[0]
	}
	i := 0
	patch.Look(p.Text.Set, funcs, p.exits, func(_ *patch.Func, x exits) {
		s := syms[i]
		i++
		p.function(s).exits = &x
		do(s)
		p.function(s).exits = nil
	})
}

// named makes the probes of functions of one name. It fails when there would be none.
func (p *Provider) named(parts []ktext.Part, function string, want wish) ([]*probes.Probe, error) {
	return ktext.Named(parts, function, func(part ktext.Part, s kernel.Symbol) ([]*probes.Probe, error) {
		if why := unfit(part, s); why != "" {
			return nil, fmt.Errorf("%s %s", s.Name, why)
		}
		return p.probes(part, s, want)
	})
}

// unfit says why a symbol of code is not a function, or "".
func unfit(part ktext.Part, s kernel.Symbol) string {
	if s.Label {
		return "is a label: the symbol table gives it no size"
	}
	if whole, ok := wholeOf(part, s.Name); ok {
		return fmt.Sprintf("is a piece of %s: its returns are those of %s", whole.Name, whole.Name)
	}
	if _, ok := guestos.ThunkOf(s.Name); ok {
		return "is not a function: it stands for one instruction"
	}
	return ""
}

// coldMark is what compilers add to the name of a function for the piece of it that they
// put elsewhere because it seldom runs. A number may follow.
const coldMark = ".cold"

// wholeOf is a function that the symbol of this name would be a piece of.
func wholeOf(part ktext.Part, name string) (kernel.Symbol, bool) {
	whole, _, ok := strings.Cut(name, coldMark)
	if !ok {
		return kernel.Symbol{}, false
	}
	syms := part.Symbols.Lookup(whole)
	if len(syms) == 0 {
		return kernel.Symbol{}, false
	}
	return syms[0], true
}

// probes makes the probes of one function. The error says why there are fewer than wanted.
func (p *Provider) probes(part ktext.Part, s kernel.Symbol, want wish) (out []*probes.Probe, err error) {
	fn := p.function(s)
	g := p.Registry.Group(p, part.Module, s.Name, s.Addr)
	if want.entry {
		if why := p.entry(fn); why == "" {
			out = append(out, g.Named(entryName, s.Addr))
		} else {
			err = p.skip(s, fmt.Errorf("the entry of %s cannot be traced: %s", s.Name, why), why)
		}
	}
	if want.leave {
		if why := p.ways(fn); len(fn.ways) > 0 || p.Both && why == neverReturns {
			out = append(out, g.Named(returnName, s.Addr))
		} else {
			err = p.skip(s, fmt.Errorf("%s has no return: %s", s.Name, why), why)
		}
	}
	return out, err
}

// skip counts a function that lacks a probe, once, and returns err.
func (p *Provider) skip(s kernel.Symbol, err error, why string) error {
	if !p.skipped[s.Addr] {
		p.skipped[s.Addr] = true
		p.skips.Add(why, s.Name)
	}
	return err
}

// function finds or makes the function of a symbol.
func (p *Provider) function(s kernel.Symbol) *function {
	fn := p.funcs[s.Addr]
	if fn == nil {
		fn = &function{pieces: []*patch.Func{p.Text.Set.Func(s.Addr, int(s.Size))}}
		p.funcs[s.Addr] = fn
	}
	return fn
}

// Enable plants the breakpoints.
func (p *Provider) Enable(ps []*probes.Probe) error {
	return p.Text.Set.EnableSites(p.sites(ps, (*function).enable))
}

// Disable takes them away.
func (p *Provider) Disable(ps []*probes.Probe) error {
	return p.Text.Set.DisableSites(p.sites(ps, (*function).disable))
}

// sites are those of probes; those of a return are what sites says.
func (p *Provider) sites(ps []*probes.Probe, sites func(*function, *probes.Probe) []patch.Site) []patch.Site {
	out := make([]patch.Site, 0, len(ps))
	for _, q := range ps {
		if fn := p.funcs[q.Key]; isEntry(q) {
			out = append(out, patch.Site{Probe: q, Addr: fn.start()})
		} else {
			out = append(out, sites(fn, q)...)
		}
	}
	return out
}

func isEntry(q *probes.Probe) bool { return q.Name() == entryName }

// Forget drops what is known of text at [lo, hi), which is not there any more.
func (p *Provider) Forget(lo, hi uint64) {
	maps.DeleteFunc(p.funcs, func(addr uint64, _ *function) bool { return addr-lo < hi-lo })
	maps.DeleteFunc(p.skipped, func(addr uint64, _ bool) bool { return addr-lo < hi-lo })
	if p.Await != nil {
		p.forgetBehind(lo, hi)
	}
}

// Report says what was skipped.
func (p *Provider) Report() []string { return p.skips.Report(p.Name()) }
