package debuginfo

// entries goes over the entries of one unit in the order of the file: each entry before those
// below it (DWARF 5, 2.3). It is what all readers of entries have in common. They differ in what
// they take of the entry at hand: a die for types, an entry for functions and copies, a node for
// variables; or they go over it.
//
//	for r.next() {
//		take the attributes: r.die(&e), r.attributes() or r.over(); then, if need be
//		r.skip(sibling) // to what follows the entry and all below it
//	}
//
// However entries lie in one another, it is a loop, and each turn gets on by a byte at least. It
// ends where the entries do, at damage, below maxScopes levels, and after as many steps as it
// was given.
type entries struct {
	cursor // at the attributes of the entry at hand, then behind them
	unit   *unit
	table  []shape
	off    uint64 // of the entry at hand
	shape  *shape // what it consists of; nil of an end of children
	level  int    // of the entry at hand: how many it lies in of those read
	depth  int    // of what comes next
	steps  *int   // that are left
}

const (
	maxScopes = 1 << 12 // of entries in entries, in what is not damaged
	maxSteps  = 1 << 20 // that one question about variables takes, likewise
)

// entriesAt begins at an entry, at level 0.
func entriesAt(info []byte, u *unit, table []shape, off uint64, steps *int) entries {
	return entries{cursor: cursor{data: info[:u.end], off: off}, unit: u, table: table, steps: steps}
}

// entriesBelow begins behind an entry with children, at level 1, and ends with them.
func entriesBelow(info []byte, u *unit, table []shape, next uint64, steps *int) entries {
	r := entriesAt(info, u, table, next, steps)
	r.depth = 1
	return r
}

// step gets to the next entry, or end of children, whose depth it leaves. It is false at damage.
func (r *entries) step() bool {
	r.off = r.cursor.off
	code := uint64(0x80)
	if r.off < uint64(len(r.data)) {
		code = uint64(r.data[r.off])
	}
	if r.cursor.off++; code >= 0x80 { // most have one byte
		r.cursor.off--
		code = r.uleb()
	}
	*r.steps--
	switch {
	case r.bad || *r.steps < 0 || code >= uint64(len(r.table)) || r.depth >= maxScopes:
		r.bad, r.shape = true, nil
		return false
	case code == 0:
		r.depth--
		r.shape = nil
		return true
	}
	r.shape, r.level = &r.table[code], r.depth
	if r.shape.children {
		r.depth++
	}
	if r.shape.tag == 0 {
		r.bad, r.shape = true, nil
	}
	return !r.bad
}

// first gets to the entry that r begins at. It is false if there is none.
func (r *entries) first() bool { return r.step() && r.shape != nil }

// next gets to the next entry. It is false where those end that r began at.
func (r *entries) next() bool {
	for !r.bad && r.cursor.off < uint64(len(r.data)) && r.step() {
		if r.shape != nil {
			return true
		}
		if r.depth <= 0 {
			return false
		}
	}
	return false
}

// skip goes over all that is below the entry at hand, whose attributes have been read: to its
// sibling, if the entry names it, or entry by entry.
func (r *entries) skip(sibling uint64) {
	if r.shape == nil || !r.shape.children || r.jump(sibling) {
		return
	}
	for level := r.level; r.depth > level && r.step(); {
		if r.shape != nil {
			r.jump(r.over())
		}
	}
}

// jump goes to the sibling of the entry at hand, if it has children and names it.
func (r *entries) jump(sibling uint64) bool {
	if !r.shape.children || sibling <= r.cursor.off || sibling >= r.unit.end {
		return false
	}
	r.cursor.off, r.depth = sibling, r.level
	return true
}

// over goes over the attributes of the entry at hand and returns its sibling, 0 if it names none.
func (r *entries) over() (sibling uint64) {
	for i := range r.shape.steps {
		s := &r.shape.steps[i]
		r.cursor.off += uint64(s.bytes)
		switch {
		case s.sibling:
			sibling = r.reference(r.unit, uint64(s.form))
		case s.form != 0:
			r.cursor.skip(r.unit, uint64(s.form))
		}
	}
	return sibling
}

// attributes reads all attributes of the entry at hand.
func (r *entries) attributes() []attribute {
	all := make([]attribute, 0, len(r.shape.attrs))
	for i := range r.shape.attrs {
		all = append(all, r.attribute(r.unit, &r.shape.attrs[i]))
	}
	return all
}
