// Package ctypes holds C types as D sees them, in the LP64 data model of the guests: a
// Type is a tree that is made once and then only read. It knows nothing of where types
// come from (the D program, DWARF, BTF) and imports nothing of trapline.
package ctypes

// Kind is the shape of a type.
type Kind uint8

// Kinds of type.
const (
	Void Kind = iota
	Int
	Pointer
	Array
	Struct
	Union
	Enum
	Typedef
	Func
	Float  // a floating-point number, which has a size and a place but takes no part in arithmetic
	String // D's string: bytes up to a NUL
	Dyn    // what only an action or a key takes: a stack, the symbol at an address
)

// A Type is a C type. Types are compared with Same, not with ==.
type Type struct {
	Kind   Kind
	height uint16 // types that lie in one another, structures aside; at most maxHeight
	Name   string // "unsigned long", a typedef's name, the tag of a structure; may be empty
	Size   int    // bytes; 0 for void, functions and incomplete types
	Signed bool   // of an integer or enumeration
	Elem   *Type  // what is pointed to, an array's element, a typedef's target, a function's result
	Len    int    // elements of an array, -1 if unknown
	Fields []Field
	Enums  []Enumerator
	Params []*Type // of a function; nil if it has no prototype

	Variadic bool // of a function: , ...

	complete func(*Type) // fills in the rest of a Lazy type
}

// A Field is a member of a structure or union.
type Field struct {
	Name      string // "" for an anonymous structure or union
	Type      *Type
	Offset    int // bytes from the start
	BitOffset int // bits from there, in a bit-field
	Bits      int // width of a bit-field, 0 if it is none
}

// An Enumerator is one constant of an enumeration.
type Enumerator struct {
	Name  string
	Value int64
}

// PtrSize is the bytes of a pointer.
const PtrSize = 8

// MaxBytes is the largest size of a type, and the greatest length of an array: larger ones, which
// only damaged type information has, saturate. Eight times as many bits, or a million such values,
// still fit into an int.
const MaxBytes = 1 << 40

// maxHeight bounds the pointers, arrays, functions and typedefs in one another, of which a D program
// may have some thousands. A deeper type is void at the bottom, so whoever walks down a type, however it came about, needs no bound.
const maxHeight = 1 << 13

// over returns t, and the height of a type that is made of it. Of one that is too high already it
// returns void.
func over(t *Type) (elem *Type, height uint16) {
	if t.height >= maxHeight {
		t = VoidType
	}
	return t, t.height + 1
}

// PointerTo is the type T *.
func PointerTo(t *Type) *Type {
	t, height := over(t)
	return &Type{Kind: Pointer, height: height, Size: PtrSize, Elem: t}
}

// ArrayOf is the type T[n]; n is negative if the length is unknown. Size and length saturate at
// MaxBytes.
func ArrayOf(t *Type, n int) *Type {
	t, height := over(t)
	n = min(max(n, -1), MaxBytes)
	return &Type{Kind: Array, height: height, Size: times(n, t.Bytes()), Elem: t, Len: n}
}

// times is the size of n elements of size bytes each.
func times(n, size int) int {
	switch {
	case n <= 0 || size <= 0:
		return 0
	case n > MaxBytes/size:
		return MaxBytes
	}
	return n * size
}

// StringOf is D's string in at most size bytes with its NUL.
func StringOf(size int) *Type {
	return &Type{Kind: String, Name: "string", Size: size}
}

// Incomplete is a structure, union or enumeration with only its tag known.
func Incomplete(k Kind, tag string) *Type {
	return &Type{Kind: k, Name: tag}
}

// Base is t with its typedefs taken off, and complete as far as that is possible.
func (t *Type) Base() *Type {
	for t.Kind == Typedef {
		t = t.Elem
	}
	if f := t.complete; f != nil {
		t.complete = nil
		f(t)
		t.Size = min(max(t.Size, 0), MaxBytes)
	}
	return t
}

// IsInt reports whether t is an integer or enumeration.
func (t *Type) IsInt() bool { k := t.Base().Kind; return k == Int || k == Enum }

// IsFloat reports whether t is a floating-point type.
func (t *Type) IsFloat() bool { return t.Base().Kind == Float }

// IsPointer reports whether t is a pointer.
func (t *Type) IsPointer() bool { return t.Base().Kind == Pointer }

// IsScalar reports whether t is an integer, enumeration or pointer.
func (t *Type) IsScalar() bool { return t.IsInt() || t.IsPointer() }

// IsString reports whether t is D's string.
func (t *Type) IsString() bool { return t.Base().Kind == String }

// IsStruct reports whether t is a structure or union.
func (t *Type) IsStruct() bool { k := t.Base().Kind; return k == Struct || k == Union }

// IsSigned reports whether values of t have a sign.
func (t *Type) IsSigned() bool { return t.Base().Signed }

// Bytes is the size of a value of t.
func (t *Type) Bytes() int { return t.Base().Size }

// maxVisits bounds the types that Same and String look at in one type: functions whose parameters
// are functions, and so on, can have very many.
const maxVisits = maxHeight

// Same reports whether two types are the same behind their typedefs. Types of more than maxVisits
// parts are not.
func Same(a, b *Type) bool {
	left := maxVisits
	return same(a, b, &left)
}

func same(a, b *Type, left *int) bool {
	a, b = a.Base(), b.Base()
	if a == b {
		return true
	}
	if *left--; a.Kind != b.Kind || *left < 0 {
		return false
	}
	switch a.Kind {
	case Pointer:
		return same(a.Elem, b.Elem, left)
	case Array:
		return a.Len == b.Len && same(a.Elem, b.Elem, left)
	case Int, Float:
		return a.Size == b.Size && a.Signed == b.Signed
	case Void, String:
		return true
	case Func:
		return sameFunc(a, b, left)
	}
	return a.Name == b.Name && a.Name != ""
}

func sameFunc(a, b *Type, left *int) bool {
	if !same(a.Elem, b.Elem, left) {
		return false
	}
	if a.Params == nil || b.Params == nil {
		return true
	}
	if len(a.Params) != len(b.Params) || a.Variadic != b.Variadic {
		return false
	}
	for i := range a.Params {
		if !same(a.Params[i], b.Params[i], left) {
			return false
		}
	}
	return true
}
