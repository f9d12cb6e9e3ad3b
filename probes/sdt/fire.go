package sdt

import (
	"fmt"
	"slices"
	"strings"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/callsite"
	"trapline/kernel/ctypes"
	"trapline/probes"
	"trapline/probes/patch"
)

// Enable plants the breakpoints.
func (p *Provider) Enable(ps []*probes.Probe) error {
	if err := p.text.Set.EnableSites(p.sites(ps)); err != nil {
		return err
	}
	p.flip(len(ps))
	return nil
}

// Disable takes them away.
func (p *Provider) Disable(ps []*probes.Probe) error {
	p.flip(-len(ps))
	return p.text.Set.DisableSites(p.sites(ps))
}

// flip counts the probes that are on, for the kernel's switches.
func (p *Provider) flip(more int) {
	was := p.on > 0
	p.on += more
	if is := p.on > 0; is != was && p.points != nil {
		p.points.flip(p.name, is)
	}
}

func (p *Provider) sites(ps []*probes.Probe) []patch.Site {
	out := make([]patch.Site, 0, len(ps))
	for _, q := range ps {
		for _, x := range p.made[q] {
			out = append(out, patch.Site{Probe: q, Addr: x.Addr})
		}
	}
	return out
}

// place is the place of a probe at an address, nil if it has none there.
func (p *Provider) place(q *probes.Probe, addr uint64) *Place {
	places := p.made[q]
	for i := range places {
		if places[i].Addr == addr {
			return &places[i]
		}
	}
	return nil
}

// Always is true of probes whose arguments are in registers.
func (p *Provider) Always(q *probes.Probe) bool {
	for _, x := range p.made[q] {
		if x.Args != nil {
			return false
		}
	}
	return true
}

// Select reports whether the probe fires.
func (p *Provider) Select(f *probes.Firing) bool {
	x := p.place(f.Probe, f.CPU.Reg(p.arch.PC))
	if x == nil {
		return false
	}
	return x.Args == nil || x.Args.Select(f)
}

// Arg is argument i of a firing, 0 if there is none.
func (p *Provider) Arg(f *probes.Firing, i int) uint64 {
	x := p.place(f.Probe, f.CPU.Reg(p.arch.PC))
	switch {
	case x == nil:
		return 0
	case x.Args != nil && i < len(f.Args):
		return f.Args[i]
	case x.Args == nil && i < min(maxArgs, len(p.arch.Args)):
		return f.CPU.Reg(p.arch.Args[i])
	}
	return 0
}

// Reads implements probes.RegReader for places where arguments are in registers.
func (p *Provider) Reads(q *probes.Probe, addr uint64, args uint16) (regs []arch.Reg, ok bool) {
	x := p.place(q, addr)
	inRegs := p.arch.Args[:min(maxArgs, len(p.arch.Args))]
	return probes.ArgRegs(inRegs, args), x != nil && x.Args == nil
}

// ArgTypes are the types that all probes have that d matches.
func (p *Provider) ArgTypes(d probes.Desc) []*ctypes.Type {
	var all []*ctypes.Type
	for i, x := range p.matching(d) {
		var types []*ctypes.Type
		if x.Args != nil {
			types = x.Args.Types()
		}
		if i == 0 {
			all = types
		}
		n := 0
		for n < min(len(all), len(types)) && ctypes.Same(all[n], types[n]) {
			n++
		}
		all = all[:n]
	}
	return all
}

// Declared implements probes.Declarer.
func (p *Provider) Declared(d probes.Desc) (args []ctypes.Arg, ok bool) {
	for i, x := range p.matching(d) {
		if x.Function == "" || i > 0 && !slices.Equal(args, x.Declared) {
			return nil, false
		}
		args, ok = x.Declared, true
	}
	return args, ok
}

// Report says what was skipped.
func (p *Provider) Report() []string { return p.skips.Report(p.name) }

// Lost says which tracepoints fired without arguments.
func (p *Provider) Lost() []string {
	if p.points == nil || p.name != callsite.DefaultProvider {
		return nil
	}
	return p.points.report()
}

// noProbe says that there is no probe of a description, whose name is no pattern.
func noProbe(provider string, d probes.Desc, names []string) error {
	text := fmt.Sprintf("no probe %q of %s", d.Name, provider)
	if d.Function != "" || d.Module != "" {
		text = fmt.Sprintf("no probe %s:%s:%s:%s", provider, d.Module, d.Function, d.Name)
	}
	if near := kernel.Nearest(names, d.Name, 3); len(near) > 0 {
		text += fmt.Sprintf(" (nearest: %s)", strings.Join(near, ", "))
	}
	return fmt.Errorf("%s", text)
}

var _ interface {
	probes.Selector
	probes.Arguer
	probes.Typed
	probes.Declarer
	probes.Reporter
	probes.Loser
} = (*Provider)(nil)
