package resolve

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

// An expansion is what a description has become, or why there is nothing.
type expansion struct {
	descs []string
	err   error
}

// Descriptions are what stands for a description, none for itself: kinst::f:entry and kinst::f:return
// become probes at the inlined copies of f, and kinst::f:FILE@LINE probes where that line begins.
// Lookup says why there are none.
func (r *Resolver) Descriptions(text string) []string {
	d, err := probes.ParseDesc(text)
	if err != nil || d.Function == "" || !r.About(d.Provider).Offsets {
		return nil
	}
	at, ok := parseLine(d.Name)
	if !ok && d.Name != "entry" && d.Name != "return" {
		return nil
	}
	x, ok := r.done[text]
	if !ok {
		if at.line > 0 {
			x.descs, x.err = r.expandLine(d, at)
		} else {
			x.descs, x.err = r.expand(d)
		}
		r.done[text] = x
	}
	return x.descs
}

func (r *Resolver) expand(d probes.Desc) ([]string, error) {
	out := r.expandModules(d)
	if !r.inKernel(d) {
		if len(out) == 0 {
			m := r.modules.Described(d.Module)[0]
			return nil, &ktext.UnknownError{Function: d.Function, Module: d.Module, Near: m.Image.Symtab().Nearest(d.Function, 3)}
		}
		return out, nil
	}
	if _, err := r.text.Parts(d.Module); err != nil {
		return nil, err
	}
	funcs, err := r.debug.OpenFunctions()
	if err != nil {
		return out, fmt.Errorf("%s:%s is about inlined copies: %w", d.Function, d.Name, err)
	}
	out = append(r.all(origin{d, funcs, funcs, true}), out...)
	if len(out) == 0 {
		return nil, r.nothing(d, funcs)
	}
	return out, nil
}

// inKernel reports whether a description is looked for in the kernel proper: not if it is of
// modules alone.
func (r *Resolver) inKernel(d probes.Desc) bool {
	return r.text.InKernel(d.Module) || len(r.modules.Described(d.Module)) == 0
}

// expandModules makes the descriptions for the modules whose files are known. They name the
// module, which may not be loaded. Without debug information there are only the functions
// themselves.
func (r *Resolver) expandModules(d probes.Desc) (out []string) {
	for _, m := range r.modules.Described(d.Module) {
		d.Module = m.Name()
		if funcs, err := m.OpenFunctions(); err == nil {
			out = append(out, r.all(origin{d, funcs, m.Image.Symtab(), false})...)
		} else if len(m.Image.Symtab().Glob(d.Function)) > 0 {
			r.note("%v", err)
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
func (r *Resolver) all(o origin) (out []string) {
	names := []string{o.Function}
	if kernel.IsGlob(o.Function) {
		names = o.funcs.Glob(o.Function)
	}
	for _, name := range names {
		out = append(out, r.function(o, name)...)
	}
	return out
}

// function makes the descriptions for one function: its copies by address, then those of its
// own definitions.
func (r *Resolver) function(d origin, name string) (out []string) {
	f, known := d.funcs.Function(name)
	bare := 0
	for _, c := range f.Copies {
		sites := d.funcs.Find(c)
		if len(c.Ranges) == 0 {
			bare++
		}
		for _, note := range sites.Notes {
			r.note("%s: %s", name, note)
		}
		for _, s := range chosen(sites, d.Name) {
			out = r.add(out, probes.Desc{Provider: kinst.Name, Module: d.Module, Function: s.Symbol, Name: s.Name()}, s.Addr)
		}
	}
	if bare > 0 {
		r.note("%s: %d of %d inlined copies have no code", name, bare, len(f.Copies))
	}
	for _, def := range f.Regular {
		if sym, ok := d.symbols.AtLink(def.Entry); ok {
			out = r.add(out, probes.Desc{Provider: fbt.Name, Module: d.Module, Function: sym.Name, Name: d.Name}, sym.Addr)
		}
	}
	if !known && r.assembler(d, name) {
		out = append(out, probes.Desc{Provider: fbt.Name, Module: d.Module, Function: name, Name: d.Name}.String())
	}
	return out
}

// assembler reports whether of a function there is only a symbol.
func (r *Resolver) assembler(d origin, name string) bool {
	if !d.kernel {
		return false
	}
	_, err := r.text.Kernel().Named(name)
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
func (r *Resolver) add(to []string, d probes.Desc, addr uint64) []string {
	text := d.String()
	if !slices.Contains(r.addrs[text], addr) {
		r.addrs[text] = append(r.addrs[text], addr)
	}
	if slices.Contains(to, text) {
		return to
	}
	return append(to, text)
}

// keep takes away those probes of a description that was made that it does not mean.
func (r *Resolver) keep(text string, ps []*probes.Probe) []*probes.Probe {
	addrs, ok := r.addrs[text]
	if !ok {
		return ps
	}
	return slices.DeleteFunc(slices.Clone(ps), func(p *probes.Probe) bool {
		link, ok := r.modules.LinkOf(p)
		return !ok || !slices.Contains(addrs, link)
	})
}

// nothing says why there is no probe for a description.
func (r *Resolver) nothing(d probes.Desc, funcs *modules.Functions) error {
	f, known := funcs.Function(d.Function)
	module := d.Module
	if text := r.text; text.InKernel(module) {
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

func (r *Resolver) note(format string, args ...any) {
	if text := fmt.Sprintf("inline: "+format, args...); !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}
