package consume

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"trapline/kernel/ctypes"
	"trapline/probes/d/buffer"
)

// print shows a value as its type says: a structure member by member, an array element by
// element, a character as one.
func (t *Text) print(typ *ctypes.Type, v *Value) {
	var word [8]byte
	p := v.Bytes
	if v.Kind == buffer.Int {
		binary.LittleEndian.PutUint64(word[:], v.Int)
		p = word[:v.Size]
	}
	t.buf = append(append(t.buf, written(typ)...), ' ')
	if v.Kind == buffer.String {
		t.buf = appendQuoted(t.buf, p)
	} else {
		t.full = len(t.buf) + room(p)
		t.object(typ, p, 0)
	}
	if t.opts.Quiet || typ.IsScalar() || v.Kind == buffer.String {
		t.buf = append(t.buf, '\n')
	}
}

func appendQuoted(b, s []byte) []byte {
	b = append(b, '"')
	for _, c := range s {
		if c == 0 {
			break
		}
		b = appendEscaped(b, c)
	}
	return append(b, '"')
}

// maxDepth bounds the structures within structures that are shown.
const maxDepth = 32

// room is how many characters the value of p may take, more than types of a kernel need. Unions
// within unions have as many members as their type information says, in no more bytes.
func room(p []byte) int { return 1<<16 + 256*len(p) }

// object shows the bytes p as a value of the type, and what it does not show as a question mark.
func (t *Text) object(typ *ctypes.Type, p []byte, depth int) {
	b := typ.Base()
	switch {
	case len(p) < b.Size || depth > maxDepth || len(t.buf) > t.full:
		t.buf = append(t.buf, '?')
	case b.Kind == ctypes.Struct || b.Kind == ctypes.Union:
		t.members(b, p, depth)
	case b.Kind == ctypes.Array:
		t.elements(b, p, depth)
	case b.Kind == ctypes.String:
		t.buf = appendQuoted(t.buf, p)
	case b.Size > 0 && b.Size <= 8:
		var word [8]byte
		copy(word[:], p[:b.Size])
		t.scalar(b, binary.LittleEndian.Uint64(word[:]))
	default:
		t.buf = append(t.buf, '?')
	}
}

func (t *Text) members(typ *ctypes.Type, p []byte, depth int) {
	t.buf = append(t.buf, "{\n"...)
	for i := range typ.Fields {
		t.blanks(4 * (depth + 1))
		if len(t.buf) > t.full {
			t.buf = append(t.buf, "?\n"...)
			break
		}
		t.member(&typ.Fields[i], p, depth+1)
	}
	t.blanks(4 * depth)
	t.buf = append(t.buf, '}')
}

// written is a type as print writes it: of a structure or union without a tag the keyword alone.
func written(typ *ctypes.Type) string {
	switch {
	case typ.Name != "":
	case typ.Kind == ctypes.Struct:
		return "struct"
	case typ.Kind == ctypes.Union:
		return "union"
	}
	return typ.String()
}

// member shows a member of the structure p, on a line or more.
func (t *Text) member(f *ctypes.Field, p []byte, depth int) {
	name := written(f.Type)
	t.buf = append(t.buf, name...)
	if f.Name != "" {
		if !strings.HasSuffix(name, "*") {
			t.buf = append(t.buf, ' ')
		}
		t.buf = append(t.buf, f.Name...)
	}
	if f.Bits > 0 {
		t.buf = appendHex(fmt.Appendf(t.buf, " :%d = ", f.Bits), bitsOf(f, p))
	} else {
		t.buf = append(t.buf, " = "...)
		if size := f.Type.Bytes(); f.Offset+size <= len(p) {
			t.object(f.Type, p[f.Offset:f.Offset+size], depth)
		}
	}
	t.buf = append(t.buf, '\n')
}

// bitsOf returns the value of a bit-field whose bytes are p.
func bitsOf(f *ctypes.Field, p []byte) uint64 {
	var word [16]byte
	copy(word[:], p[min(f.Offset+f.BitOffset/8, len(p)):])
	v := binary.LittleEndian.Uint64(word[:]) >> (f.BitOffset % 8)
	if f.BitOffset%8 > 0 {
		v |= uint64(word[8]) << (64 - f.BitOffset%8)
	}
	unused := 64 - f.Bits
	return v << unused >> unused
}

// length is how many elements of the array p there are to show: none that have no size, or are not in p,
// whatever the type says.
func length(typ *ctypes.Type, p []byte) int {
	size := typ.Elem.Bytes()
	if size == 0 {
		return 0
	}
	return min(max(typ.Len, 0), len(p)/size)
}

// elements shows an array: of characters as text where it is, of structures each on lines of its own.
func (t *Text) elements(typ *ctypes.Type, p []byte, depth int) {
	elem := typ.Elem.Base()
	text := isChar(elem) && isText(p)
	if text && depth == 0 {
		t.buf = appendQuoted(t.buf, p)
		return
	}
	t.buf = append(t.buf, "[ "...)
	switch {
	case text:
		t.buf = append(appendQuoted(t.buf, p), ' ')
	case elem.Kind == ctypes.Struct || elem.Kind == ctypes.Union:
		t.structures(typ, p, depth+1)
	default:
		t.list(typ, p, depth)
	}
	t.buf = append(t.buf, ']')
}

// list shows the elements of an array on one line.
func (t *Text) list(typ *ctypes.Type, p []byte, depth int) {
	size := typ.Elem.Bytes()
	for i := range length(typ, p) {
		if i > 0 {
			t.buf = append(t.buf, ", "...)
		}
		t.object(typ.Elem, p[i*size:(i+1)*size], depth+1)
	}
	t.buf = append(t.buf, ' ')
}

// structures shows the elements of an array, with their type, below one another.
func (t *Text) structures(typ *ctypes.Type, p []byte, depth int) {
	size := typ.Elem.Bytes()
	for i := range length(typ, p) {
		if i > 0 {
			t.buf = append(t.buf, ", "...)
		}
		t.buf = append(t.buf, '\n')
		t.blanks(4 * depth)
		t.buf = append(append(t.buf, written(typ.Elem)...), ' ')
		t.object(typ.Elem, p[i*size:(i+1)*size], depth)
	}
	t.buf = append(t.buf, '\n')
	t.blanks(4 * (depth - 1))
}

// isText reports whether characters are printable up to the first NUL, or all of them. What begins with
// a NUL is text if there is nothing behind it.
func isText(p []byte) bool {
	text, rest, _ := bytes.Cut(p, []byte{0})
	for _, c := range text {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return len(text) > 0 || len(bytes.Trim(rest, "\x00")) == 0
}

// appendHex writes a number as C's %#x.
func appendHex(b []byte, v uint64) []byte {
	if v == 0 {
		return append(b, '0')
	}
	return fmt.Appendf(b, "%#x", v)
}

// isChar says that a type is char.
func isChar(b *ctypes.Type) bool { return b.Kind == ctypes.Int && b.Size == 1 && b.Signed }

// enumerator is the name of a value of an enumeration, "" if it has none.
func enumerator(b *ctypes.Type, v uint64) string {
	if b.Kind != ctypes.Enum {
		return ""
	}
	for _, e := range b.Enums {
		if uint32(e.Value) == uint32(v) {
			return e.Name
		}
	}
	return ""
}

func (t *Text) scalar(b *ctypes.Type, v uint64) {
	switch name := enumerator(b, v); {
	case name != "":
		t.buf = append(t.buf, name...)
	case isChar(b):
		t.buf = append(appendEscaped(append(t.buf, '\''), byte(v)), '\'')
	default:
		t.buf = appendHex(t.buf, v)
	}
}
