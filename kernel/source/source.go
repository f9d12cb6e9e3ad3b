// Package source reads, for the code of one function at a time, the lines of its source and
// the functions that have been inlined into it.
//
//	address --unit's line table--> file, line
//	address --entries of the function--> inlined functions around it, outermost first
//
// It reads the DWARF of an image with the standard library, a unit when it is asked for.
// Package debuginfo has what needs all of it.
package source

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"trapline/kernel"
)

var errTooMany = errors.New("damaged: it has more rows, copies or units than there can be")

// ErrNone is wrapped by Open for an image without DWARF.
var ErrNone = errors.New("no debug information (DWARF)")

// Info is the debug information of an image, which must stay open.
type Info struct {
	data  *dwarf.Data
	lines []byte // .debug_line
	slide uint64
	units []extent // by address, once one has been looked for

	lastUnit dwarf.Offset // where the header of the last one is
	last     *unit        // which has been read: the next function is often of the same
}

// Open begins to read an image's debug information. Addresses are of the running kernel as it
// lies now.
func Open(img *kernel.Image) (*Info, error) {
	in, err := OpenLinked(img)
	if err == nil {
		in.slide = img.Slide()
	}
	return in, err
}

// OpenLinked is Open for link-time addresses, whatever the guest does with the image.
func OpenLinked(img *kernel.Image) (*Info, error) {
	section := func(name string) []byte {
		data, _, _ := img.Section(".debug_" + name)
		return data
	}
	if section("info") == nil {
		return nil, fmt.Errorf("%s: %w", img.Name(), ErrNone)
	}
	in := &Info{lines: section("line")}
	if err := in.open(section); err != nil {
		return nil, fmt.Errorf("%s: reading debug information: %w", img.Name(), err)
	}
	return in, nil
}

func (in *Info) open(section func(name string) []byte) (err error) {
	defer kernel.Recover(&err)
	if in.lastUnit, err = checkUnits(section); err != nil {
		return err
	}
	in.data, err = dwarf.New(section("abbrev"), nil, nil, section("info"), in.lines, nil, section("ranges"), section("str"))
	for _, name := range []string{"addr", "line_str", "rnglists", "str_offsets"} {
		if err == nil {
			err = in.data.AddSection(".debug_"+name, section(name))
		}
	}
	return err
}

// A Line is a line of a source file.
type Line struct {
	File string // relative to the directory of the build, if it is below that
	Line int    // from 1; 0: not known
}

// An Inlined is a function with a copy that covers an address.
type Inlined struct {
	Name string
	Call Line // where it is called
}

// A Place is what the source says of an address.
type Place struct {
	Line
	Stack []Inlined // outermost first; must not be changed
}

// Of is where one of the functions around the place is at: the one with the code for depth
// 0, else the one that is inlined at this depth. It is in the file of that function.
func (p Place) Of(depth int) Line {
	if depth < len(p.Stack) {
		return p.Stack[depth].Call
	}
	return p.Line
}

// A Function is the source of one function's code.
type Function struct {
	rows  []row
	tree  []*node // copies, not nested ones
	slide uint64
}

// A row of the line table is about [addr, end), or about nothing any more.
type row struct {
	addr, end uint64
	line      Line
	stmt      bool // the beginning of a statement (DWARF 5, 6.2.2: is_stmt)
}

// A node is an inlined copy and those inside it.
type node struct {
	Inlined
	ranges [][2]uint64
	inside []*node
}

// Function reads about the code at [addr, addr+size), addresses of the running kernel. Where
// the image says nothing of it, as for some assembler, its Places are empty.
func (in *Info) Function(addr, size uint64) (*Function, error) {
	f := &Function{slide: in.slide}
	if err := in.read(f, addr-in.slide, addr-in.slide+size); err != nil {
		return nil, fmt.Errorf("reading debug information at 0x%x: %w", addr, err)
	}
	return f, nil
}

// read reads about the code at the link-time addresses [lo, hi).
func (in *Info) read(f *Function, lo, hi uint64) (err error) {
	defer kernel.Recover(&err)
	u, err := in.unit(lo, hi)
	if err != nil || u == nil {
		return err
	}
	f.rows = u.between(lo, hi)
	f.tree, err = u.copies(in.data, lo, hi)
	return err
}

// relative is a path as Line has it.
func relative(file, dir string) string {
	if !path.IsAbs(file) {
		file = path.Join(dir, file)
	}
	return strings.TrimPrefix(path.Clean(file), path.Clean(dir)+"/")
}

// maxScopes bounds copies and blocks in one another, maxCopies those of one function, and maxRows the
// rows of one unit's line table. What is not damaged has far less of each.
const (
	maxScopes = 1 << 12
	maxCopies = 1 << 18
	maxRows   = 1 << 19
)

// copiesIn reads the copies among the children of the entry that r has just read, those in lexical
// blocks too, and those in copies.
func copiesIn(data *dwarf.Data, r *reader, files []string) (all []*node, err error) {
	stack := []*[]*node{&all} // where the copies go of each entry that the next one lies in
	for n := 0; len(stack) > 0; n++ {
		e, err := r.Next()
		if err != nil || e == nil {
			return all, err
		}
		if n > maxCopies || len(stack) > maxScopes {
			return nil, errTooMany
		}
		into := stack[len(stack)-1]
		switch {
		case e.Tag == 0:
			stack = stack[:len(stack)-1]
			continue
		case e.Tag == dwarf.TagInlinedSubroutine:
			n, err := inlined(data, e, files)
			if err != nil {
				return nil, err
			}
			*into = append(*into, n)
			into = &n.inside
		case e.Tag != dwarf.TagLexDwarfBlock:
			if err := skip(r, e); err != nil {
				return nil, err
			}
			continue
		}
		if e.Children {
			stack = append(stack, into)
		}
	}
	return all, nil
}

// inlined is the copy of an entry, without those inside it.
func inlined(data *dwarf.Data, e *dwarf.Entry, files []string) (*node, error) {
	n := &node{}
	var err error
	if n.ranges, err = data.Ranges(e); err != nil {
		return nil, err
	}
	if i, ok := e.Val(dwarf.AttrCallFile).(int64); ok && i >= 0 && i < int64(len(files)) {
		n.Call.File = files[i]
	}
	line, _ := e.Val(dwarf.AttrCallLine).(int64)
	n.Call.Line = int(line)
	n.Name, err = name(data, e)
	return n, err
}

// name follows abstract origins to where the name is.
func name(data *dwarf.Data, e *dwarf.Entry) (string, error) {
	for range 8 {
		if s, ok := e.Val(dwarf.AttrName).(string); ok {
			return s, nil
		}
		off, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if off, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				return "", nil
			}
		}
		r := data.Reader()
		r.Seek(off)
		var err error
		if e, err = r.Next(); err != nil || e == nil {
			return "", err
		}
	}
	return "", nil
}

// At is the place of an address of the running kernel.
func (f *Function) At(addr uint64) (p Place) {
	addr -= f.slide
	i, found := slices.BinarySearchFunc(f.rows, addr, func(r row, addr uint64) int { return cmp.Compare(r.addr, addr) })
	if found { // of several rows the last says where the instruction is from
		for i+1 < len(f.rows) && f.rows[i+1].addr == addr {
			i++
		}
	} else {
		i--
	}
	if i >= 0 {
		p.Line = f.rows[i].line
	}
	for at := f.tree; at != nil; {
		k := slices.IndexFunc(at, func(n *node) bool {
			return slices.ContainsFunc(n.ranges, func(r [2]uint64) bool { return r[0] <= addr && addr < r[1] })
		})
		if k < 0 {
			break
		}
		p.Stack = append(p.Stack, at[k].Inlined)
		at = at[k].inside
	}
	return p
}
