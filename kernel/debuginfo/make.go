package debuginfo

import (
	"strings"

	"trapline/kernel/ctypes"
)

// integer is a base type by the name that the compiler gives it: "long unsigned int".
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

// opaque is a type with nothing but a size in D: a floating-point number, an integer
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

// enumSize is the size of an enumeration, 0 for one that no integer has.
func enumSize(n int) int {
	switch n {
	case 1, 2, 4, 8:
		return n
	}
	return 0
}

// bitUnit is the bits of the integer type of a bit-field, 0 for one that is not an integer. Structures
// are not completed for it.
func bitUnit(t *ctypes.Type) int {
	for t.Kind == ctypes.Typedef {
		t = t.Elem
	}
	if t.Kind != ctypes.Int && t.Kind != ctypes.Enum {
		return 0
	}
	return 8 * t.Bytes()
}

// field is a member at a number of bits from the start; bits is the width of a bit-field.
// A bit-field lies in an integer of its type's size, aligned to that, or where it would
// cross its end, in one that begins at a byte. Whatever the debug information says, a member
// is not before the start, nor a bit-field outside its integer.
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
