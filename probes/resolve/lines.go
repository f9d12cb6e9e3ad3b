package resolve

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"trapline/kernel"
	"trapline/probes"
	"trapline/probes/copies"
	"trapline/probes/kinst"
	"trapline/probes/modules"
)

// A sourceLine is the last part of kinst::f:FILE@LINE. A file is named without directories,
// since a / begins a predicate; "" is the function's own.
type sourceLine struct {
	file string
	line int
}

func parseLine(name string) (sourceLine, bool) {
	file, digits, ok := strings.Cut(name, "@")
	n, err := strconv.ParseUint(digits, 10, 31)
	return sourceLine{file, int(n)}, ok && err == nil && n > 0
}

// in reports whether a line is in the file that is meant.
func (l sourceLine) in(s copies.LineStart) bool {
	return l.file == "" && s.Own || l.file != "" && l.file == path.Base(s.File)
}

// expandLine makes the descriptions of the instructions at which a line begins in a function
// and its copies, by address: those in the kernel, then those in modules.
func (r *Resolver) expandLine(d probes.Desc, at sourceLine) (out []string, err error) {
	if kernel.IsGlob(d.Function) {
		return nil, fmt.Errorf("%s: a line is looked for in one function, %s is a pattern", d.Name, d.Function)
	}
	if r.inKernel(d) {
		if _, err := r.text.Parts(d.Module); err != nil {
			return nil, err
		}
		out, err = r.line(d, r.debug, at)
	}
	for _, m := range r.modules.Described(d.Module) {
		d.Module = m.Name()
		more, why := r.line(d, &m.Debug, at)
		out, err = append(out, more...), cmp.Or(err, why)
	}
	if len(out) > 0 {
		err = nil
	}
	return out, err
}

// line makes the descriptions for the kernel or a module. It is an error that there are none.
func (r *Resolver) line(d probes.Desc, of *modules.Debug, at sourceLine) (out []string, err error) {
	starts, err := r.lines(d, of)
	if err != nil {
		return nil, err
	}
	for _, s := range starts {
		if s.Line.Line == at.line && at.in(s) {
			out = r.addStart(out, d, of, s)
		}
	}
	if len(out) == 0 {
		return nil, at.missing(d.Function, starts)
	}
	return out, nil
}

// lines are those that begin in the function of a description.
func (r *Resolver) lines(d probes.Desc, of *modules.Debug) ([]copies.LineStart, error) {
	funcs, err := of.OpenFunctions()
	var source *copies.Source
	if err == nil {
		source, err = of.OpenSource()
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%s names a source line: %w", d.Function, d.Name, err)
	}
	f, _ := funcs.Function(d.Function)
	starts, err := source.Lines(f)
	if err == nil && len(starts) == 0 && len(f.Regular) == 0 {
		err = r.nothing(d, funcs)
	}
	return starts, err
}

func (r *Resolver) addStart(out []string, d probes.Desc, of *modules.Debug, s copies.LineStart) []string {
	funcs, err := of.OpenFunctions()
	if err != nil {
		r.note("%v", err)
		return out
	}
	site, why := funcs.At(s.Addr)
	if why != "" {
		r.note("line %d of %s: %s", s.Line.Line, s.File, why)
		return out
	}
	return r.add(out, probes.Desc{Provider: kinst.Name, Module: d.Module, Function: site.Symbol, Name: site.Name()}, s.Addr)
}

// missing says what there is instead of a line.
func (l sourceLine) missing(function string, starts []copies.LineStart) error {
	var lines []int
	var files []string
	for _, s := range starts {
		files = append(files, path.Base(s.File))
		if l.in(s) {
			lines = append(lines, s.Line.Line)
		}
	}
	slices.Sort(files)
	switch {
	case slices.Contains(lines, l.line):
		return fmt.Errorf("line %d begins at no instruction of %s that can be traced", l.line, function)
	case len(lines) > 0:
		return fmt.Errorf("line %d begins nowhere in %s (nearest: %s)", l.line, function, nearestLines(lines, l.line))
	case len(files) > 0 && l.file != "":
		return fmt.Errorf("%s has no code of %s (it has of %s)", function, l.file, strings.Join(slices.Compact(files), ", "))
	}
	return fmt.Errorf("%s has no code with lines", function)
}

// nearestLines lists the three that are nearest to a line, in ascending order.
func nearestLines(lines []int, line int) string {
	slices.SortFunc(lines, func(a, b int) int {
		return cmp.Or(cmp.Compare(max(a-line, line-a), max(b-line, line-b)), cmp.Compare(a, b))
	})
	lines = slices.Compact(lines)
	lines = lines[:min(3, len(lines))]
	slices.Sort(lines)
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(lines)), ", "), "[]")
}

// Inlined returns the functions whose copies cover an address, innermost first.
func (r *Resolver) Inlined(addr uint64) []string {
	d := r.modules.DebugAt(addr)
	link, _ := d.LinkOf(addr)
	source, err := d.OpenSource()
	if err != nil {
		return nil
	}
	return source.Inlined(link)
}
