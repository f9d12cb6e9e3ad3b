package debuginfo

import (
	"bytes"
	"cmp"
	"slices"

	"trapline/kernel"
)

// dwarf reads .debug_info, DWARF 4 and 5, 32-bit format. It knows only what types need,
// and is made to walk over hundreds of megabytes in a second: the standard library's
// reader makes an object of every entry, and takes ten times as long.
type dwarf struct {
	info, abbrev, str, lineStr []byte
	units                      []unit
	tables                     map[uint64][]shape
	types                      dwarfTypes
	wide, split                bool // there are units that are not read, see unread
}

// A unit is one compilation unit.
type unit struct {
	start, first, end uint64 // in .debug_info: the header, the first entry, the end
	version           int
	addrSize          int
	abbrevs           uint64 // of its table
}

// A shape says what the entries of one abbreviation code consist of.
type shape struct {
	tag      uint64
	children bool
	attrs    []attr
}

type attr struct {
	name, form uint64
	value      int64 // of an implicit constant
}

// A die is an entry: the attributes that we look at.
type die struct {
	off, next uint64 // where it begins, and where the next one does
	sibling   uint64 // 0: not told
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
		str: section(".debug_str"), lineStr: section(".debug_line_str"),
		tables: make(map[uint64][]shape),
	}
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

// maxTables bounds the tables that are kept: units are mostly read one after another.
const maxTables = 64

// table is the abbreviations of a unit, by code.
func (d *dwarf) table(at uint64) []shape {
	if t, ok := d.tables[at]; ok {
		return t
	}
	t := shapes(d.abbrev, at)
	if len(d.tables) >= maxTables {
		clear(d.tables)
	}
	d.tables[at] = t
	return t
}

// shapes reads the table of abbreviations at a place of .debug_abbrev (DWARF 5, 7.5.3).
func shapes(abbrev []byte, at uint64) []shape {
	c := cursor{data: abbrev, off: at}
	var t []shape
	for !c.bad {
		code := c.uleb()
		if code == 0 || code > 1<<14 {
			break
		}
		s := shape{tag: c.uleb(), children: c.byte() != 0}
		for !c.bad {
			a := attr{name: c.uleb(), form: c.uleb()}
			if a.form == formImplicit {
				a.value = c.sleb()
			}
			if a.name == 0 && a.form == 0 {
				break
			}
			s.attrs = append(s.attrs, a)
		}
		for uint64(len(t)) <= code {
			t = append(t, shape{})
		}
		t[code] = s
	}
	return t
}

// read reads the entry at off of a unit. It is not ok where there is none.
func (d *dwarf) read(u *unit, table []shape, off uint64, e *die) bool {
	*e = die{off: off}
	c := cursor{data: d.info[:u.end], off: off}
	code := c.uleb()
	if code == 0 {
		e.next = c.off
		return !c.bad
	}
	if c.bad || code >= uint64(len(table)) || table[code].tag == 0 {
		return false
	}
	s := &table[code]
	e.tag, e.children = s.tag, s.children
	for i := range s.attrs {
		d.attr(u, &c, &s.attrs[i], e)
	}
	e.next = c.off
	return !c.bad
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
		e.at = c.number(u, a)
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
		s := c.rest()
		n := bytes.IndexByte(s, 0)
		if n < 0 {
			c.bad = true
			return nil
		}
		c.off += uint64(n) + 1
		return s[:n]
	case formStrp:
		from = d.str
	case formLineStrp:
		from = d.lineStr
	default:
		c.skip(u, form)
		return nil
	}
	at := uint64(c.fixed(4))
	if at >= uint64(len(from)) {
		return nil
	}
	s := from[at:]
	if n := bytes.IndexByte(s, 0); n >= 0 {
		s = s[:n]
	}
	return s
}

// after is where the entry behind e and its children begins, 0 if the unit is damaged.
func (d *dwarf) after(u *unit, table []shape, e *die) uint64 {
	if !e.children {
		return e.next
	}
	if e.sibling > e.off && e.sibling < u.end {
		return e.sibling
	}
	var in die
	depth := 1
	for off := e.next; ; off = in.next {
		if !d.read(u, table, off, &in) {
			return 0
		}
		switch {
		case in.tag == 0:
			depth--
		case in.children && in.sibling > in.off && in.sibling < u.end:
			in.next = in.sibling
		case in.children:
			depth++
		}
		if depth == 0 {
			return in.next
		}
	}
}

// children calls yield for each child of the entry e until it returns false.
func (d *dwarf) children(u *unit, e *die, yield func(*die) bool) {
	if !e.children {
		return
	}
	table := d.table(u.abbrevs)
	var in die
	for off := e.next; off != 0; off = d.after(u, table, &in) {
		if !d.read(u, table, off, &in) || in.tag == 0 || !yield(&in) {
			return
		}
	}
}

// top calls yield for each entry at the top of all units until it returns false.
func (d *dwarf) top(yield func(*unit, *die) bool) {
	for i := range d.units {
		u := &d.units[i]
		var root die
		if !d.read(u, d.table(u.abbrevs), u.first, &root) {
			continue
		}
		more := true
		d.children(u, &root, func(e *die) bool {
			more = yield(u, e)
			return more
		})
		if !more {
			return
		}
	}
}
