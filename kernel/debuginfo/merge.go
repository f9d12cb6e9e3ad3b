package debuginfo

import (
	"cmp"
	"slices"
)

// A merger joins what scans have found into tables.
type merger struct {
	units   []unit
	found   []scanned
	t       tables
	names   []string         // of functions, in the order in which they were met
	nameIDs map[string]int32 // indices in names
	defs    []mergedDef
	copies  []mergedCopy
	places  map[string]uint32 // of strings in t.texts
}

// A mergedDef is a definition and its names.
type mergedDef struct {
	definition
	unit, fn int32
	file     string
	line     uint32
}

// A mergedCopy is a copy; def and parent are indices in the merger's slices.
type mergedCopy struct {
	inlined
	unit, fn int32
	part     bool
}

// merge joins results of scans, one for each unit.
func merge(units []unit, found []scanned) tables {
	m := &merger{
		units: units, found: found, t: newTables(),
		nameIDs: make(map[string]int32), places: make(map[string]uint32),
	}
	m.text("")
	for i := range found {
		m.take(int32(i))
	}
	m.write()
	return m.t
}

// take names what one unit has. A function that cannot be named is left out, and with it
// what was inlined into it; so is a copy of a function that is not there, as which the
// copies in it hang on to what it was in.
func (m *merger) take(unit int32) {
	s := &m.found[unit]
	for i := range s.funcs {
		if name := s.funcs[i].name; name != nil {
			m.name(name)
		}
	}
	newDef := make([]int32, len(s.defs))
	for i, d := range s.defs {
		newDef[i] = none
		if fn, decl, ok := m.resolve(d.die); ok {
			newDef[i] = int32(len(m.defs))
			m.defs = append(m.defs, mergedDef{d, unit, fn, decl.file, decl.line})
		}
	}
	newCopy := make([]int32, len(s.copies))
	for i, c := range s.copies {
		if c.parent != none {
			c.parent = newCopy[c.parent]
		}
		newCopy[i] = c.parent
		fn, decl, ok := m.resolve(c.origin)
		if !ok || c.def == none || newDef[c.def] == none {
			continue
		}
		c.def, newCopy[i] = newDef[c.def], int32(len(m.copies))
		part := fn == m.around(c) && c.callLine == decl.line && c.callFile == decl.file
		m.copies = append(m.copies, mergedCopy{c, unit, fn, part})
	}
}

// around is the function that a copy has been inlined into, which may be a copy itself.
func (m *merger) around(c inlined) int32 {
	if c.parent != none {
		return m.copies[c.parent].fn
	}
	return m.defs[c.def].fn
}

// maxOrigins bounds chains of entries that complete each other.
const maxOrigins = 8

// resolve finds the name and the declaration of the function of an entry, which may be
// another's, in another unit.
func (m *merger) resolve(die uint64) (fn int32, decl function, ok bool) {
	for range maxOrigins {
		f := m.function(die)
		if f == nil {
			return 0, decl, false
		}
		if decl.line == 0 {
			decl.file, decl.line = f.file, f.line
		}
		if f.name != nil {
			return m.name(f.name), decl, true
		}
		die = f.origin
	}
	return 0, decl, false
}

// function is the one whose entry is at a place, nil if there is none.
func (m *merger) function(die uint64) *function {
	u, ok := slices.BinarySearchFunc(m.units, die, func(u unit, die uint64) int { return cmp.Compare(u.start, die) })
	if !ok {
		u--
	}
	if u < 0 || u >= len(m.found) {
		return nil
	}
	funcs := m.found[u].funcs
	i, ok := slices.BinarySearchFunc(funcs, die, func(f function, die uint64) int { return cmp.Compare(f.die, die) })
	if !ok {
		return nil
	}
	return &funcs[i]
}

func (m *merger) name(name []byte) int32 {
	id, ok := m.nameIDs[string(name)]
	if !ok {
		id = int32(len(m.names))
		m.names = append(m.names, string(name))
		m.nameIDs[m.names[id]] = id
	}
	return id
}

// text is the place of a string in t.texts, to which it is added if it is new.
func (m *merger) text(s string) uint32 {
	at, ok := m.places[s]
	if !ok {
		at = uint32(len(m.t.texts))
		m.places[s] = at
		m.t.texts = append(append(m.t.texts, s...), 0)
	}
	return at
}

// write orders everything and writes the tables.
func (m *merger) write() {
	byName := m.sortNames()
	defs, copies := m.sortDefs(), m.sortCopies()
	m.writeFuncs(byName, defs, copies)
	m.writeDefs(defs, copies)
	m.writeCopies(defs, copies)
	m.writeSpans(defs)
}

// sortNames numbers functions by name, and gives the names so.
func (m *merger) sortNames() []string {
	byName := slices.Sorted(slices.Values(m.names))
	rank := make([]int32, len(m.names))
	for i, name := range byName {
		rank[m.nameIDs[name]] = int32(i)
	}
	for i := range m.defs {
		m.defs[i].fn = rank[m.defs[i].fn]
	}
	for i := range m.copies {
		m.copies[i].fn = rank[m.copies[i].fn]
	}
	return byName
}

func (m *merger) sortDefs() []int32 {
	return order(len(m.defs), func(a, b int32) int {
		x, y := &m.defs[a], &m.defs[b]
		return cmp.Or(cmp.Compare(x.fn, y.fn), cmp.Compare(x.entry, y.entry), cmp.Compare(x.die, y.die))
	})
}

func (m *merger) sortCopies() []int32 {
	return order(len(m.copies), func(a, b int32) int {
		x, y := &m.copies[a], &m.copies[b]
		return cmp.Or(cmp.Compare(x.fn, y.fn), cmp.Compare(x.entry, y.entry), cmp.Compare(x.die, y.die))
	})
}

// order is the numbers below n as compare puts them.
func order(n int, compare func(a, b int32) int) []int32 {
	o := make([]int32, n)
	for i := range o {
		o[i] = int32(i)
	}
	slices.SortFunc(o, compare)
	return o
}

// rows says which row each of what was ordered has got.
func rows(order []int32) []uint32 {
	r := make([]uint32, len(order))
	for row, i := range order {
		r[i] = uint32(row)
	}
	return r
}

// writeFuncs writes a row for each name, and the sentinel.
func (m *merger) writeFuncs(byName []string, defs, copies []int32) {
	d, c := 0, 0
	for i := range len(byName) + 1 {
		for d < len(defs) && m.defs[defs[d]].fn < int32(i) {
			d++
		}
		for c < len(copies) && m.copies[copies[c]].fn < int32(i) {
			c++
		}
		name := uint32(0)
		if i < len(byName) {
			name = m.text(byName[i])
		}
		m.t.funcs.add(name, uint32(d), uint32(c))
	}
}

// writeDefs writes the definitions, and which copies are in them.
func (m *merger) writeDefs(defs, copies []int32) {
	row := rows(copies)
	inside := make([][]uint32, len(m.defs))
	for i := range m.copies {
		d := m.copies[i].def
		inside[d] = append(inside[d], row[i])
	}
	for _, i := range defs {
		d := &m.defs[i]
		m.t.defs.addAddress(d.entry)
		m.t.defs.add(uint32(d.die), uint32(d.fn), m.text(d.file), d.line, m.addRanges(d.unit, d.place), uint32(m.t.inside.rows()))
		m.t.inside.add(inside[i]...)
	}
	m.t.defs.add(0, 0, 0, 0, 0, 0, uint32(m.t.ranges.rows()), uint32(m.t.inside.rows()))
}

func (m *merger) writeCopies(defs, copies []int32) {
	def, row := rows(defs), rows(copies)
	for _, i := range copies {
		c := &m.copies[i]
		parent := uint32(0)
		if c.parent != none {
			parent = row[c.parent] + 1
		}
		part := uint32(0)
		if c.part {
			part = 1
		}
		m.t.copies.addAddress(c.entry)
		m.t.copies.add(uint32(c.die), uint32(c.fn), m.text(c.callFile), c.callLine, m.addRanges(c.unit, c.place), def[c.def], parent, part)
	}
	m.t.copies.add(0, 0, 0, 0, 0, 0, uint32(m.t.ranges.rows()), 0, 0, 0)
}

// addRanges writes the ranges of a place and gives the row of the first.
func (m *merger) addRanges(unit int32, p place) uint32 {
	first := uint32(m.t.ranges.rows())
	for _, r := range m.found[unit].ranges[p.first : p.first+p.count] {
		m.t.ranges.addAddress(r.Lo)
		m.t.ranges.addAddress(r.Hi)
	}
	return first
}

// writeSpans writes all pieces of definitions by address.
func (m *merger) writeSpans(defs []int32) {
	type span struct {
		Range
		def uint32
	}
	var all []span
	for row, i := range defs {
		d := &m.defs[i]
		for _, r := range m.found[d.unit].ranges[d.first : d.first+d.count] {
			all = append(all, span{r, uint32(row)})
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.def, b.def)) })
	for _, s := range all {
		m.t.spans.addAddress(s.Lo)
		m.t.spans.addAddress(s.Hi)
		m.t.spans.add(s.def)
	}
}
