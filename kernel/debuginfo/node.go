package debuginfo

// A node is an entry with all its attributes, for the few that are looked at closely.
type node struct {
	unit     *localUnit
	off      uint64
	next     uint64 // of what follows it, its children if it has any
	tag      uint64
	children bool
	attrs    []attribute
}

// An attribute with its value: a number, or the bytes of a block.
type attribute struct {
	name  uint64
	value value
	block []byte
}

// A localUnit is a unit whose entries are read as nodes.
type localUnit struct {
	*unit
	root root
}

// Tags and attributes of variables and calls.
const (
	tagCallSite     = 0x48
	tagCallParam    = 0x49
	tagGNUCallSite  = 0x4109
	tagGNUCallParam = 0x410a
	atFrameBase     = 0x40
	atCallReturnPC  = 0x7d
	atCallValue     = 0x7e
	atCallOrigin    = 0x7f
	atCallParameter = 0x80
	atCallTarget    = 0x83
	atGNUCallValue  = 0x2111
	atGNUCallTarget = 0x2113
)

func (n *node) get(name uint64) *attribute {
	for i := range n.attrs {
		if n.attrs[i].name == name {
			return &n.attrs[i]
		}
	}
	return nil
}

// refers gives the entry that an attribute refers to, 0 if there is none.
func (n *node) refers(name uint64) uint64 {
	a := n.get(name)
	switch {
	case a == nil:
		return 0
	case a.value.form == formRefAddr:
		return a.value.raw
	}
	return n.unit.start + a.value.raw
}

// unitAt is the unit that an entry lies in, nil if it cannot be read.
func (l *Locals) unitAt(off uint64) *localUnit {
	u := l.d.unitOf(off)
	if u == nil {
		return nil
	}
	if lu := l.units[u.start]; lu != nil {
		return lu
	}
	lu := &localUnit{unit: u}
	var ok bool
	if lu.root, ok = l.s.root(u, l.d.table(u)); !ok {
		return nil
	}
	l.units[u.start] = lu
	return lu
}

// node reads an entry; it is not ok where there is none, or an end of children.
func (l *Locals) node(u *localUnit, off uint64) (n node, ok bool) {
	r := entriesAt(l.s.info, u.unit, l.d.table(u.unit), off, &l.steps)
	if !r.first() {
		return node{unit: u, off: off}, false
	}
	n = r.node(u)
	return n, !r.bad
}

// node is the entry at hand.
func (r *entries) node(u *localUnit) node {
	n := node{unit: u, off: r.off, tag: r.shape.tag, children: r.shape.children, attrs: r.attributes()}
	n.next = r.cursor.off
	return n
}

func (c *cursor) attribute(u *unit, a *attr) attribute {
	switch a.form {
	case formBlock, formExprloc:
		return attribute{name: a.name, value: value{form: a.form}, block: c.bytes(c.uleb())}
	case formBlock1, formBlock2, formBlock4:
		size := map[uint64]int{formBlock1: 1, formBlock2: 2, formBlock4: 4}[a.form]
		return attribute{name: a.name, value: value{form: a.form}, block: c.bytes(c.fixed(size))}
	case formData16:
		return attribute{name: a.name, value: value{form: a.form}, block: c.bytes(16)}
	case formRefUdata:
		return attribute{name: a.name, value: value{a.form, c.uleb()}}
	case formString:
		return attribute{name: a.name, value: value{form: a.form}, block: c.text()}
	}
	return attribute{name: a.name, value: c.value(u, a)}
}

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.data)) || c.off > uint64(len(c.data))-n {
		c.bad = true
		return nil
	}
	c.off += n
	return c.data[c.off-n : c.off]
}

// below calls yield for the children of an entry, until it returns false.
func (l *Locals) below(n *node, yield func(*node) bool) {
	if !n.children {
		return
	}
	for r := entriesBelow(l.s.info, n.unit.unit, l.d.table(n.unit.unit), n.next, &l.steps); r.next(); {
		child := r.node(n.unit)
		if r.bad || !yield(&child) {
			return
		}
		r.skip(child.sibling())
	}
}

// sibling is the entry behind all that is below one, 0 if it is not known.
func (n *node) sibling() uint64 {
	if n.get(atSibling) == nil {
		return 0
	}
	return n.refers(atSibling)
}

// text is an attribute that is a string.
func (l *Locals) text(n *node, name uint64) string {
	a := n.get(name)
	if a == nil {
		return ""
	}
	return string(l.s.textOf(&n.unit.root, a))
}

// completed gives the attribute of an entry, or of one that it refers to as its origin.
func (l *Locals) completed(n *node, name uint64) (*node, *attribute) {
	for range maxOrigins {
		if a := n.get(name); a != nil {
			return n, a
		}
		at := n.refers(atOrigin)
		if at == 0 {
			at = n.refers(atSpec)
		}
		u := l.unitAt(at)
		if at == 0 || u == nil {
			return n, nil
		}
		origin, ok := l.node(u, at)
		if !ok {
			return n, nil
		}
		n = &origin
	}
	return n, nil
}

// contains reports whether the code of an entry has an address in it.
func (l *Locals) contains(n *node, pc uint64) bool {
	return len(l.places(n, func(r Range) bool { return r.Contains(pc) })) > 0
}

// places are the ranges of an entry that pass a test.
func (l *Locals) places(n *node, test func(Range) bool) (found []Range) {
	u := n.unit
	add := func(r Range) bool {
		if test(r) {
			found = append(found, r)
		}
		l.steps--
		return l.steps >= 0
	}
	if a := n.get(atRanges); a != nil {
		l.s.eachRange(u.unit, &u.root, a.value, add)
		return found
	}
	low, high := n.get(atLowPC), n.get(atHighPC)
	if low == nil || high == nil {
		return nil
	}
	lo, _ := l.s.address(u.unit, &u.root, low.value)
	hi, ok := l.s.address(u.unit, &u.root, high.value)
	if !ok {
		hi = lo + high.value.raw
	}
	add(Range{lo, hi})
	return found
}
