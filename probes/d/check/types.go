package check

import (
	"math"

	"trapline/kernel/ctypes"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// typeName is the type that is written in a cast, in sizeof or as a key.
func (c *checker) typeName(t *syntax.TypeName) *ctypes.Type {
	base := c.spec(t.Spec)
	typ, keys := c.declarator(base, t.Decl)
	if keys != nil {
		c.fail(t.Decl, DeclArrsub, "associative array may not be used as a type")
	}
	return typ
}

// spec is the type that the words of a declaration stand for.
func (c *checker) spec(s *syntax.Spec) *ctypes.Type {
	switch first := s.Words[0]; {
	case first == "struct" || first == "union" || first == "enum":
		if len(s.Words) > 2 {
			c.fail(s, syntax.DeclCombo, "invalid type combination")
		}
		return c.tagged(s)
	case len(s.Words) == 1 && first == "void":
		return ctypes.VoidType
	case len(s.Words) == 1 && first == "string":
		return c.str
	case len(s.Words) == 1:
		if t, ok := c.namedType(first); ok {
			return t
		}
	}
	return c.integer(s)
}

var tagKinds = map[string]ctypes.Kind{"struct": ctypes.Struct, "union": ctypes.Union, "enum": ctypes.Enum}

// declarator derives from base what is written around a name. Keys are those of an
// associative array, whose type is that of the elements.
func (c *checker) declarator(base *ctypes.Type, d *syntax.Declarator) (t *ctypes.Type, keys []*ctypes.Type) {
	t = base
	for i := len(d.Parts) - 1; i >= 0; i-- {
		switch part := d.Parts[i]; part.Kind {
		case syntax.Pointer:
			t = ctypes.PointerTo(t)
		case syntax.Array:
			t = c.array(d, t, part.Len)
		case syntax.Function:
			t = c.function(part)
		case syntax.Assoc:
			if i > 0 {
				c.fail(d, DeclArrsub, "associative array may not be part of another type")
			}
			keys = c.prototype("array", part.Keys, noVoid)
		}
	}
	return t, keys
}

func (c *checker) array(d *syntax.Declarator, elem *ctypes.Type, length syntax.Expr) *ctypes.Type {
	if length == nil {
		return ctypes.ArrayOf(elem, -1)
	}
	t := c.value(length)
	n := length.Info()
	if !n.Const || !t.IsInt() || int64(n.Value) < 0 {
		c.fail(length, DeclArrsub, "positive integral constant expression expected as array dimension")
	}
	if n.Value > math.MaxInt32 {
		c.fail(length, DeclArrbig, "array dimension too big")
	}
	return ctypes.ArrayOf(elem, int(n.Value))
}

// CodeType is what run time needs to know of t.
func CodeType(t *ctypes.Type) code.Type {
	ct := code.Type{Kind: code.Bytes, Size: t.Bytes(), Name: t.String()}
	switch base := t.Base(); base.Kind {
	case ctypes.Int, ctypes.Enum:
		ct.Kind, ct.Signed = code.Int, base.Signed
	case ctypes.Pointer:
		ct.Kind = code.Int
	case ctypes.String:
		ct.Kind = code.String
	case ctypes.Void:
		ct.Kind = code.Void
	case ctypes.Dyn:
		return dynamicType(base)
	}
	return ct
}

// Narrow is v converted to the integer type t: its low bytes, extended to 64 bits. It is
// what OpSext and OpZext do.
func Narrow(t *ctypes.Type, v uint64) uint64 {
	shift := 64 - 8*min(t.Bytes(), 8)
	if t.IsSigned() {
		return uint64(int64(v<<shift) >> shift)
	}
	return v << shift >> shift
}

// promote is the type that an integer has in arithmetic (C, 6.3.1.1).
func promote(t *ctypes.Type) *ctypes.Type {
	if t.Bytes() < 4 || t.Base().Kind == ctypes.Enum {
		return ctypes.IntType
	}
	return t
}

// common is the type in which two integers meet (C, 6.3.1.8).
func common(a, b *ctypes.Type) *ctypes.Type {
	a, b = promote(a), promote(b)
	switch {
	case a.Bytes() > b.Bytes():
		return a
	case a.Bytes() < b.Bytes():
		return b
	case a.IsSigned() && !b.IsSigned():
		return b
	}
	return a
}

// isChars reports whether t is a pointer to char or an array of them: what can become a
// string.
func isChars(t *ctypes.Type) bool {
	b := t.Base()
	if b.Kind != ctypes.Pointer && b.Kind != ctypes.Array {
		return false
	}
	e := b.Elem.Base()
	return e.Kind == ctypes.Int && e.Size == 1
}

func isStringLike(t *ctypes.Type) bool { return t.IsString() || isChars(t) }

func isVoidPointer(t *ctypes.Type) bool {
	return t.IsPointer() && t.Base().Elem.Base().Kind == ctypes.Void
}

// decay is the type that a value of type t has in an expression: an array becomes a
// pointer to its first element.
func decay(t *ctypes.Type) *ctypes.Type {
	if b := t.Base(); b.Kind == ctypes.Array {
		return ctypes.PointerTo(b.Elem)
	}
	return t
}

// assignable reports whether a value of x's type may be stored in a t.
func assignable(t *ctypes.Type, x syntax.Expr) bool {
	from := x.Info().Type
	switch {
	case t.IsInt() && from.IsInt():
		return true
	case t.IsString():
		return isStringLike(from)
	case t.IsPointer() && from.IsString(): // to its first character
		return pointersMeet(t, ctypes.PointerTo(ctypes.CharType))
	case t.IsPointer() && from.IsInt():
		return x.Info().Const && x.Info().Value == 0
	case t.IsPointer() && (from.IsPointer() || from.Base().Kind == ctypes.Array):
		return pointersMeet(t, decay(from))
	case t.IsStruct():
		return ctypes.Same(t, from)
	}
	return false
}

// pointersMeet reports whether two pointers may be compared or assigned.
func pointersMeet(a, b *ctypes.Type) bool {
	a, b = a.Base().Elem.Base(), b.Base().Elem.Base()
	return a.Kind == ctypes.Void || b.Kind == ctypes.Void || ctypes.Same(a, b) ||
		a.Kind == ctypes.Int && b.Kind == ctypes.Int && a.Size == b.Size
}
