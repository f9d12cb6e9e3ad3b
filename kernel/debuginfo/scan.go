package debuginfo

import "math"

// A scan walks over one unit and notes its functions and the inlined copies in them. It
// looks at nothing outside the unit but strings and ranges, so units are scanned in
// parallel.
type scan struct {
	d     *sections
	u     *unit
	root  root
	files fileNames
	out   scanned
	stack []scope // of the entries that the one at hand lies in, by level
	purse purse
}

// scanned is what a scan has found, by order of entries.
type scanned struct {
	funcs  []function
	defs   []definition
	copies []inlined
	ranges []Range
}

// A function is an entry of one, with or without code: it gives others its name.
type function struct {
	die    uint64
	origin uint64 // the entry that has what is missing here, 0: none
	name   []byte
	file   string // of the declaration
	line   uint32
}

// place is the code of a function or copy, in scanned.ranges.
type place struct {
	entry        uint64 // 0: not known
	first, count int32
}

// A definition is a function with code.
type definition struct {
	place
	die uint64
}

// An inlined copy.
type inlined struct {
	place
	die, origin uint64
	def, parent int32 // in scanned.defs and scanned.copies; -1: none
	callFile    string
	callLine    uint32
}

// A scope is what the entries at one depth lie in.
type scope struct{ def, copy int32 }

// entry is what a scan reads of a function or copy.
type entry struct {
	origin            uint64
	name              []byte
	declFile          uint64
	declLine          uint32
	callFile          uint64
	callLine          uint32
	low, high, ranges value
	entry             value
}

// A value is an attribute as it stands in the entry. Its form is 0 if there is none.
type value struct {
	form uint64
	raw  uint64
}

// Attributes of code.
const (
	atStmtList   = 0x10
	atLowPC      = 0x11
	atHighPC     = 0x12
	atLanguage   = 0x13
	atCompDir    = 0x1b
	atOrigin     = 0x31
	atDeclFile   = 0x3a
	atDeclLine   = 0x3b
	atEntryPC    = 0x52
	atRanges     = 0x55
	atCallFile   = 0x58
	atCallLine   = 0x59
	atStrOffsets = 0x72
	atAddrBase   = 0x73
	atRnglists   = 0x74
	atDwoName    = 0x76
	atLoclists   = 0x8c
	atGNUDwoName = 0x2130
)

const none = -1 // no definition, no copy

// run scans the unit. What follows damage is left out.
func (s *scan) run(table []shape) scanned {
	steps, inTypes := math.MaxInt, s.root.inTypes()
	s.stack = append(s.stack[:0], scope{none, none})
	for r := entriesAt(s.d.info, s.u, table, s.u.first, &steps); r.next(); {
		in := s.stack[r.level]
		switch todo := r.shape.todo; {
		case todo == takeIn:
			in = s.look(&r, in)
		case todo == passInto || inTypes:
			r.over()
		default:
			if r.jump(r.over()) {
				continue
			}
		}
		if r.shape.children {
			s.stack = append(s.stack[:r.level+1], in)
		}
	}
	s.purse.settle()
	return s.out
}

// look reads a function or a copy, and gives the scope of what is below it.
func (s *scan) look(r *entries, in scope) scope {
	var e entry
	for i := range r.shape.attrs {
		s.attr(&r.cursor, &r.shape.attrs[i], &e)
	}
	if r.bad {
		return in
	}
	if r.shape.tag == tagInlined {
		r.bad = !s.purse.spend(copyCost)
		s.out.copies = append(s.out.copies, inlined{
			place: s.place(&e), die: r.off, origin: e.origin, def: in.def, parent: in.copy,
			callFile: s.files.path(e.callFile), callLine: e.callLine,
		})
		return scope{in.def, int32(len(s.out.copies) - 1)}
	}
	r.bad = !s.purse.spend(functionCost + len(e.name))
	s.out.funcs = append(s.out.funcs, function{r.off, e.origin, e.name, s.files.path(e.declFile), e.declLine})
	if pl := s.place(&e); pl.count > 0 && s.purse.spend(defCost) {
		s.out.defs = append(s.out.defs, definition{pl, r.off})
		return scope{int32(len(s.out.defs) - 1), none}
	}
	return scope{none, none}
}

func (s *scan) attr(c *cursor, a *attr, e *entry) {
	switch a.name {
	case atName:
		e.name = s.d.text(c, s.u, &s.root, a.form)
	case atOrigin, atSpec:
		e.origin = c.reference(s.u, a.form)
	case atDeclFile:
		e.declFile = uint64(c.number(s.u, a))
	case atDeclLine:
		e.declLine = uint32(c.number(s.u, a))
	case atCallFile:
		e.callFile = uint64(c.number(s.u, a))
	case atCallLine:
		e.callLine = uint32(c.number(s.u, a))
	case atLowPC:
		e.low = c.value(s.u, a)
	case atHighPC:
		e.high = c.value(s.u, a)
	case atRanges:
		e.ranges = c.value(s.u, a)
	case atEntryPC:
		e.entry = c.value(s.u, a)
	default:
		c.skip(s.u, a.form)
	}
}

// place works out where the code of an entry is (DWARF 5, 2.17 and 2.18). Empty ranges,
// and those of functions that the linker has dropped, are left out.
func (s *scan) place(e *entry) place {
	pl := place{first: int32(len(s.out.ranges))}
	low, base := s.d.address(s.u, &s.root, e.low)
	add := func(r Range) bool {
		if !base {
			low, base = r.Lo, true
		}
		if s.d.isCode(r) {
			s.out.ranges = append(s.out.ranges, r)
		}
		return s.purse.spend(rangeCost)
	}
	switch {
	case e.ranges.form != 0:
		s.d.eachRange(s.u, &s.root, e.ranges, add)
	case e.low.form != 0 && e.high.form != 0:
		high, ok := s.d.address(s.u, &s.root, e.high)
		if !ok {
			high = low + e.high.raw
		}
		add(Range{low, high})
	}
	pl.count = int32(len(s.out.ranges)) - pl.first
	pl.entry = s.entry(e, low, s.out.ranges[pl.first:])
	return pl
}

// entry is where a function or copy is entered: where DW_AT_entry_pc says, else at its
// lowest or first address.
func (s *scan) entry(e *entry, base uint64, ranges []Range) uint64 {
	if e.entry.form != 0 {
		at, ok := s.d.address(s.u, &s.root, e.entry)
		if !ok {
			at = base + e.entry.raw
		}
		if s.d.isCode(Range{at, at + 1}) {
			return at
		}
	}
	if len(ranges) > 0 {
		return ranges[0].Lo
	}
	return 0
}
