package kinst

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"trapline/kernel"
	"trapline/probes"
	"trapline/probes/patch"
	"trapline/trampoline"
)

// Symbols is what the provider asks of a symbol table. *kernel.Symtab is one.
type Symbols interface {
	Lookup(name string) []kernel.Symbol
	Glob(pattern string) []kernel.Symbol
	Nearest(name string, n int) []string
}

// Config is what a Provider is made of.
type Config struct {
	Registry *probes.Registry
	Set      *patch.Set
	Symbols  Symbols
	Arch     string // name of the architecture
	Policy   Policy
	// Unsafe says why the guest's own tracers stay away from an address, or "".
	Unsafe func(addr uint64) string
}

// Provider makes kinst probes.
type Provider struct {
	Config
	skipped map[string]*skips // by reason
	counted map[uint64]bool   // functions whose skipped instructions are in skipped
}

// skips counts what one reason keeps from being traced.
type skips struct {
	n     int
	first string
}

// New makes the provider.
func New(c Config) *Provider {
	if c.Unsafe == nil {
		c.Unsafe = func(uint64) string { return "" }
	}
	return &Provider{Config: c, skipped: map[string]*skips{}, counted: map[uint64]bool{}}
}

// Name is "kinst".
func (p *Provider) Name() string { return "kinst" }

// Module is the name of the kernel proper in probes.
const Module = "vmlinux"

// alias is another name for Module that is understood.
const alias = "kernel"

// Provide makes the probes of the instructions that d names. Without the provider's own
// name or without a function it finds those made before.
func (p *Provider) Provide(d probes.Desc) ([]*probes.Probe, error) {
	ask := d.Provider == p.Name() && d.Function != ""
	switch ok, err := inModule(d.Module); {
	case !ok && ask:
		return nil, err
	case !ok:
		return nil, nil
	case !ask:
		d.Module = ""
		return p.made(d), nil
	}
	want, err := parseName(d.Name)
	if err != nil {
		return nil, err
	}
	if probes.IsGlob(d.Function) {
		return p.glob(d.Function, want)
	}
	return p.named(d.Function, want)
}

func inModule(name string) (bool, error) {
	switch {
	case name == "", probes.Glob(name, Module), probes.Glob(name, alias):
		return true, nil
	case probes.IsGlob(name):
		return false, nil
	}
	return false, fmt.Errorf("no module %q: the kernel proper is %q", name, Module)
}

// made finds probes that exist.
func (p *Provider) made(d probes.Desc) []*probes.Probe {
	if _, err := parseName(d.Name); err != nil {
		return nil // such as BEGIN
	}
	var out []*probes.Probe
	for q := range p.Registry.All() {
		if q.Group().Provider() == probes.Provider(p) && d.Match(q.Desc()) {
			out = append(out, q)
		}
	}
	return out
}

// A name is the last part of a description: one offset, or a pattern for any.
type name struct {
	offset  int // -1: all that match pattern
	pattern string
}

func parseName(s string) (name, error) {
	if s == "" || probes.IsGlob(s) {
		return name{-1, s}, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || strconv.Itoa(n) != s || n < 0 {
		return name{}, fmt.Errorf("%q is no offset: a decimal number of bytes from the start of the function is", s)
	}
	return name{offset: n}, nil
}

func (n name) match(off int) bool {
	switch {
	case n.offset >= 0:
		return off == n.offset
	case n.pattern == "":
		return true
	}
	return probes.Glob(n.pattern, strconv.Itoa(off))
}

// glob makes the probes of all functions that match. What cannot be probed is skipped.
func (p *Provider) glob(pattern string, want name) ([]*probes.Probe, error) {
	var out []*probes.Probe
	for _, s := range p.Symbols.Glob(pattern) {
		f, instrs, err := p.decode(s)
		if f == nil {
			p.skip(err.Error(), s.Name)
			continue
		}
		out = append(out, p.all(f, s.Name, instrs, want, err)...)
	}
	return sorted(out), nil
}

// named makes the probes of the functions of one name.
func (p *Provider) named(function string, want name) ([]*probes.Probe, error) {
	syms := functions(p.Symbols.Lookup(function))
	if len(syms) == 0 {
		return nil, p.unknown(function)
	}
	var out []*probes.Probe
	var first error
	for _, s := range syms {
		ps, err := p.function(s, want)
		if err != nil && first == nil {
			first = err
		}
		out = append(out, ps...)
	}
	if len(out) > 0 {
		return sorted(out), nil
	}
	return nil, first
}

// functions are the symbols of code, each address once.
func functions(syms []kernel.Symbol) []kernel.Symbol {
	syms = slices.DeleteFunc(slices.Clone(syms), func(s kernel.Symbol) bool { return !s.Func || s.Size == 0 })
	return slices.CompactFunc(syms, func(a, b kernel.Symbol) bool { return a.Addr == b.Addr })
}

func (p *Provider) unknown(function string) error {
	err := fmt.Errorf("no function %q in %s", function, Module)
	if near := p.Symbols.Nearest(function, 3); len(near) > 0 {
		err = fmt.Errorf("%w (nearest: %s)", err, strings.Join(near, ", "))
	}
	return err
}

// function makes the probes of one function. It fails when there would be none for a
// reason that can be told.
func (p *Provider) function(s kernel.Symbol, want name) ([]*probes.Probe, error) {
	f, instrs, err := p.decode(s)
	if f == nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	if want.offset >= 0 {
		return p.one(f, s.Name, instrs, want.offset, err)
	}
	if out := p.all(f, s.Name, instrs, want, err); len(out) > 0 {
		return out, nil
	}
	return nil, p.noneOf(f, s.Name, instrs, want)
}

// noneOf says why a whole function has no probe.
func (p *Provider) noneOf(f *patch.Func, function string, instrs []patch.Instr, want name) error {
	for i, in := range instrs {
		if want.match(in.Off) {
			return fmt.Errorf("nothing of %s can be traced: %s", function, p.refusal(f, instrs, i))
		}
	}
	return nil
}

// one makes the probe at an offset. decodeErr is why the instructions end early.
func (p *Provider) one(f *patch.Func, function string, instrs []patch.Instr, off int, decodeErr error) ([]*probes.Probe, error) {
	i, ok := slices.BinarySearchFunc(instrs, off, func(in patch.Instr, off int) int { return in.Off - off })
	if !ok {
		return nil, noInstr(f, function, instrs, i, off, decodeErr)
	}
	if why := p.refusal(f, instrs, i); why != "" {
		return nil, fmt.Errorf("%s+%d cannot be traced: %s", function, off, why)
	}
	return []*probes.Probe{p.make(f, function, instrs[i])}, nil
}

// noInstr says why no instruction begins at an offset; i is the one after it.
func noInstr(f *patch.Func, function string, instrs []patch.Instr, i, off int, decodeErr error) error {
	switch {
	case off >= f.Size:
		return fmt.Errorf("offset %d is outside %s, which has %d bytes", off, function, f.Size)
	case i == len(instrs) && decodeErr != nil:
		return fmt.Errorf("offset %d of %s: %w", off, function, decodeErr)
	case i == len(instrs):
		return fmt.Errorf("offset %d is inside the last instruction of %s, which begins at %d", off, function, instrs[i-1].Off)
	}
	return fmt.Errorf("offset %d is inside an instruction of %s: instructions begin at %d and %d", off, function, instrs[i-1].Off, instrs[i].Off)
}

// all makes the probes of those instructions that match and can be traced.
func (p *Provider) all(f *patch.Func, function string, instrs []patch.Instr, want name, decodeErr error) []*probes.Probe {
	var out []*probes.Probe
	count := !p.counted[f.Start]
	p.counted[f.Start] = true
	if count && decodeErr != nil {
		p.skip(decodeErr.Error(), function)
	}
	for i, in := range instrs {
		if !want.match(in.Off) {
			continue
		}
		if why := p.refusal(f, instrs, i); why == "" {
			out = append(out, p.make(f, function, in))
		} else if count {
			p.skip(why, fmt.Sprintf("%s+%d", function, in.Off))
		}
	}
	return out
}

func (p *Provider) make(f *patch.Func, function string, in patch.Instr) *probes.Probe {
	p.Set.Add(f, in)
	return p.Registry.Group(p, Module, function, f.Start).Numbered(in.Off, f.Start+uint64(in.Off))
}

var errEmpty = errors.New("the function has no size")

// decode gives the instructions of a function. f is nil when there are none at all.
func (p *Provider) decode(s kernel.Symbol) (f *patch.Func, instrs []patch.Instr, err error) {
	f = p.Set.Func(s.Addr, int(s.Size))
	instrs, err = f.Instrs()
	if f.Size > int(s.Size) { // another name of it reaches further
		instrs = slices.DeleteFunc(instrs, func(in patch.Instr) bool { return in.Off >= int(s.Size) })
	}
	if len(instrs) == 0 {
		return nil, nil, cmp.Or(err, errEmpty)
	}
	return f, instrs, err
}

// refusal says why the i-th instruction of f cannot be traced, or "".
func (p *Provider) refusal(f *patch.Func, instrs []patch.Instr, i int) string {
	in := instrs[i]
	if in.Plan.Kind == trampoline.Refuse {
		return in.Plan.Reason()
	}
	if p.Policy == All {
		return ""
	}
	if why := p.Unsafe(f.Start + uint64(in.Off)); why != "" {
		return why
	}
	if p.Policy != FreeBSD {
		return ""
	}
	o := originals[p.Arch]
	if why := o.function(instrs); why != "" {
		return why
	}
	return o.instruction(instrs, i)
}

// skip counts something that is passed over.
func (p *Provider) skip(why, place string) {
	s := p.skipped[why]
	if s == nil {
		s = &skips{first: place}
		p.skipped[why] = s
	}
	s.n++
}

// Enable plants the breakpoints.
func (p *Provider) Enable(ps []*probes.Probe) error { return p.Set.Enable(ps) }

// Disable takes them away.
func (p *Provider) Disable(ps []*probes.Probe) error { return p.Set.Disable(ps) }

// Report says what was skipped, and which probes are suspended.
func (p *Provider) Report() []string {
	var out []string
	for why, s := range p.skipped {
		line := fmt.Sprintf("kinst: skipped %s: %s", s.first, why)
		if s.n > 1 {
			line = fmt.Sprintf("kinst: skipped %d, the first at %s: %s", s.n, s.first, why)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return append(out, p.Set.Report()...)
}

func sorted(ps []*probes.Probe) []*probes.Probe {
	slices.SortFunc(ps, func(a, b *probes.Probe) int { return int(a.ID()) - int(b.ID()) })
	return slices.Compact(ps)
}
