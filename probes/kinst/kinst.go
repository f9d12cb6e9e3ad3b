package kinst

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"trapline/insn"
	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/probes"
	"trapline/probes/ktext"
	"trapline/probes/patch"
)

// Provider makes kinst probes.
type Provider struct {
	registry *probes.Registry
	text     *ktext.Text
	args     []arch.Reg
	skips    ktext.Skips
	branches map[string]*branch // by suffix
	counted  map[uint64]bool    // functions whose skipped instructions are in skips
}

// New makes the provider of the probes in a kernel's text. args are the registers that
// carry a function's integer arguments.
func New(r *probes.Registry, text *ktext.Text, args []arch.Reg) *Provider {
	return &Provider{registry: r, text: text, args: args, branches: newBranches(), counted: map[uint64]bool{}}
}

// Name is the first part of the names of its probes.
const Name = "kinst"

// Name implements probes.Provider.
func (p *Provider) Name() string { return Name }

// About is what its probes have in common.
var About = probes.About{Stability: probes.Private, Locals: true, Offsets: true}

// About implements probes.Abouter.
func (p *Provider) About() *probes.About { return &About }

// ParseDesc is probes.ParseDesc of a description of one instruction, which may leave out the
// provider.
func ParseDesc(text string) (probes.Desc, error) {
	d, err := probes.ParseDesc(text)
	switch {
	case err != nil:
		return d, err
	case d.Provider == "":
		d.Provider = Name
	}
	if d.Provider != Name || d.Function == "" || d.Name == "" {
		return d, fmt.Errorf("%q is not an instruction (want FUNCTION:OFFSET or %s:MODULE:FUNCTION:OFFSET)", text, Name)
	}
	return d, nil
}

// Hint implements probes.Hinter.
func (p *Provider) Hint(d probes.Desc) string {
	if d.Function != "" {
		return ""
	}
	return "kinst makes probes when it and a function are named, as in kinst::FUNCTION:"
}

// Provide makes the probes of the instructions that d names. Without the provider's own
// name or without a function it finds those made before.
func (p *Provider) Provide(d probes.Desc) ([]*probes.Probe, error) {
	ask := d.Provider == p.Name() && d.Function != ""
	if !ask {
		return p.made(d), nil
	}
	parts, err := p.text.Parts(d.Module)
	if err != nil {
		return nil, err
	}
	want, err := parseName(d.Name)
	if err != nil {
		return nil, err
	}
	switch glob := kernel.IsGlob(d.Function); {
	case glob && want.suffix != "":
		return nil, fmt.Errorf("%s needs a single function, not the pattern %q", d.Name, d.Function)
	case glob:
		return p.glob(parts, d.Function, want)
	}
	return p.named(parts, d.Function, want)
}

// made finds probes that exist.
func (p *Provider) made(d probes.Desc) []*probes.Probe {
	if _, err := parseName(d.Name); err != nil {
		return nil // such as BEGIN
	}
	var out []*probes.Probe
	module := d.Module
	d.Module = ""
	for q := range p.registry.All() {
		if !p.text.InModule(module, q.Module()) {
			continue
		}
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
	suffix  string // of an offset: one way of a conditional jump
}

func parseName(s string) (name, error) {
	if kernel.IsGlob(s) {
		return name{offset: -1, pattern: s}, nil
	}
	digits, suffix := s, ""
	if i := strings.IndexByte(s, '-'); i > 0 && (s[i:] == ktext.Taken || s[i:] == ktext.NotTaken) {
		digits, suffix = s[:i], s[i:]
	}
	n, err := strconv.Atoi(digits)
	if err != nil || strconv.Itoa(n) != digits || n < 0 {
		return name{}, fmt.Errorf("%q is not an offset (want decimal bytes from the start of the function)", s)
	}
	return name{offset: n, suffix: suffix}, nil
}

func (n name) match(off int) bool {
	switch {
	case n.offset >= 0:
		return off == n.offset
	case n.pattern == "": // most, and millions
		return true
	}
	return kernel.Match(n.pattern, strconv.Itoa(off))
}

// glob makes the probes of all functions that match. What cannot be probed is skipped.
func (p *Provider) glob(parts []ktext.Part, pattern string, want name) ([]*probes.Probe, error) {
	var out []*probes.Probe
	for _, part := range parts {
		p.text.DecodeAll(part.Symbols.Glob(pattern), func(s kernel.Symbol, f *patch.Func, instrs []patch.Instr, err error) {
			if f == nil {
				p.skips.Add(err.Error(), s.Name)
				return
			}
			out = p.all(out, &function{f, part.Module, s.Name}, instrs, want, err)
		})
	}
	return sorted(out), nil
}

// A function is one of a module, by one of its names.
type function struct {
	*patch.Func
	module, name string
}

// decode gives the instructions of a function, see ktext.Text.Decode.
func (p *Provider) decode(part ktext.Part, s kernel.Symbol) (*function, []patch.Instr, error) {
	f, instrs, err := p.text.Decode(s)
	if f == nil {
		return nil, nil, err
	}
	return &function{f, part.Module, s.Name}, instrs, err
}

// named makes the probes of the functions of one name.
func (p *Provider) named(parts []ktext.Part, function string, want name) ([]*probes.Probe, error) {
	ps, err := ktext.Named(parts, function, func(part ktext.Part, s kernel.Symbol) ([]*probes.Probe, error) {
		return p.function(part, s, want)
	})
	return sorted(ps), err
}

// function makes the probes of one function. It fails when there would be none for a
// reason in words.
func (p *Provider) function(part ktext.Part, s kernel.Symbol, want name) ([]*probes.Probe, error) {
	f, instrs, err := p.decode(part, s)
	if f == nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	if want.offset >= 0 {
		return p.one(f, instrs, want, err)
	}
	if out := p.all(nil, f, instrs, want, err); len(out) > 0 {
		return out, nil
	}
	return nil, p.noneOf(f, instrs, want)
}

// noneOf says why a whole function has no probe.
func (p *Provider) noneOf(f *function, instrs []patch.Instr, want name) error {
	for i, in := range instrs {
		if want.match(in.Off) {
			return fmt.Errorf("nothing of %s can be traced: %s", f.name, p.text.Refusal(f.Func, instrs, i))
		}
	}
	return nil
}

// one makes the probe at an offset. decodeErr is why the instructions end early.
func (p *Provider) one(f *function, instrs []patch.Instr, want name, decodeErr error) ([]*probes.Probe, error) {
	off := want.offset
	i, ok := slices.BinarySearchFunc(instrs, off, func(in patch.Instr, off int) int { return in.Off - off })
	if !ok {
		return nil, noInstr(f, instrs, i, off, decodeErr)
	}
	if why := p.text.Refusal(f.Func, instrs, i); why != "" {
		return nil, fmt.Errorf("%s+%d cannot be traced: %s", f.name, off, why)
	}
	if want.suffix != "" {
		return p.makeBranch(f, instrs[i], want.suffix)
	}
	p.text.Set.Add(f.Func, instrs[i])
	return []*probes.Probe{p.group(f).Numbered(off, f.Start+uint64(off))}, nil
}

// noInstr says why no instruction begins at an offset; i is the one after it.
func noInstr(f *function, instrs []patch.Instr, i, off int, decodeErr error) error {
	switch {
	case off >= f.Size:
		return fmt.Errorf("offset %d is outside %s, which has %d bytes", off, f.name, f.Size)
	case i == len(instrs) && decodeErr != nil:
		return fmt.Errorf("offset %d of %s: %w", off, f.name, decodeErr)
	case i == len(instrs):
		return fmt.Errorf("offset %d is inside the last instruction of %s, which begins at %d", off, f.name, instrs[i-1].Off)
	}
	return fmt.Errorf("offset %d is inside an instruction of %s: instructions begin at %d and %d", off, f.name, instrs[i-1].Off, instrs[i].Off)
}

// all makes the probes of those instructions that match and can be traced, and appends them to out.
func (p *Provider) all(out []*probes.Probe, f *function, instrs []patch.Instr, want name, decodeErr error) []*probes.Probe {
	var group *probes.Group // there is none without probes
	count := !p.counted[f.Start]
	p.counted[f.Start] = true
	if count && decodeErr != nil {
		p.skips.Add(decodeErr.Error(), f.name)
	}
	for i, in := range instrs {
		if !want.match(in.Off) {
			continue
		}
		if why := p.text.Refusal(f.Func, instrs, i); why == "" {
			if group == nil {
				group = p.group(f)
			}
			p.text.Set.Add(f.Func, in)
			out = append(out, group.Numbered(in.Off, f.Start+uint64(in.Off)))
		} else if count {
			p.skips.Add(why, fmt.Sprintf("%s+%d", f.name, in.Off))
		}
	}
	return out
}

func (p *Provider) group(f *function) *probes.Group {
	return p.registry.Group(p, f.module, f.name, f.Start)
}

// Enable plants the breakpoints.
func (p *Provider) Enable(ps []*probes.Probe) error { return p.text.Set.Enable(ps) }

// Disable takes them away.
func (p *Provider) Disable(ps []*probes.Probe) error { return p.text.Set.Disable(ps) }

// Arg is one of the registers in which a function gets its integer arguments: a probe on an
// instruction passes nothing, but at offset 0 these are the function's. What would be on
// the stack is 0.
func (p *Provider) Arg(f *probes.Firing, i int) uint64 {
	if i < len(p.args) {
		return f.CPU.Reg(p.args[i])
	}
	return 0
}

// Reads implements probes.RegReader: arguments are in registers, and flags say which way a jump goes.
func (p *Provider) Reads(q *probes.Probe, _ uint64, args uint16) (regs []arch.Reg, ok bool) {
	return probes.ArgRegs(p.args, args), q.Group().Selector() == nil
}

// Forget drops what is known of text at [lo, hi), which is not there any more.
func (p *Provider) Forget(lo, hi uint64) {
	maps.DeleteFunc(p.counted, func(addr uint64, _ bool) bool { return addr-lo < hi-lo })
	for _, b := range p.branches {
		maps.DeleteFunc(b.flows, func(addr uint64, _ insn.Flow) bool { return addr-lo < hi-lo })
	}
}

// Report says what was skipped, and which probes are suspended.
func (p *Provider) Report() []string {
	return append(p.skips.Report(p.Name()), p.text.Set.Report()...)
}

func sorted(ps []*probes.Probe) []*probes.Probe {
	slices.SortFunc(ps, func(a, b *probes.Probe) int { return int(a.ID()) - int(b.ID()) })
	return slices.Compact(ps)
}
