package debuginfo

// Kinds of entries of a range list (DWARF 5, 7.25).
const (
	rleEnd = iota
	rleBaseAddressx
	rleStartxEndx
	rleStartxLength
	rleOffsetPair
	rleBaseAddress
	rleStartEnd
	rleStartLength
)

// eachRange calls yield for the ranges that a DW_AT_ranges names, in their order, until it
// returns false.
func (d *sections) eachRange(u *unit, r *root, v value, yield func(Range) bool) {
	if u.version < 5 {
		d.pairs(u, r, v.raw, yield)
		return
	}
	at := v.raw
	if v.form == formRnglistx {
		c := cursor{data: d.rnglists, off: r.rnglists + 4*v.raw}
		at = r.rnglists + c.fixed(4)
	}
	d.list(u, r, at, yield)
}

// pairs reads a list of .debug_ranges (DWARF 4, 2.17.3).
func (d *sections) pairs(u *unit, r *root, at uint64, yield func(Range) bool) {
	c, base := cursor{data: d.ranges, off: at}, r.low
	highest := ^uint64(0) >> (64 - 8*u.addrSize)
	for {
		lo, hi := c.fixed(u.addrSize), c.fixed(u.addrSize)
		switch {
		case c.bad || lo == 0 && hi == 0:
			return
		case lo == highest:
			base = hi
		default:
			if !yield(Range{base + lo, base + hi}) {
				return
			}
		}
	}
}

// list reads a list of .debug_rnglists (DWARF 5, 2.17.3).
func (d *sections) list(u *unit, r *root, at uint64, yield func(Range) bool) {
	c, base := cursor{data: d.rnglists, off: at}, r.low
	for !c.bad {
		var x Range
		switch c.byte() {
		case rleBaseAddressx:
			base = d.indexedAddress(u, r, c.uleb())
			continue
		case rleBaseAddress:
			base = c.fixed(u.addrSize)
			continue
		case rleStartxEndx:
			x.Lo, x.Hi = d.indexedAddress(u, r, c.uleb()), d.indexedAddress(u, r, c.uleb())
		case rleStartxLength:
			x.Lo = d.indexedAddress(u, r, c.uleb())
			x.Hi = x.Lo + c.uleb()
		case rleOffsetPair:
			x.Lo, x.Hi = base+c.uleb(), base+c.uleb()
		case rleStartEnd:
			x.Lo, x.Hi = c.fixed(u.addrSize), c.fixed(u.addrSize)
		case rleStartLength:
			x.Lo = c.fixed(u.addrSize)
			x.Hi = x.Lo + c.uleb()
		default: // the end, or damage
			return
		}
		if !yield(x) {
			return
		}
	}
}
