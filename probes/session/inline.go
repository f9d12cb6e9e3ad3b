package session

import (
	"fmt"
	"slices"

	"trapline/kernel"
	"trapline/probes"
	"trapline/probes/copies"
	"trapline/probes/fbt"
	"trapline/probes/kinst"
	"trapline/probes/ktext"
	"trapline/probes/modules"
)

// inlining turns kinst::f:entry and kinst::f:return into probes at the inlined copies of f,
// and kinst::f:FILE@LINE into probes where that line begins.
type inlining struct {
	s    *Session
	done map[string]expansion
	// addrs are the link-time addresses that a description that was made means: other
	// functions may have the name of its function.
	addrs map[string][]uint64
	notes []string
}

// An expansion is what a description has become, or why there is nothing.
type expansion struct {
	descs []string
	err   error
}

func newInlining(s *Session) *inlining {
	return &inlining{s: s, done: map[string]expansion{}, addrs: map[string][]uint64{}}
}

// descriptions are what stands for a description, none for itself. Why there are none is
// what lookup tells.
func (in *inlining) descriptions(text string) []string {
	d, err := probes.ParseDesc(text)
	if err != nil || d.Function == "" || !in.s.about(d.Provider).Offsets {
		return nil
	}
	at, ok := parseLine(d.Name)
	if !ok && d.Name != "entry" && d.Name != "return" {
		return nil
	}
	x, ok := in.done[text]
	if !ok {
		if at.line > 0 {
			x.descs, x.err = in.expandLine(d, at)
		} else {
			x.descs, x.err = in.expand(d)
		}
		in.done[text] = x
	}
	return x.descs
}

func (in *inlining) expand(d probes.Desc) ([]string, error) {
	out := in.expandModules(d)
	if !in.inKernel(d) {
		if len(out) == 0 {
			m := in.s.modules.Described(d.Module)[0]
			return nil, &ktext.UnknownError{Function: d.Function, Module: d.Module, Near: m.Image.Symtab().Nearest(d.Function, 3)}
		}
		return out, nil
	}
	if _, err := in.s.ktext.Parts(d.Module); err != nil {
		return nil, err
	}
	funcs, err := in.s.OpenFunctions()
	if err != nil {
		return out, fmt.Errorf("%s:%s is about inlined copies: %w", d.Function, d.Name, err)
	}
	out = append(in.all(origin{d, funcs, funcs, true}), out...)
	if len(out) == 0 {
		return nil, in.nothing(d, funcs)
	}
	return out, nil
}

// inKernel reports whether a description is looked for in the kernel proper: not if it is of
// modules alone.
func (in *inlining) inKernel(d probes.Desc) bool {
	return in.s.ktext.InKernel(d.Module) || len(in.s.modules.Described(d.Module)) == 0
}

// expandModules makes the descriptions for the modules whose files are known. They name the
// module, which may not be loaded. Without debug information there are only the functions
// themselves.
func (in *inlining) expandModules(d probes.Desc) (out []string) {
	for _, m := range in.s.modules.Described(d.Module) {
		d.Module = m.Name()
		if funcs, err := m.OpenFunctions(); err == nil {
			out = append(out, in.all(origin{d, funcs, m.Image.Symtab(), false})...)
		} else if len(m.Image.Symtab().Glob(d.Function)) > 0 {
			in.note("%v", err)
			out = append(out, probes.Desc{Provider: fbt.Name, Module: d.Module, Function: d.Function, Name: d.Name}.String())
		}
	}
	return out
}

// An origin is where functions are looked for, and for which description.
type origin struct {
	probes.Desc
	funcs   *modules.Functions
	symbols interface {
		AtLink(addr uint64) (kernel.Symbol, bool)
	}
	kernel bool // the kernel proper, no module
}

// all makes the descriptions for all functions that are meant.
func (in *inlining) all(o origin) (out []string) {
	names := []string{o.Function}
	if kernel.IsGlob(o.Function) {
		names = o.funcs.Glob(o.Function)
	}
	for _, name := range names {
		out = append(out, in.function(o, name)...)
	}
	return out
}

// function makes the descriptions for one function: its copies by address, then those of its
// own definitions.
func (in *inlining) function(d origin, name string) (out []string) {
	f, known := d.funcs.Function(name)
	bare := 0
	for _, c := range f.Copies {
		sites := d.funcs.Find(c)
		if len(c.Ranges) == 0 {
			bare++
		}
		for _, note := range sites.Notes {
			in.note("%s: %s", name, note)
		}
		for _, s := range chosen(sites, d.Name) {
			out = in.add(out, probes.Desc{Provider: kinst.Name, Module: d.Module, Function: s.Symbol, Name: s.Name()}, s.Addr)
		}
	}
	if bare > 0 {
		in.note("%s: %d of %d inlined copies have no code", name, bare, len(f.Copies))
	}
	for _, r := range f.Regular {
		if sym, ok := d.symbols.AtLink(r.Entry); ok {
			out = in.add(out, probes.Desc{Provider: fbt.Name, Module: d.Module, Function: sym.Name, Name: d.Name}, sym.Addr)
		}
	}
	if !known && in.assembler(d, name) {
		out = append(out, probes.Desc{Provider: fbt.Name, Module: d.Module, Function: name, Name: d.Name}.String())
	}
	return out
}

// assembler tells a function of which there is only a symbol.
func (in *inlining) assembler(d origin, name string) bool {
	if !d.kernel {
		return false
	}
	_, err := in.s.ktext.Kernel().Named(name)
	return err == nil
}

func chosen(s copies.Sites, name string) []copies.Site {
	switch {
	case name == "return":
		return s.Returns
	case s.Entry != nil:
		return []copies.Site{*s.Entry}
	}
	return nil
}

// add adds a description of the probe at an address, if it is not there.
func (in *inlining) add(to []string, d probes.Desc, addr uint64) []string {
	text := d.String()
	if !slices.Contains(in.addrs[text], addr) {
		in.addrs[text] = append(in.addrs[text], addr)
	}
	if slices.Contains(to, text) {
		return to
	}
	return append(to, text)
}

// keep takes away those probes of a description that was made that it does not mean.
func (in *inlining) keep(text string, ps []*probes.Probe) []*probes.Probe {
	addrs, ok := in.addrs[text]
	if !ok {
		return ps
	}
	return slices.DeleteFunc(slices.Clone(ps), func(p *probes.Probe) bool {
		link, ok := in.s.modules.LinkOf(p)
		return !ok || !slices.Contains(addrs, link)
	})
}

// nothing says why there is no probe for a description.
func (in *inlining) nothing(d probes.Desc, funcs *modules.Functions) error {
	f, known := funcs.Function(d.Function)
	module := d.Module
	if text := in.s.ktext; text.InKernel(module) {
		module = text.Kernel().Module
	}
	switch {
	case known && len(f.Copies) > 0:
		return fmt.Errorf("none of the %d inlined copies of %s has an instruction to probe", len(f.Copies), d.Function)
	case known:
		return fmt.Errorf("%s has no code in %s", d.Function, module)
	}
	return &ktext.UnknownError{Function: d.Function, Module: module, Near: funcs.Nearest(d.Function, 3)}
}

func (in *inlining) note(format string, args ...any) {
	if text := fmt.Sprintf("inline: "+format, args...); !slices.Contains(in.notes, text) {
		in.notes = append(in.notes, text)
	}
}
