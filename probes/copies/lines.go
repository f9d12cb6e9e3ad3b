package copies

import (
	"cmp"
	"fmt"
	"slices"

	"trapline/kernel"
	"trapline/kernel/debuginfo"
	"trapline/kernel/source"
)

// A Source has the lines that begin in functions, and the functions inlined around an
// address. All addresses are link-time ones. It keeps what it has read of a function. It is used by
// one goroutine at a time.
type Source struct {
	// Progress, if not nil, is called while Lines reads, with how many of a function's pieces of
	// code have been looked at.
	Progress func(done, total int)

	info    *source.Info
	symbols *kernel.Symtab
	known   map[uint64]*source.Function // by the symbol's address
}

// NewSource makes a Source of an image's debug information, by link-time addresses, and its
// symbols.
func NewSource(info *source.Info, symbols *kernel.Symtab) *Source {
	return &Source{info: info, symbols: symbols, known: map[uint64]*source.Function{}}
}

// A LineStart is an instruction of a function at which a line begins.
type LineStart struct {
	source.Start
	Own bool // the line is in the file of the function itself, not of one inlined into it
}

// Lines are the lines that begin in a function's own code and in its inlined copies, by
// address. What is inlined into it is part of it.
func (s *Source) Lines(f debuginfo.Function) (all []LineStart, err error) {
	type piece struct {
		debuginfo.Range
		depth int
	}
	var pieces []piece
	add := func(ranges []debuginfo.Range, depth int) {
		for _, r := range ranges {
			pieces = append(pieces, piece{r, depth})
		}
	}
	for _, d := range f.Regular {
		add(d.Ranges, 0)
	}
	for _, c := range f.Copies {
		add(c.Ranges, c.Depth)
	}
	for i, p := range pieces {
		if all, err = s.lines(all, p.Lo, p.Hi, p.depth); err != nil {
			return nil, err
		}
		if s.Progress != nil {
			s.Progress(i+1, len(pieces))
		}
	}
	slices.SortFunc(all, func(a, b LineStart) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.File, b.File), cmp.Compare(a.Line.Line, b.Line.Line))
	})
	return slices.Compact(all), nil
}

// lines adds those at [lo, hi), a piece of a function that is inlined so deep.
func (s *Source) lines(all []LineStart, lo, hi uint64, depth int) ([]LineStart, error) {
	for at := lo; at < hi; {
		sym, f, err := s.function(at)
		if err != nil || f == nil {
			return all, err
		}
		end := max(at+1, min(hi, sym.Addr+sym.Size))
		for _, start := range f.Starts() {
			if at <= start.Addr && start.Addr < end {
				own := f.At(start.Addr).Of(depth).File
				all = append(all, LineStart{start, start.File == own})
			}
		}
		at = end
	}
	return all, nil
}

// function is the source of the symbol at an address, nil without a symbol.
func (s *Source) function(addr uint64) (kernel.Symbol, *source.Function, error) {
	sym, ok := s.symbols.AtLink(addr)
	if !ok {
		return sym, nil, nil
	}
	f := s.known[sym.Addr]
	if f == nil {
		var err error
		if f, err = s.info.Function(sym.Addr, sym.Size); err != nil {
			return sym, nil, err
		}
		s.known[sym.Addr] = f
	}
	return sym, f, nil
}

// Inlined returns the names of the functions whose copies cover an address, innermost first;
// none where nothing can be read.
func (s *Source) Inlined(addr uint64) (names []string) {
	_, f, err := s.function(addr)
	if err != nil || f == nil {
		return nil
	}
	for _, in := range slices.Backward(f.At(addr).Stack) {
		names = append(names, in.Name)
	}
	return names
}

// At is the site of an instruction, by its link-time address; or there is none, and why.
func (f *Finder) At(addr uint64) (site Site, why string) {
	g := f.graphOf(debuginfo.Copy{Entry: addr})
	if g.nodes[addr] == nil {
		return site, fmt.Sprintf("%#x is not where an instruction begins", addr)
	}
	var out Sites
	site, ok := f.site(g, addr, Always, &out)
	if !ok {
		why = out.Notes[0]
	}
	return site, why
}
