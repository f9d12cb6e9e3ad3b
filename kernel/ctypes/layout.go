package ctypes

import "fmt"

// Lazy is a structure, union or enumeration whose size and members complete fills in when
// they are first asked for: by [Type.Base], so code that reads Fields, Enums or Size calls
// that before. Kernel types refer to one another without end; this is how only those that
// a program looks at are made.
func Lazy(k Kind, tag string, complete func(t *Type)) *Type {
	return &Type{Kind: k, Name: tag, complete: complete}
}

// FuncOf is the type of a function.
func FuncOf(result *Type, params []*Type, variadic bool) *Type {
	t := &Type{Kind: Func, Params: params, Variadic: variadic}
	t.Elem, t.height = over(result)
	for i, p := range params {
		elem, height := over(p)
		params[i], t.height = elem, max(t.height, height)
	}
	return t
}

// TypedefOf is another name for a type.
func TypedefOf(name string, t *Type) *Type {
	t, height := over(t)
	return &Type{Kind: Typedef, height: height, Name: name, Elem: t}
}

// Member finds a member of a structure or union, also in the anonymous ones inside it. Its
// offset counts from the start of t.
func (t *Type) Member(name string) (Field, bool) { return t.member(name, 0, nil) }

// maxNesting bounds anonymous structures within one another.
const maxNesting = 12

// member is Member at a depth of anonymous structures. Those that have been looked into in vain,
// if any, are in seen: one type can lie in another many times.
func (t *Type) member(name string, depth int, seen map[*Type]bool) (Field, bool) {
	if depth > maxNesting {
		return Field{}, false
	}
	for _, f := range t.Base().Fields {
		if f.Name == name {
			return f, true
		}
		if f.Name != "" || !f.Type.IsStruct() || seen[f.Type.Base()] {
			continue
		}
		if seen == nil {
			seen = make(map[*Type]bool)
		}
		seen[f.Type.Base()] = true
		if in, ok := f.Type.member(name, depth+1, seen); ok {
			in.Offset += f.Offset
			return in, true
		}
	}
	return Field{}, false
}

// Align is the alignment of an object of type t in bytes, at least 1.
func (t *Type) Align() int { return t.align(0, nil) }

// align is Align at a depth of structures. Those that count already are in seen.
func (t *Type) align(depth int, seen map[*Type]bool) int {
	switch b := t.Base(); b.Kind {
	case Array:
		return b.Elem.align(depth, seen)
	case Struct, Union:
		if seen[b] || depth > maxNesting {
			return 1
		}
		if seen == nil {
			seen = make(map[*Type]bool)
		}
		seen[b] = true
		n := 1
		for _, f := range b.Fields {
			if n < PtrSize {
				n = max(n, f.Type.align(depth+1, seen))
			}
		}
		return n
	case Int, Float, Pointer, Enum:
		return max(b.Size, 1)
	}
	return 1
}

// Complete gives an incomplete structure or union its members, in order, and lays them out
// as the C compilers of the guests do. Of a field only Name, Type and Bits count; a
// bit-field of no bits with no name has Bits -1. It fails if the size is over limit.
func (t *Type) Complete(fields []Field, limit int) error {
	l := layout{union: t.Kind == Union, limit: 8 * limit}
	for i := range fields {
		if !l.place(&fields[i]) {
			return fmt.Errorf("%s is larger than %d bytes", t, limit)
		}
	}
	t.complete = nil
	for _, f := range fields {
		if f.Bits >= 0 {
			t.Fields = append(t.Fields, f)
		}
	}
	t.Size = roundUp(max(l.end, 8), 8*max(l.align, 1)) / 8
	return nil
}

// A layout is the state of Complete, in bits.
type layout struct {
	union   bool
	at, end int
	align   int // bytes
	limit   int
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// place gives a field its offset.
func (l *layout) place(f *Field) bool {
	if l.union {
		l.at = 0
	}
	size, align := 8*f.Type.Bytes(), 8*f.Type.Align()
	switch {
	case f.Bits < 0:
		l.at = roundUp(l.at, align)
		return true
	case f.Bits > 0:
		if l.at/size != (l.at+f.Bits-1)/size {
			l.at = roundUp(l.at, align)
		}
		f.Offset = l.at / size * size / 8
		f.BitOffset = l.at % size
		l.at += f.Bits
	default:
		l.at = roundUp(l.at, align)
		f.Offset = l.at / 8
		l.at += size
	}
	l.align = max(l.align, align/8)
	l.end = max(l.end, l.at)
	return l.end <= l.limit
}

// LazyArray is ArrayOf with a size that is settled when it is asked for, so that a Lazy t is
// not completed earlier.
func LazyArray(t *Type, n int) *Type {
	t, height := over(t)
	n = min(max(n, -1), MaxBytes)
	return &Type{Kind: Array, height: height, Elem: t, Len: n, complete: func(a *Type) { a.Size = times(n, t.Bytes()) }}
}
