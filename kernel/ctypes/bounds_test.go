package ctypes

import (
	"math"
	"testing"
	"time"
)

// TestSaturation: no array has a size that overflows, whatever length it claims.
func TestSaturation(t *testing.T) {
	const most = math.MaxInt32
	long := func(n ...int) *Type {
		typ := LongType
		for _, n := range n {
			typ = ArrayOf(typ, n)
		}
		return typ
	}
	huge := Lazy(Struct, "huge", func(s *Type) { s.Size = math.MaxInt })
	negative := Lazy(Struct, "negative", func(s *Type) { s.Size = -8 })
	for _, test := range []struct {
		name string
		typ  *Type
		want int
	}{
		{"one array", long(most), 8 * most},
		{"an array of arrays", long(most, most), MaxBytes},
		{"of arrays", long(most, most, most), MaxBytes},
		{"of none", long(most, 0, most), 0},
		{"the longest", long(math.MaxInt), MaxBytes},
		{"of an unknown length", long(-1), 0},
		{"of a length below that", long(math.MinInt), 0},
		{"a lazy array", LazyArray(long(most), most), MaxBytes},
		{"a structure", huge, MaxBytes},
		{"an array of structures", LazyArray(huge, 2), MaxBytes},
		{"a negative structure", negative, 0},
		{"of negative structures", LazyArray(negative, 2), 0},
	} {
		if have := test.typ.Bytes(); have != test.want {
			t.Errorf("%s: %d bytes, want %d", test.name, have, test.want)
		}
		if n := test.typ.Base().Len; n < -1 || n > MaxBytes {
			t.Errorf("%s: %d elements", test.name, n)
		}
	}
}

// TestHeight: a type of a million levels is one of a few hundred.
func TestHeight(t *testing.T) {
	for _, over := range []func(*Type) *Type{
		PointerTo,
		func(t *Type) *Type { return ArrayOf(t, 1) },
		func(t *Type) *Type { return TypedefOf("t", t) },
		func(t *Type) *Type { return FuncOf(t, nil, false) },
		func(t *Type) *Type { return FuncOf(VoidType, []*Type{t}, false) },
	} {
		typ := IntType
		for range 1 << 20 {
			typ = over(typ)
		}
		levels := 0
		for at := typ; at != nil && at.Kind != Void; levels++ {
			if at.Params != nil {
				at = at.Params[0]
				continue
			}
			at = at.Elem
		}
		if levels > maxHeight {
			t.Errorf("a %v has %d levels", typ.Kind, levels)
		}
	}
}

// TestManyParts: what can be reached in very many ways is looked at a bounded number of times.
func TestManyParts(t *testing.T) {
	function := func() *Type {
		f := IntType
		for range 100 {
			f = PointerTo(FuncOf(f, []*Type{f, f}, false))
		}
		return f
	}
	nested := func(name string) *Type {
		s := &Type{Kind: Struct, Size: 1, Fields: []Field{{Name: "c", Type: CharType}}}
		for range 100 {
			inner := s
			s = Lazy(Struct, "", func(s *Type) {
				s.Size = 1
				for range 100 {
					s.Fields = append(s.Fields, Field{Name: name, Type: inner})
				}
			})
		}
		return s
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		if n := len(function().String()); n > 1<<20 {
			t.Errorf("a function is written in %d bytes", n)
		}
		if Same(function(), function()) {
			t.Error("two functions of 2^100 parts have been compared")
		}
		if _, ok := nested("").Member("none"); ok {
			t.Error("there is a member none")
		}
		if n := nested("").Align(); n != 1 {
			t.Errorf("char is aligned to %d bytes", n)
		}
	}()
	select {
	case <-done:
	case <-time.After(3 * time.Minute):
		t.Fatal("it takes more than three minutes")
	}
}

// FuzzTypes: types of all shapes have a size in bounds, a name, and members that can be looked for.
// Each byte makes a type of those that the bytes before it have made.
func FuzzTypes(f *testing.F) {
	f.Add([]byte("\x02\x0a\x12\x1a\x22\x2a\x32\x3a"))
	f.Add([]byte("\xff\x01\xfa\xfb\xfc\xfd\x81\x89\x91\x99"))
	f.Fuzz(func(t *testing.T, program []byte) {
		program = program[:min(len(program), 200)]
		all := []*Type{VoidType, CharType, LongType, UnsignedType}
		for i, b := range program {
			all = append(all, made(all, b, i))
		}
		for i, typ := range all {
			if n := typ.Bytes(); n < 0 || n > MaxBytes {
				t.Fatalf("%v has %d bytes", typ, n)
			}
			if typ.Align() < 1 {
				t.Errorf("%v is aligned to %d bytes", typ, typ.Align())
			}
			typ.Member("none")
			_ = typ.String()
			Same(typ, all[len(all)-1-i])
		}
	})
}

// made is a type by a byte: its low bits say which, the others of what.
func made(all []*Type, b byte, i int) *Type {
	of := all[(i+int(b>>3))%len(all)]
	long := 1 << (b >> 2)
	switch b & 7 {
	case 0:
		return PointerTo(of)
	case 1:
		return ArrayOf(of, long)
	case 2:
		return LazyArray(of, long-1)
	case 3:
		return TypedefOf("t", of)
	case 4:
		return FuncOf(of, []*Type{of, all[len(all)-1]}, false)
	case 5:
		return Lazy(Union, "", func(t *Type) { t.Size, t.Fields = long, []Field{{Type: of}, {Type: t}, {Name: "x", Type: of}} })
	case 6:
		return Lazy(Struct, "s", func(t *Type) { t.Size, t.Fields = -long, []Field{{Type: all[i%len(all)], Offset: of.Bytes()}} })
	}
	t := Incomplete(Struct, "s")
	if t.Complete([]Field{{Name: "a", Type: of}, {Name: "b", Type: ArrayOf(of, 2)}}, 1<<20) != nil {
		return VoidType
	}
	return t
}
