// Package ctypes holds C types as D sees them, in the LP64 data model of the guests: a
// Type is a tree that is made once and then only read. It knows nothing of where types
// come from (the D program, DWARF, BTF) and imports nothing of trapline.
package ctypes

import (
	"fmt"
	"strings"
)

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
	String // D's string: bytes up to a NUL
	Dyn    // what only an action or a key takes: a stack, the symbol at an address
)

// A Type is a C type. Types are compared with Same, not with ==.
type Type struct {
	Kind   Kind
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

// PointerTo is the type T *.
func PointerTo(t *Type) *Type {
	return &Type{Kind: Pointer, Size: PtrSize, Elem: t}
}

// ArrayOf is the type T[n]; n is -1 if the length is unknown.
func ArrayOf(t *Type, n int) *Type {
	return &Type{Kind: Array, Size: max(n, 0) * t.Bytes(), Elem: t, Len: n}
}

// StringOf is D's string in at most size bytes with its NUL.
func StringOf(size int) *Type {
	return &Type{Kind: String, Name: "string", Size: size}
}

// Incomplete is a structure, union or enumeration of which only the tag is known.
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
	}
	return t
}

// IsInt reports whether t is an integer or enumeration.
func (t *Type) IsInt() bool { k := t.Base().Kind; return k == Int || k == Enum }

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

// Same reports whether two types are the same behind their typedefs.
func Same(a, b *Type) bool {
	a, b = a.Base(), b.Base()
	if a == b {
		return true
	}
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Pointer:
		return Same(a.Elem, b.Elem)
	case Array:
		return a.Len == b.Len && Same(a.Elem, b.Elem)
	case Int:
		return a.Size == b.Size && a.Signed == b.Signed
	case Void, String:
		return true
	case Func:
		return sameFunc(a, b)
	}
	return a.Name == b.Name && a.Name != ""
}

func sameFunc(a, b *Type) bool {
	if !Same(a.Elem, b.Elem) || a.Params == nil || b.Params == nil {
		return Same(a.Elem, b.Elem)
	}
	if len(a.Params) != len(b.Params) || a.Variadic != b.Variadic {
		return false
	}
	for i := range a.Params {
		if !Same(a.Params[i], b.Params[i]) {
			return false
		}
	}
	return true
}

// String is the type as C writes it without a name: "int", "struct task_struct *",
// "char [16]".
func (t *Type) String() string {
	switch t.Kind {
	case Void:
		return "void"
	case Struct, Union, Enum:
		return t.tagged()
	case Pointer, Array, Func:
		return t.derived("")
	}
	return t.Name
}

func (t *Type) tagged() string {
	word := map[Kind]string{Struct: "struct", Union: "union", Enum: "enum"}[t.Kind]
	if t.Name == "" {
		return word + " {...}"
	}
	return word + " " + t.Name
}

func (t *Type) params() string {
	var s []string
	for _, p := range t.Params {
		s = append(s, p.String())
	}
	switch {
	case t.Variadic:
		s = append(s, "...")
	case len(s) == 0 && t.Params != nil:
		return "void"
	}
	return strings.Join(s, ", ")
}

// derived writes pointers, arrays and functions around a declarator.
func (t *Type) derived(inner string) string {
	switch t.Kind {
	case Pointer:
		inner = "*" + inner
		if k := t.Elem.Kind; k == Array || k == Func {
			inner = "(" + inner + ")"
		}
		return t.Elem.derived(inner)
	case Array:
		n := ""
		if t.Len >= 0 {
			n = fmt.Sprint(t.Len)
		}
		return t.Elem.derived(inner + "[" + n + "]")
	case Func:
		return t.Elem.derived(inner + "(" + t.params() + ")")
	}
	return t.String() + " " + inner
}
