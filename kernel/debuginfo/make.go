package debuginfo

import (
	"strings"

	"trapline/kernel/ctypes"
)

// integer returns the base type that a compiler calls name, such as "long unsigned int".
func integer(name string, size int, signed bool) *ctypes.Type {
	if t, ok := ctypes.Arithmetic(strings.Fields(name)); ok && t.Size == size {
		return t
	}
	switch size {
	case 1, 2, 4, 8:
		return &ctypes.Type{Kind: ctypes.Int, Name: name, Size: size, Signed: signed}
	}
	return opaque(size)
}

// opaque returns a type of size bytes that D cannot compute with: a floating-point number, an integer
// of 128 bits.
func opaque(size int) *ctypes.Type { return ctypes.ArrayOf(ctypes.UnsignedCharType, size) }

// array returns t[n]. A negative n means an unknown length. The size stays open, because computing it
// would complete t.
func array(t *ctypes.Type, n int) *ctypes.Type {
	if t.Kind == ctypes.Int || t.Kind == ctypes.Pointer {
		return ctypes.ArrayOf(t, n)
	}
	return ctypes.LazyArray(t, n)
}

// enumSize returns the size of an enumeration, 0 if no integer has that size.
func enumSize(n int) int {
	switch n {
	case 1, 2, 4, 8:
		return n
	}
	return 0
}

// bitUnit returns the width in bits of the integer type of a bit-field, 0 if t is not an integer. It
// completes no structure.
func bitUnit(t *ctypes.Type) int {
	for t.Kind == ctypes.Typedef {
		t = t.Elem
	}
	if t.Kind != ctypes.Int && t.Kind != ctypes.Enum {
		return 0
	}
	return 8 * t.Bytes()
}

// field returns the member that begins at bits from the start of its structure; bits is the width of a
// bit-field, 0 for other members. A bit-field lies in an aligned integer of its type's size, or, if it
// would cross the end of that, in one that begins at any byte. Even with wrong debug information a
// member begins within the structure, and a bit-field lies within its integer.
func field(name string, t *ctypes.Type, at, bits int) ctypes.Field {
	at = min(max(at, 0), 8*ctypes.MaxBytes)
	f := ctypes.Field{Name: name, Type: t, Offset: at / 8, Bits: min(max(bits, 0), 64)}
	if f.Bits == 0 {
		return f
	}
	unit := bitUnit(t)
	if unit > 0 {
		f.Offset, f.BitOffset = at/unit*unit/8, at%unit
	}
	if f.BitOffset+f.Bits > unit {
		f.Offset, f.BitOffset = at/8, at%8
		if f.BitOffset+f.Bits > unit {
			f.Type = ctypes.UlongType
			if unit > 0 && t.IsSigned() {
				f.Type = ctypes.LongType
			}
			f.Bits = min(f.Bits, 64-f.BitOffset)
		}
	}
	return f
}
