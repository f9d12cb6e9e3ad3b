package source

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
)

// What the standard library takes for a unit and for a byte of a table of abbreviations, in bytes of
// memory, and what it may take beyond the size of the sections.
const (
	unitCost   = 256
	abbrevCost = 16
	spare      = 64 << 20
)

// maxText is more than twice the bytes of any string in what is not damaged. The library copies a
// string for each entry that has it.
const maxText = 1 << 14

// checkUnits looks at what the standard library does when it is given sections: it makes room for
// as many units as there are headers, and reads the table of abbreviations at each place that one
// names, whatever that costs. last is where the last header is.
func checkUnits(section func(name string) []byte) (last dwarf.Offset, err error) {
	info, abbrev := section("info"), section("abbrev")
	for _, name := range []string{"str", "line_str"} {
		if !hasEnds(section(name)) {
			return 0, errTooMany
		}
	}
	all := len(info)
	left := spare + len(info) + len(abbrev)
	tables := map[uint64]bool{}
	for le := binary.LittleEndian; len(info) >= 12 && left >= 0; {
		last = dwarf.Offset(all - len(info))
		left -= unitCost
		at := uint64(le.Uint32(info[6:]))
		if le.Uint16(info[4:]) >= 5 {
			at = uint64(le.Uint32(info[8:]))
		}
		if at < uint64(len(abbrev)) && !tables[at] {
			tables[at] = true
			left -= abbrevCost * tableLength(abbrev[at:])
		}
		size := 4 + uint64(le.Uint32(info))
		if size == 4+0xffffffff { // 64-bit DWARF
			size = 12 + le.Uint64(info[4:])
		}
		info = info[min(size, uint64(len(info))):]
	}
	if left < 0 {
		return 0, errTooMany
	}
	return last, nil
}

// hasEnds reports whether strings end: each piece of a section has an end of one.
func hasEnds(section []byte) bool {
	for ; len(section) >= maxText; section = section[maxText:] {
		if bytes.IndexByte(section[:maxText], 0) < 0 {
			return false
		}
	}
	return true
}

// tableLength is the bytes of a table of abbreviations (DWARF 5, 7.5.3).
func tableLength(abbrev []byte) int {
	const implicit = 0x21 // DW_FORM_implicit_const: its value follows
	h := header{data: abbrev}
	for h.uleb() != 0 {
		h.uleb()
		h.skip(1)
		for {
			name, form := h.uleb(), h.uleb()
			if form == implicit {
				h.uleb()
			}
			if name == 0 && form == 0 {
				break
			}
		}
	}
	return len(abbrev) - len(h.data)
}
