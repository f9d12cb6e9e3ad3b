package debuginfo

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"

	"golang.org/x/sys/unix"

	"trapline/kernel"
	"trapline/owned"
)

// An Index finds the functions of one module in its debug information: where their code
// is, and where they have been inlined. It is made of the DWARF once and kept in a file
//
//	.debug_info --scan, a unit a time--> scanned --merge--> tables --> file
//	name --binary search--> rows of tables --> Function
//
// and answers from the file's tables, of which it decodes only what is asked for. Its
// methods may be called from several goroutines.
type Index struct{ t tables }

// A Function is all that a module has under one name, static functions of several source
// files among them. Without code anywhere Regular and Copies are both empty.
type Function struct {
	Name    string       // in the source: without .isra.0 and the like
	Regular []Definition // code of its own, by address
	Copies  []Copy       // inlined into others, by entry
}

// A Definition is the code of a function that is called.
type Definition struct {
	Entry  uint64  // of its first instruction
	Ranges []Range // all its pieces, .cold too, as the debug information orders them
	File   string  // of the declaration, as in Copy.CallFile; "" if not known
	Line   int
	die    uint64
}

// A Copy is the code of a function that was inlined.
type Copy struct {
	Caller string   // the function that has the code, by its name in the source
	Chain  []string // inlined functions between the two, outermost first
	// Ranges are the copy's pieces as the debug information orders them. There are none if
	// the compiler has left nothing of it.
	Ranges []Range
	// Entry is DW_AT_entry_pc, or the beginning of the first range; 0 if the entry has neither.
	Entry    uint64
	CallFile string // relative to the directory of the build, if it is below that
	CallLine int
	Depth    int // len(Chain) + 1
	// Part reports that it is not a call of the source: the compiler has split the function that
	// it lies in, and then inlined a part of it, as if called where the function is declared.
	Part bool
	die  uint64
}

// ErrNoDebugInfo is wrapped by [OpenIndex] for an image without DWARF.
var ErrNoDebugInfo = errors.New("no debug information (DWARF)")

// OpenIndex finds the index of an image in the directory cache, or makes it and leaves it
// there; "" keeps none. A file that is damaged, outdated, or not this user's
// alone is made anew. progress, if not nil, is
// told while that is done how many of total bytes have been read. The image may be closed
// afterwards.
//
// It fails with ErrNoDebugInfo, or says in one line why the debug information cannot be read. That an index cannot be kept is no failure of its own.
func OpenIndex(img *kernel.Image, cache string, progress func(done, total int64)) (*Index, error) {
	path := ""
	if id := img.BuildID(); id != "" && cache != "" {
		path = filepath.Join(cache, "functions", id)
	}
	if x, ok := keptIndex(path); ok {
		return x, nil
	}
	d := newSections(img)
	if len(d.info) == 0 || len(d.abbrev) == 0 {
		return nil, fmt.Errorf("%s: %w", img.Name(), ErrNoDebugInfo)
	}
	t, err := func() (t tables, err error) {
		defer kernel.Recover(&err)
		return d.index(progress)
	}()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", img.Name(), err)
	}
	if path != "" {
		// Without room for it the index is as good, only slow.
		_ = owned.WriteFile(path, t.bytes())
	}
	return &Index{t}, nil
}

// keptIndex takes an index from its file, if that is whole. The file stays mapped: it is
// replaced, never changed, and an index is used as long as the program runs.
func keptIndex(path string) (x *Index, ok bool) {
	f, err := owned.Open(filepath.Dir(path), filepath.Base(path), owned.OthersWrite)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < int64(indexHeader) {
		return nil, false
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_POPULATE)
	if err != nil {
		return nil, false
	}
	t, err := readTables(data)
	if err != nil {
		unix.Munmap(data)
		return nil, false
	}
	return &Index{t}, true
}

// index makes the tables. It fails if they are empty since the debug information is of a
// kind that is not read.
func (d *sections) index(progress func(done, total int64)) (tables, error) {
	h := dwarf{info: d.info, budget: d.budget}
	h.readUnits()
	var sum int64
	results, err := d.scanAll(h.units, func(n int64) {
		if sum += n; progress != nil {
			progress(sum, int64(len(d.info)))
		}
	})
	if err != nil {
		return tables{}, err
	}
	t := merge(h.units, results)
	if len(t.defs.data) == 4*defCols { // the sentinel
		return t, d.unread(&h)
	}
	return t, nil
}

// unread says why there may be nothing in the units: they are not read, or have what they
// describe elsewhere.
func (d *sections) unread(h *dwarf) error {
	split := h.split
	for i := range h.units {
		table, size := shapes(d.abbrev, h.units[i].abbrevs, h.units[i].addrSize)
		r, ok := d.root(&h.units[i], table)
		split = split || ok && r.split
		if !d.budget.spend(int(size)) {
			break
		}
	}
	switch {
	case split:
		return errors.New("its debug information is in .dwo files, which are not read: build it without CONFIG_DEBUG_INFO_SPLIT (-gsplit-dwarf)")
	case h.wide:
		return errors.New("its debug information is 64-bit DWARF, which is not read: build it without -gdwarf64")
	}
	return nil
}

// Function finds what has this name. It is not ok if nothing has.
func (x *Index) Function(name string) (f Function, ok bool) {
	i, ok := x.find(name)
	if !ok {
		return Function{}, false
	}
	f.Name = name
	for d := x.t.funcs.at(i, funcDef); d < x.t.funcs.at(i+1, funcDef); d++ {
		f.Regular = append(f.Regular, x.definition(int(d)))
	}
	links := maxLinks
	for c := x.t.funcs.at(i, funcCopy); c < x.t.funcs.at(i+1, funcCopy); c++ {
		f.Copies = append(f.Copies, x.copy(int(c), &links))
	}
	return f, true
}

func (x *Index) find(name string) (row int, ok bool) {
	n := x.t.funcs.rows() - 1 // without the sentinel
	i := sort.Search(n, func(i int) bool { return x.name(i) >= name })
	return i, i < n && x.name(i) == name
}

// name is that of the function in a row.
func (x *Index) name(row int) string { return x.t.text(x.t.funcs.at(row, funcName)) }

// Glob gives the names that match a pattern, see [kernel.Match], sorted.
func (x *Index) Glob(pattern string) []string {
	var names []string
	for i := range x.t.funcs.rows() - 1 {
		if name := x.name(i); kernel.Match(pattern, name) {
			names = append(names, name)
		}
	}
	return names
}

// Nearest gives at most n names that may have been meant by name.
func (x *Index) Nearest(name string, n int) []string {
	return kernel.Nearest(x.Glob(""), name, n)
}

func (x *Index) definition(row int) Definition {
	t := x.t.defs
	return Definition{
		Entry: t.address(row, defEntry), Ranges: x.ranges(t, row, defRange),
		File: x.t.text(t.at(row, defFile)), Line: int(t.at(row, defLine)), die: uint64(t.at(row, defDie)),
	}
}

// maxLinks bounds the chains of all copies of one function together: very many copies may lie in
// one another, in what is damaged.
const maxLinks = 1 << 20

func (x *Index) copy(row int, links *int) Copy {
	t := x.t.copies
	c := Copy{
		Caller:   x.name(int(x.t.defs.at(int(t.at(row, copyDef)), defFunc))),
		Entry:    t.address(row, copyEntry),
		Ranges:   x.ranges(t, row, copyRange),
		CallFile: x.t.text(t.at(row, copyFile)), CallLine: int(t.at(row, copyLine)), die: uint64(t.at(row, copyDie)),
		Part: t.at(row, copyPart) != 0,
	}
	for p := t.at(row, copyParent); p > 0 && *links > 0; p = t.at(int(p)-1, copyParent) {
		*links--
		c.Chain = append(c.Chain, x.name(int(t.at(int(p)-1, copyFunc))))
	}
	slices.Reverse(c.Chain)
	c.Depth = len(c.Chain) + 1
	return c
}

// ranges are those from the one that a row names to the one that the next row names.
func (x *Index) ranges(t table, row, col int) []Range {
	var all []Range
	for i := t.at(row, col); i < t.at(row+1, col); i++ {
		all = append(all, Range{x.t.ranges.address(int(i), 0), x.t.ranges.address(int(i), 2)})
	}
	return all
}
