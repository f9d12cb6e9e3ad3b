package source

import (
	"cmp"
	"debug/dwarf"
	"io"
	"slices"
)

// An extent is a piece of the code of a unit or function, by the place of its entry. The
// standard library's SeekPC reads every unit's entry for every address: a hundred times as
// long, where many are asked for.
type extent struct {
	lo, hi uint64
	entry  dwarf.Offset
}

// at is the entry of what has the code at lo, or else is the first to begin below hi: GCC has a
// function begin behind the instructions that it leaves room for (-fpatchable-function-entry), and
// its symbol before them.
func at(all []extent, lo, hi uint64) (entry dwarf.Offset, ok bool) {
	i, found := slices.BinarySearchFunc(all, lo, func(x extent, pc uint64) int { return cmp.Compare(x.lo, pc) })
	switch {
	case found:
	case i > 0 && lo < all[i-1].hi:
		i--
	case i == len(all) || hi <= all[i].lo:
		return 0, false
	}
	return all[i].entry, true
}

func sortExtents(all []extent) {
	slices.SortStableFunc(all, func(a, b extent) int { return cmp.Compare(a.lo, b.lo) })
}

// A unit is what is read of one, for all its functions.
type unit struct {
	entry dwarf.Offset
	rows  []row    // of its line table, by address
	files []string // by number
	funcs []extent // with children, by address
}

// unit reads the unit with the code at the link-time addresses [lo, hi), nil if none has it.
func (in *Info) unit(lo, hi uint64) (*unit, error) {
	if in.units == nil {
		if err := in.readUnits(); err != nil {
			return nil, err
		}
	}
	entry, ok := at(in.units, lo, hi)
	if !ok {
		return nil, nil
	}
	if in.last != nil && in.last.entry == entry {
		return in.last, nil
	}
	r := newReader(in.data)
	r.Seek(entry)
	e, err := r.Next()
	if err != nil || e == nil {
		return nil, err
	}
	u := &unit{entry: entry}
	if err := in.checkHeader(e); err != nil {
		return nil, err
	}
	if err := u.readLines(in.data, e); err != nil {
		return nil, err
	}
	if e.Children {
		if err := u.readFuncs(in.data, r); err != nil {
			return nil, err
		}
	}
	in.last = u
	return u, nil
}

// readLines reads the line table.
func (u *unit) readLines(data *dwarf.Data, e *dwarf.Entry) error {
	lines, err := data.LineReader(e)
	if err != nil || lines == nil {
		return err
	}
	dir, _ := e.Val(dwarf.AttrCompDir).(string)
	names := map[*dwarf.LineFile]string{}
	for _, file := range lines.Files() {
		name := ""
		if file != nil {
			name = relative(file.Name, dir)
			names[file] = name
		}
		u.files = append(u.files, name)
	}
	var now, last dwarf.LineEntry
	for {
		if err := lines.Next(&now); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if len(u.rows) >= maxRows {
			return errTooMany
		}
		if last.File != nil && !last.EndSequence {
			u.rows = append(u.rows, row{last.Address, now.Address, Line{names[last.File], last.Line}, last.IsStmt})
		}
		last = now
	}
	slices.SortStableFunc(u.rows, func(a, b row) int { return cmp.Compare(a.addr, b.addr) })
	return nil
}

// readFuncs finds the functions in which there may be copies. r stands behind the unit's
// entry.
func (u *unit) readFuncs(data *dwarf.Data, r *reader) error {
	for {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil || e.Tag == 0 || e.Tag == dwarf.TagCompileUnit {
			break
		}
		if e.Tag == dwarf.TagSubprogram && e.Children {
			ranges, err := data.Ranges(e)
			if err != nil {
				return err
			}
			for _, x := range ranges {
				u.funcs = append(u.funcs, extent{x[0], x[1], e.Offset})
			}
		}
		if err := skip(r, e); err != nil {
			return err
		}
	}
	sortExtents(u.funcs)
	return nil
}

// between are the rows about [lo, hi).
func (u *unit) between(lo, hi uint64) []row {
	index := func(addr uint64) int {
		i, _ := slices.BinarySearchFunc(u.rows, addr, func(r row, addr uint64) int { return cmp.Compare(r.addr, addr) })
		return i
	}
	i := index(lo)
	if i > 0 && u.rows[i-1].end > lo {
		i--
	}
	return u.rows[i:max(i, index(hi))]
}

// copies reads those in the function that has the code at [lo, hi).
func (u *unit) copies(data *dwarf.Data, lo, hi uint64) ([]*node, error) {
	entry, ok := at(u.funcs, lo, hi)
	if !ok {
		return nil, nil
	}
	r := newReader(data)
	r.Seek(entry)
	if _, err := r.Next(); err != nil {
		return nil, err
	}
	return copiesIn(data, r, u.files)
}

func (in *Info) readUnits() error {
	r := newReader(in.data)
	for {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil {
			break
		}
		if isUnit := e.Tag == dwarf.TagCompileUnit || e.Tag == dwarf.TagPartialUnit; isUnit && e.Offset < in.lastUnit {
			r.SkipChildren() // without a look at them
		} else if err := skip(r, e); err != nil {
			return err
		}
		if e.Tag != dwarf.TagCompileUnit {
			continue
		}
		ranges, err := in.data.Ranges(e)
		if err != nil {
			return err
		}
		for _, x := range ranges {
			if x[0] < x[1] {
				in.units = append(in.units, extent{x[0], x[1], e.Offset})
			}
		}
	}
	sortExtents(in.units)
	return nil
}
