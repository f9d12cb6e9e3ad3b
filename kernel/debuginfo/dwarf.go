package debuginfo

import (
	"cmp"
	"math"
	"slices"

	"trapline/kernel"
)

// dwarf reads .debug_info, DWARF 4 and 5, 32-bit format. It knows only what types need,
// and is made to walk over hundreds of megabytes in a second: the standard library's
// reader makes an object of every entry, and takes ten times as long.
type dwarf struct {
	info, abbrev, str, lineStr []byte
	strOffsets                 []byte
	units                      []unit
	types                      dwarfTypes
	wide, split                bool // there are units that are not read, see unread
	budget                     *budget
	steps                      int // over entries that are left, for all types

	tables       map[tableKey][]shape
	last         []shape // of lastKey, nil if none
	lastKey      tableKey
	kept, parsed uint64 // bytes of .debug_abbrev that the tables are of, and all that were
}

// A unit is one compilation unit.
type unit struct {
	start, first, end uint64 // in .debug_info: the header, the first entry, the end
	version           int
	addrSize          int
	abbrevs           uint64 // of its table
	strings           uint64 // where its part of .debug_str_offsets begins; 0: not looked for yet
}

// A die is an entry: the attributes that we look at.
type die struct {
	off, next uint64 // where it begins, and where the next one does
	sibling   uint64 // 0: not known
	tag       uint64 // 0 ends a list of children
	children  bool
	name      []byte
	typ       uint64 // of another entry, 0: none
	spec      uint64 // the declaration that this one defines
	size      int64
	at        int64 // of a member, in bytes
	bitAt     int64 // of a bit-field, in bits
	bits      int64
	oldBitAt  int64 // DW_AT_bit_offset of DWARF 4, from the big end
	hasOldBit bool
	count     int64 // of a subrange; upper bound + 1
	hasCount  bool
	encoding  int64
	value     int64 // of a constant
	decl      bool
	external  bool
	located   bool
}

// Tags.
const (
	tagArray       = 0x01
	tagEnum        = 0x04
	tagParam       = 0x05
	tagMember      = 0x0d
	tagPointer     = 0x0f
	tagStruct      = 0x13
	tagSubroutine  = 0x15
	tagTypedef     = 0x16
	tagUnion       = 0x17
	tagUnspecified = 0x18
	tagSubrange    = 0x21
	tagBase        = 0x24
	tagConst       = 0x26
	tagEnumerator  = 0x28
	tagSubprogram  = 0x2e
	tagVariable    = 0x34
	tagVolatile    = 0x35
	tagRestrict    = 0x37
	tagAtomic      = 0x47
)

func newDWARF(img *kernel.Image, image *Types) *dwarf {
	section := func(name string) []byte {
		data, _, _ := img.Section(name)
		return data
	}
	return openDWARF(section, image)
}

func openDWARF(section func(name string) []byte, image *Types) *dwarf {
	d := &dwarf{
		info: section(".debug_info"), abbrev: section(".debug_abbrev"),
		str: section(".debug_str"), lineStr: section(".debug_line_str"), strOffsets: section(".debug_str_offsets"),
		tables: make(map[tableKey][]shape),
	}
	file := 0
	if image.img != nil {
		file = image.img.Size()
	}
	d.budget = newBudget(file, d.info, d.abbrev, d.str, d.lineStr)
	d.steps = int(d.budget.all)
	d.types.init(d, image)
	d.readUnits()
	return d
}

// Kinds of units of DWARF 5 (7.5.1). Those of split files have nothing for us.
const (
	unitCompile  = 1
	unitPartial  = 3
	unitSkeleton = 4
)

// readUnits finds the units. What follows a damaged header is left out, and units of 64-bit
// DWARF are (7.4).
func (d *dwarf) readUnits() {
	const wide = 0xffffffff
	for off := uint64(0); off+12 <= uint64(len(d.info)); {
		n := uint64(le.Uint32(d.info[off:]))
		if n == wide {
			d.wide = true
			n = le.Uint64(d.info[off+4:])
			if off += 12; n > uint64(len(d.info))-off {
				return
			}
			off += n
			continue
		}
		u := unit{start: off, end: off + 4 + n, version: int(le.Uint16(d.info[off+4:]))}
		if n < 7 || n >= 0xfffffff0 || u.end > uint64(len(d.info)) {
			return
		}
		switch u.version {
		case 2, 3, 4:
			u.abbrevs, u.addrSize, u.first = uint64(le.Uint32(d.info[off+6:])), int(d.info[off+10]), off+11
		case 5:
			d.split = d.split || d.info[off+6] == unitSkeleton
			if n < 8 || d.info[off+6] != unitCompile && d.info[off+6] != unitPartial {
				off = u.end
				continue
			}
			u.addrSize, u.abbrevs, u.first = int(d.info[off+7]), uint64(le.Uint32(d.info[off+8:])), off+12
		default:
			return
		}
		if u.addrSize != 4 && u.addrSize != 8 {
			return
		}
		if !d.budget.spend(unitCost) {
			return
		}
		d.units = append(d.units, u)
		off = u.end
	}
}

// unitOf is the unit that an entry lies in.
func (d *dwarf) unitOf(off uint64) *unit {
	i, ok := slices.BinarySearchFunc(d.units, off, func(u unit, off uint64) int { return cmp.Compare(u.start, off) })
	if !ok {
		i--
	}
	if i < 0 || off < d.units[i].first || off >= d.units[i].end {
		return nil
	}
	return &d.units[i]
}

// Bounds of the tables that are kept: units are mostly read one after another.
const (
	maxTables     = 64
	maxTableBytes = 1 << 20 // of .debug_abbrev
)

type tableKey struct {
	at       uint64
	addrSize int
}

// table is the abbreviations of a unit, by code.
func (d *dwarf) table(u *unit) []shape {
	key := tableKey{u.abbrevs, u.addrSize}
	if d.last != nil && d.lastKey == key {
		return d.last
	}
	t, ok := d.tables[key]
	if !ok {
		var size uint64
		t, size = shapes(d.abbrev, u.abbrevs, u.addrSize)
		if d.kept += size; len(d.tables) >= maxTables || d.kept > maxTableBytes {
			clear(d.tables)
			d.kept = size
		}
		d.tables[key] = t
		d.parsed += size
	}
	d.last, d.lastKey = t, key
	return t
}

// read reads the entry at off of a unit. It is not ok where there is none.
func (d *dwarf) read(u *unit, off uint64, e *die) bool {
	r := entriesAt(d.info, u, d.table(u), off, &d.steps)
	return r.first() && d.die(&r, e)
}

// die reads what a die has of the entry at hand.
func (d *dwarf) die(r *entries, e *die) bool {
	*e = die{off: r.off, tag: r.shape.tag, children: r.shape.children}
	for i := range r.shape.attrs {
		d.attr(r.unit, &r.cursor, &r.shape.attrs[i], e)
	}
	e.next = r.cursor.off
	return !r.bad
}

// Attributes.
const (
	atSibling   = 0x01
	atLocation  = 0x02
	atName      = 0x03
	atByteSize  = 0x0b
	atBitOffset = 0x0c
	atBitSize   = 0x0d
	atConst     = 0x1c
	atUpper     = 0x2f
	atCount     = 0x37
	atMemberLoc = 0x38
	atDecl      = 0x3c
	atEncoding  = 0x3e
	atExternal  = 0x3f
	atSpec      = 0x47
	atType      = 0x49
	atDataBit   = 0x6b
)

func (d *dwarf) attr(u *unit, c *cursor, a *attr, e *die) {
	switch a.name {
	case atName:
		e.name = d.string(c, a.form, u)
	case atType:
		e.typ = c.reference(u, a.form)
	case atSpec:
		e.spec = c.reference(u, a.form)
	case atSibling:
		e.sibling = c.reference(u, a.form)
	case atByteSize:
		e.size = c.number(u, a)
	case atBitSize:
		e.bits = c.number(u, a)
	case atDataBit:
		e.bitAt = c.number(u, a)
	case atBitOffset:
		e.oldBitAt, e.hasOldBit = c.number(u, a), true
	case atMemberLoc:
		e.at = c.offset(u, a)
	case atUpper:
		// A bound that is not a constant, of a variable-length array, says nothing.
		if a.form != formExprloc && a.form != formRef4 {
			e.count, e.hasCount = c.number(u, a)+1, true
			return
		}
		c.skip(u, a.form)
	case atCount:
		e.count, e.hasCount = c.number(u, a), true
	case atEncoding:
		e.encoding = c.number(u, a)
	case atConst:
		e.value = c.number(u, a)
	case atDecl:
		e.decl = c.number(u, a) != 0
	case atExternal:
		e.external = c.number(u, a) != 0
	case atLocation:
		e.located = true
		c.skip(u, a.form)
	default:
		c.skip(u, a.form)
	}
}

func (d *dwarf) string(c *cursor, form uint64, u *unit) []byte {
	var from []byte
	switch form {
	case formString:
		return c.text()
	case formStrp:
		from = d.str
	case formLineStrp:
		from = d.lineStr
	case formStrx, formStrx1, formStrx1 + 1, formStrx1 + 2, formStrx4:
		return d.indexed(u, c.value(u, &attr{form: form}).raw)
	default:
		c.skip(u, form)
		return nil
	}
	return stringIn(from, c.fixed(4))
}

// indexed is string i of a unit (DWARF 5, 7.26).
func (d *dwarf) indexed(u *unit, i uint64) []byte {
	if u.strings == 0 {
		u.strings = d.findStrings(u)
	}
	if i >= uint64(len(d.strOffsets)) {
		return nil
	}
	c := cursor{data: d.strOffsets, off: u.strings + 4*i}
	at := c.fixed(4)
	if c.bad {
		return nil
	}
	return stringIn(d.str, at)
}

// findStrings is where the unit's first entry says that its offsets of strings begin, behind the header
// of the section if it does not say.
func (d *dwarf) findStrings(u *unit) uint64 {
	const header = 8
	r := entriesAt(d.info, u, d.table(u), u.first, &d.steps)
	if !r.first() {
		return header
	}
	for i := range r.shape.attrs {
		a := &r.shape.attrs[i]
		if a.name == atStrOffsets {
			return r.cursor.value(u, a).raw
		}
		r.cursor.skip(u, a.form)
	}
	return header
}

// children calls yield for each child of the entry e until it returns false.
func (d *dwarf) children(u *unit, e *die, yield func(*die) bool) {
	if e.children {
		d.below(u, e, &d.steps, yield)
	}
}

func (d *dwarf) below(u *unit, e *die, steps *int, yield func(*die) bool) {
	var in die
	for r := entriesBelow(d.info, u, d.table(u), e.next, steps); r.next(); r.skip(in.sibling) {
		if !d.die(&r, &in) || !yield(&in) {
			return
		}
	}
}

// top calls yield for each entry at the top of all units until it returns false. It ends early
// where units share tables of abbreviations so that it reads more of them than there is.
func (d *dwarf) top(yield func(*unit, *die) bool) {
	steps, parsed := math.MaxInt, d.parsed
	for i := range d.units {
		u := &d.units[i]
		r, root := entriesAt(d.info, u, d.table(u), u.first, &steps), die{}
		if !r.first() || !d.die(&r, &root) || !root.children {
			continue
		}
		more := d.parsed-parsed <= uint64(len(d.abbrev))+spare
		d.below(u, &root, &steps, func(e *die) bool {
			more = more && yield(u, e)
			return more
		})
		if !more {
			return
		}
	}
}
