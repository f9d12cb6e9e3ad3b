package debuginfo

import (
	"bytes"

	"trapline/kernel"
)

// A Range is code from Lo up to but not including Hi, at link-time addresses.
type Range struct{ Lo, Hi uint64 }

// Contains tells whether addr is in the range.
func (r Range) Contains(addr uint64) bool { return r.Lo <= addr && addr < r.Hi }

// sections are those of an image that functions are read from. Nothing in them changes,
// so several goroutines may use them.
type sections struct {
	info, abbrev, str, lineStr, line []byte
	strOffsets, addr                 []byte
	ranges, rnglists                 []byte
	code                             []Range // of the image
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
	for _, s := range img.CodeSections() {
		d.code = append(d.code, Range{s.Vaddr, s.Vaddr + s.Memsz})
	}
	return d
}

// isCode tells whether a range is not empty and lies in the image's text. What the
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
	c := cursor{data: d.info[:u.end], off: u.first}
	code := c.uleb()
	if c.bad || code == 0 || code >= uint64(len(table)) {
		return r, false
	}
	var compDir, low value
	for i := range table[code].attrs {
		a := &table[code].attrs[i]
		switch a.name {
		case atLowPC:
			low = c.value(u, a)
		case atStmtList:
			r.lines, r.hasLines = c.value(u, a).raw, true
		case atCompDir:
			if a.form == formString {
				r.compDir = d.text(&c, u, &r, a.form)
				continue
			}
			compDir = c.value(u, a)
		case atLanguage:
			r.language = uint64(c.number(u, a))
		case atStrOffsets:
			r.strOffsets = c.value(u, a).raw
		case atAddrBase:
			r.addrs = c.value(u, a).raw
		case atRnglists:
			r.rnglists = c.value(u, a).raw
		case atLoclists:
			r.loclists = c.value(u, a).raw
		case atDwoName, atGNUDwoName:
			r.split = true
			c.skip(u, a.form)
		default:
			c.skip(u, a.form)
		}
	}
	if compDir.form != 0 {
		r.compDir = d.stringAt(&r, compDir)
	}
	r.low, _ = d.address(u, &r, low)
	return r, !c.bad
}

// inTypes tells whether the language has functions inside types.
func (r *root) inTypes() bool {
	switch r.language {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x8001: // C of several years, and assembler
		return false
	}
	return true
}

// value reads an attribute as it stands there.
func (c *cursor) value(u *unit, a *attr) value {
	switch n, fixed := fixedSize(a.form, u); {
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
	s := zeroTerminated(c.rest())
	c.off += uint64(len(s)) + 1
	return s
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

func stringIn(section []byte, at uint64) []byte {
	if at >= uint64(len(section)) {
		return nil
	}
	return zeroTerminated(section[at:])
}

func zeroTerminated(s []byte) []byte {
	if n := bytes.IndexByte(s, 0); n >= 0 {
		return s[:n]
	}
	return s
}
