package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"trapline/kernel/debuginfo"
	"trapline/probes"
	"trapline/probes/inline"
	"trapline/probes/ktext"
)

// Functions are the functions of the guest's kernel, and the instructions of their inlined
// copies.
type Functions struct {
	*debuginfo.Index
	*inline.Finder
}

// inlining turns kinst::f:entry and kinst::f:return into probes at the inlined copies of f,
// and kinst::f:FILE@LINE into probes where that line begins.
type inlining struct {
	s     *Session
	funcs *Functions // nil until asked for
	done  map[string]expansion
	// addrs are the addresses that a description that was made means: other functions may
	// have the name of its function.
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
	if err != nil || d.Provider != "kinst" || d.Function == "" {
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
	if ok, err := ktext.InModule(d.Module); !ok {
		return nil, err
	}
	if err := in.open(); err != nil {
		return nil, fmt.Errorf("%s:%s is about inlined copies: %w", d.Function, d.Name, err)
	}
	names := []string{d.Function}
	if probes.IsGlob(d.Function) {
		names = in.funcs.Glob(d.Function)
	}
	var out []string
	for _, name := range names {
		out = append(out, in.function(d, name)...)
	}
	if len(out) == 0 {
		return nil, in.nothing(d)
	}
	return out, nil
}

func (in *inlining) open() error {
	if in.funcs != nil {
		return nil
	}
	if in.s.Functions == nil {
		return errors.New("nothing is known of those")
	}
	var err error
	in.funcs, err = in.s.Functions()
	return err
}

// function makes the descriptions for one function: its copies by address, then those of its
// own definitions.
func (in *inlining) function(d probes.Desc, name string) (out []string) {
	f, known := in.funcs.Function(name)
	bare := 0
	for _, c := range f.Copies {
		sites := in.funcs.Find(c)
		if len(c.Ranges) == 0 {
			bare++
		}
		for _, note := range sites.Notes {
			in.note("%s: %s", name, note)
		}
		for _, s := range chosen(sites, d.Name) {
			out = in.add(out, probes.Desc{Provider: "kinst", Module: d.Module, Function: s.Symbol, Name: s.Name()}, s.Addr+in.funcs.Slide())
		}
	}
	if bare > 0 {
		in.note("%s: %d of %d inlined copies have no code", name, bare, len(f.Copies))
	}
	for _, r := range f.Regular {
		if sym, ok := in.s.Symbols.At(r.Entry + in.funcs.Slide()); ok {
			out = in.add(out, probes.Desc{Provider: "fbt", Module: d.Module, Function: sym.Name, Name: d.Name}, sym.Addr)
		}
	}
	if _, err := in.s.ktext.Named(name); !known && err == nil { // assembler
		out = append(out, probes.Desc{Provider: "fbt", Module: d.Module, Function: name, Name: d.Name}.String())
	}
	return out
}

func chosen(s inline.Sites, name string) []inline.Site {
	switch {
	case name == "return":
		return s.Returns
	case s.Entry != nil:
		return []inline.Site{*s.Entry}
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
	return slices.DeleteFunc(slices.Clone(ps), func(p *probes.Probe) bool { return !slices.Contains(addrs, p.Key) })
}

// nothing says why there is no probe for a description.
func (in *inlining) nothing(d probes.Desc) error {
	f, known := in.funcs.Function(d.Function)
	near := in.funcs.Nearest(d.Function, 3)
	switch {
	case known && len(f.Copies) > 0:
		return fmt.Errorf("none of the %d inlined copies of %s has an instruction to probe", len(f.Copies), d.Function)
	case known:
		return fmt.Errorf("%s has no code in %s", d.Function, ktext.Module)
	case len(near) > 0:
		return fmt.Errorf("no function %q in %s (nearest: %s)", d.Function, ktext.Module, strings.Join(near, ", "))
	}
	return fmt.Errorf("no function %q in %s", d.Function, ktext.Module)
}

func (in *inlining) note(format string, args ...any) {
	if text := fmt.Sprintf("inline: "+format, args...); !slices.Contains(in.notes, text) {
		in.notes = append(in.notes, text)
	}
}
