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

// eachRange calls yield for the ranges that a DW_AT_ranges names, in their order.
func (d *sections) eachRange(u *unit, r *root, v value, yield func(Range)) {
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
func (d *sections) pairs(u *unit, r *root, at uint64, yield func(Range)) {
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
			yield(Range{base + lo, base + hi})
		}
	}
}

// list reads a list of .debug_rnglists (DWARF 5, 2.17.3).
func (d *sections) list(u *unit, r *root, at uint64, yield func(Range)) {
	c, base := cursor{data: d.rnglists, off: at}, r.low
	for !c.bad {
		switch c.byte() {
		case rleBaseAddressx:
			base = d.indexedAddress(u, r, c.uleb())
		case rleStartxEndx:
			lo, hi := d.indexedAddress(u, r, c.uleb()), d.indexedAddress(u, r, c.uleb())
			yield(Range{lo, hi})
		case rleStartxLength:
			lo := d.indexedAddress(u, r, c.uleb())
			yield(Range{lo, lo + c.uleb()})
		case rleOffsetPair:
			lo, hi := base+c.uleb(), base+c.uleb()
			yield(Range{lo, hi})
		case rleBaseAddress:
			base = c.fixed(u.addrSize)
		case rleStartEnd:
			lo, hi := c.fixed(u.addrSize), c.fixed(u.addrSize)
			yield(Range{lo, hi})
		case rleStartLength:
			lo := c.fixed(u.addrSize)
			yield(Range{lo, lo + c.uleb()})
		default: // the end, or damage
			return
		}
	}
}
