package debuginfo

import (
	"bytes"

	"trapline/kernel"
)

// A Range is code from Lo up to but not including Hi, at link-time addresses.
type Range struct{ Lo, Hi uint64 }

// Contains reports whether addr is in the range.
func (r Range) Contains(addr uint64) bool { return r.Lo <= addr && addr < r.Hi }

// sections are those of an image that functions are read from. Nothing in them changes,
// so several goroutines may use them.
type sections struct {
	info, abbrev, str, lineStr, line []byte
	strOffsets, addr                 []byte
	ranges, rnglists                 []byte
	code                             []Range // of the image
	budget                           *budget
}

// newSections gives the sections of an image. A relocatable one has not been relocated.
func newSections(img *kernel.Image) *sections {
	section := func(name string) []byte {
		data, _, _ := img.Section(name)
		return data
	}
	d := &sections{
		info: section(".debug_info"), abbrev: section(".debug_abbrev"),
		str: section(".debug_str"), lineStr: section(".debug_line_str"), line: section(".debug_line"),
		strOffsets: section(".debug_str_offsets"), addr: section(".debug_addr"),
		ranges: section(".debug_ranges"), rnglists: section(".debug_rnglists"),
	}
	d.budget = newBudget(img.Size(), d.info, d.abbrev, d.str, d.lineStr, d.line, d.strOffsets, d.addr, d.ranges, d.rnglists)
	for _, s := range img.CodeSections() {
		d.code = append(d.code, Range{s.Vaddr, s.Vaddr + s.Memsz})
	}
	return d
}

// isCode reports whether a range is not empty and lies in the image's text. What the
// linker has dropped is described at addresses near 0.
func (d *sections) isCode(r Range) bool {
	if r.Lo >= r.Hi {
		return false
	}
	for _, c := range d.code {
		if c.Contains(r.Lo) {
			return r.Hi <= c.Hi
		}
	}
	return false
}

// A root is what the first entry of a unit says for all of them.
type root struct {
	low                         uint64
	lines                       uint64 // the unit's program in .debug_line
	hasLines                    bool
	compDir                     []byte
	language                    uint64
	strOffsets, addrs, rnglists uint64 // bases
	loclists                    uint64
	split                       bool // the rest of the unit is in a file of its own
}

// root reads the first entry of a unit. Bases may come behind what needs them.
func (d *sections) root(u *unit, table []shape) (r root, ok bool) {
	steps := 1
	e := entriesAt(d.info, u, table, u.first, &steps)
	if !e.first() {
		return r, false
	}
	var compDir *attribute
	var low value
	all := e.attributes()
	for i := range all {
		switch a := &all[i]; a.name {
		case atLowPC:
			low = a.value
		case atStmtList:
			r.lines, r.hasLines = a.value.raw, true
		case atCompDir:
			compDir = a
		case atLanguage:
			r.language = a.value.raw
		case atStrOffsets:
			r.strOffsets = a.value.raw
		case atAddrBase:
			r.addrs = a.value.raw
		case atRnglists:
			r.rnglists = a.value.raw
		case atLoclists:
			r.loclists = a.value.raw
		case atDwoName, atGNUDwoName:
			r.split = true
		}
	}
	if compDir != nil {
		r.compDir = d.textOf(&r, compDir)
	}
	r.low, _ = d.address(u, &r, low)
	return r, !e.bad
}

// inTypes reports whether the language has functions inside types.
func (r *root) inTypes() bool {
	switch r.language {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x8001: // C of several years, and assembler
		return false
	}
	return true
}

// value reads an attribute as it stands there.
func (c *cursor) value(u *unit, a *attr) value {
	switch n, fixed := fixedSize(a.form, u.addrSize); {
	case a.form == formImplicit:
		return value{a.form, uint64(a.value)}
	case a.form == formPresent:
		return value{a.form, 1}
	case a.form == formSdata:
		return value{a.form, uint64(c.sleb())}
	case a.form == formUdata, a.form == formStrx, a.form == formAddrx, a.form == formLoclistx, a.form == formRnglistx:
		return value{a.form, c.uleb()}
	case fixed && n <= 8:
		return value{a.form, c.fixed(n)}
	}
	c.skip(u, a.form)
	return value{}
}

// address is the value of an attribute of class address; it is not ok for others.
func (d *sections) address(u *unit, r *root, v value) (addr uint64, ok bool) {
	switch {
	case v.form == formAddr:
		return v.raw, true
	case v.form == formAddrx, v.form >= formAddrx1 && v.form <= formAddrx4:
		return d.indexedAddress(u, r, v.raw), true
	}
	return 0, false
}

func (d *sections) indexedAddress(u *unit, r *root, i uint64) uint64 {
	c := cursor{data: d.addr, off: r.addrs + i*uint64(u.addrSize)}
	return c.fixed(u.addrSize)
}

// text reads an attribute that is a string.
func (d *sections) text(c *cursor, u *unit, r *root, form uint64) []byte {
	if form != formString {
		return d.stringAt(r, c.value(u, &attr{form: form}))
	}
	return c.text()
}

// textOf is an attribute that is a string.
func (d *sections) textOf(r *root, a *attribute) []byte {
	if a.value.form == formString {
		return a.block
	}
	return d.stringAt(r, a.value)
}

// stringAt is a string that lies in another section.
func (d *sections) stringAt(r *root, v value) []byte {
	switch {
	case v.form == formStrp:
		return stringIn(d.str, v.raw)
	case v.form == formLineStrp:
		return stringIn(d.lineStr, v.raw)
	case v.form == formStrx, v.form >= formStrx1 && v.form <= formStrx4:
		c := cursor{data: d.strOffsets, off: r.strOffsets + 4*v.raw}
		return stringIn(d.str, c.fixed(4))
	}
	return nil
}

// maxText is more than the bytes of any name or path in what is not damaged. One that is longer is
// none: many names may begin in one long string, which must not be read for each.
const maxText = 1 << 12

// stringIn is the string that begins at a place of a section.
func stringIn(section []byte, at uint64) []byte {
	if at >= uint64(len(section)) {
		return nil
	}
	s := section[at:min(at+maxText, uint64(len(section)))]
	if n := bytes.IndexByte(s, 0); n >= 0 {
		return s[:n]
	}
	if len(s) == maxText {
		return nil
	}
	return s
}

// text reads a string in place; damage if it has no end.
func (c *cursor) text() []byte {
	n := bytes.IndexByte(c.rest(), 0)
	if n < 0 {
		c.bad = true
		return nil
	}
	s := c.rest()[:n]
	if c.off += uint64(n) + 1; n >= maxText {
		return nil
	}
	return s
}
