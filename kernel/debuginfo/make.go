package debuginfo

import (
	"strings"

	"trapline/kernel/ctypes"
)

// integer is a base type by the name that the compiler gives it: "long unsigned int".
func integer(name string, size int, signed bool) *ctypes.Type {
	if t, ok := ctypes.Integer(strings.Fields(name)); ok && t.Size == size {
		return t
	}
	switch size {
	case 1, 2, 4, 8:
		return &ctypes.Type{Kind: ctypes.Int, Name: name, Size: size, Signed: signed}
	}
	return opaque(size)
}

// opaque is something of which D knows only the size: a floating-point number, an integer
// of 128 bits.
func opaque(size int) *ctypes.Type { return ctypes.ArrayOf(ctypes.UnsignedCharType, size) }

// array is t[n]; a negative n is an unknown length. The size is not settled here, for that
// would complete t.
func array(t *ctypes.Type, n int) *ctypes.Type {
	if t.Kind == ctypes.Int || t.Kind == ctypes.Pointer {
		return ctypes.ArrayOf(t, n)
	}
	return ctypes.LazyArray(t, n)
}

// field is a member at a number of bits from the start; bits is the width of a bit-field.
// A bit-field lies in an integer of its type's size, aligned to that, or where it would
// cross its end, in one that begins at a byte.
func field(name string, t *ctypes.Type, at, bits int) ctypes.Field {
	f := ctypes.Field{Name: name, Type: t, Offset: at / 8, Bits: bits}
	if bits == 0 {
		return f
	}
	unit := 8 * max(t.Bytes(), 1)
	f.Offset, f.BitOffset = at/unit*unit/8, at%unit
	if f.BitOffset+bits > unit {
		f.Offset, f.BitOffset = at/8, at%8
		if f.BitOffset+bits > unit {
			f.Type = ctypes.UlongType
			if t.IsSigned() {
				f.Type = ctypes.LongType
			}
			f.Bits = min(bits, 64-f.BitOffset)
		}
	}
	return f
}
