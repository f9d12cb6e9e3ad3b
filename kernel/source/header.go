package source

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
)

var errHeader = errors.New("the header of a line table claims more files than it has room for")

// maxFiles bounds the directories and the files of a unit.
const maxFiles = 1 << 16

// checkHeader looks at the header of a unit's line table (DWARF 5, 6.2.4). The standard library
// makes room for as many directories and files as one claims to have: a damaged one can claim more
// than there is memory. Other damage the library finds itself.
func (in *Info) checkHeader(unit *dwarf.Entry) error {
	off, ok := unit.Val(dwarf.AttrStmtList).(int64)
	if !ok || off < 0 || off >= int64(len(in.lines)) {
		return nil
	}
	h := header{data: in.lines[off:], offset: 4}
	if h.number(4) == 0xffffffff { // 64-bit DWARF: the length follows
		h.skip(8)
		h.offset = 8
	}
	if h.number(2) != 5 {
		return nil // lists without numbers
	}
	h.skip(2 + h.offset + 5) // sizes of addresses, header length, and all up to opcode_base
	h.skip(max(h.number(1), 1) - 1)
	for range 2 { // directories, files
		if !h.entries() {
			return errHeader
		}
	}
	return nil
}

// A header is what has not been read of one yet. Behind its end everything is 0.
type header struct {
	data   []byte
	offset uint64 // bytes of an offset into a section
}

func (h *header) skip(n uint64) { h.data = h.data[min(n, uint64(len(h.data))):] }

// number reads one of n bytes, at most 8.
func (h *header) number(n int) uint64 {
	var b [8]byte
	copy(b[:n], h.data)
	h.skip(uint64(n))
	return binary.LittleEndian.Uint64(b[:])
}

func (h *header) uleb() uint64 {
	v, n := binary.Uvarint(h.data)
	if n <= 0 {
		n, v = len(h.data), 0
	}
	h.skip(uint64(n))
	return v
}

// entries goes over the directories, or the files, if there is room for as many.
func (h *header) entries() bool {
	forms := make([]uint64, h.number(1))
	for i := range forms {
		h.uleb() // what it is
		forms[i] = h.uleb()
	}
	n := h.uleb()
	if n > uint64(len(h.data)) || n > maxFiles {
		return false
	}
	for range n {
		for _, form := range forms {
			h.value(form)
		}
	}
	return true
}

// value goes over one of a form (DWARF 5, 7.5.6). The library takes those that it does not know to
// have no bytes.
func (h *header) value(form uint64) {
	switch form {
	case 0x08: // DW_FORM_string
		for h.number(1) != 0 {
		}
	case 0x09: // DW_FORM_block
		h.skip(h.uleb())
	case 0x0f, 0x1a: // DW_FORM_udata, DW_FORM_strx
		h.uleb()
	case 0x0e, 0x1d, 0x1f: // DW_FORM_strp, DW_FORM_strp_sup, DW_FORM_line_strp
		h.skip(h.offset)
	default:
		h.skip(sizes[form])
	}
}

// sizes of the other forms: data1 to data16, strx1 to strx4.
var sizes = map[uint64]uint64{
	0x0b: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x1e: 16,
	0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4,
}
