package ctypes

import "testing"

// TestComplete compares layouts with what gcc gives for the same members on amd64:
//
//	struct a { char c; int i; char d; long l; short s[3]; };
//	struct b { unsigned x : 3; unsigned y : 30; unsigned char z : 4; unsigned char w : 5; };
//	union u { char c[5]; int i; };
//	struct n { struct { int p; union { long q; char r; }; }; };
func TestComplete(t *testing.T) {
	uchar := UnsignedCharType
	for _, test := range []struct {
		kind   Kind
		fields []Field
		size   int
		at     []int // bits
	}{
		{Struct, []Field{{Name: "c", Type: CharType}, {Name: "i", Type: IntType}, {Name: "d", Type: CharType},
			{Name: "l", Type: LongType}, {Name: "s", Type: ArrayOf(ShortType, 3)}}, 32, []int{0, 32, 64, 128, 192}},
		{Struct, []Field{{Name: "x", Type: UnsignedType, Bits: 3}, {Name: "y", Type: UnsignedType, Bits: 30},
			{Name: "z", Type: uchar, Bits: 4}, {Name: "w", Type: uchar, Bits: 5}}, 12, []int{0, 32, 64, 72}},
		{Struct, []Field{{Name: "x", Type: UnsignedType, Bits: 3}, {Type: UnsignedType, Bits: -1},
			{Name: "y", Type: UnsignedType, Bits: 3}}, 8, []int{0, 32}},
		{Union, []Field{{Name: "c", Type: ArrayOf(CharType, 5)}, {Name: "i", Type: IntType}}, 8, []int{0, 0}},
	} {
		typ := Incomplete(test.kind, "t")
		if err := typ.Complete(test.fields, 1<<20); err != nil {
			t.Fatal(err)
		}
		if typ.Size != test.size {
			t.Errorf("%v: %d bytes, want %d", test.fields, typ.Size, test.size)
		}
		for i, f := range typ.Fields {
			if got := 8*f.Offset + f.BitOffset; got != test.at[i] {
				t.Errorf("%v: %s at bit %d, want %d", test.fields, f.Name, got, test.at[i])
			}
		}
	}
	if err := Incomplete(Struct, "big").Complete([]Field{{Name: "a", Type: ArrayOf(IntType, 100)}}, 100); err == nil {
		t.Error("a structure over the limit is accepted")
	}
}

func TestMember(t *testing.T) {
	inner := Incomplete(Union, "")
	outer := Incomplete(Struct, "outer")
	if err := inner.Complete([]Field{{Name: "q", Type: LongType}, {Name: "r", Type: CharType}}, 100); err != nil {
		t.Fatal(err)
	}
	if err := outer.Complete([]Field{{Name: "p", Type: IntType}, {Type: inner}}, 100); err != nil {
		t.Fatal(err)
	}
	if f, ok := TypedefOf("t", outer).Member("r"); !ok || f.Offset != 8 || f.Type != CharType {
		t.Errorf("r: %+v, %v", f, ok)
	}
	if _, ok := outer.Member("none"); ok {
		t.Error("a member that is not there was found")
	}
}

func TestLazy(t *testing.T) {
	n := 0
	typ := Lazy(Struct, "later", func(t *Type) {
		n++
		t.Size, t.Fields = 4, []Field{{Name: "x", Type: IntType}}
	})
	p := PointerTo(typ)
	if n != 0 || p.String() != "struct later *" {
		t.Error("made too early")
	}
	if f, ok := typ.Member("x"); !ok || f.Type != IntType || typ.Bytes() != 4 || n != 1 {
		t.Errorf("%v %v, completed %d times", f, ok, n)
	}
	fn := PointerTo(FuncOf(IntType, []*Type{p}, true))
	if fn.String() != "int (*)(struct later *, ...)" {
		t.Error(fn)
	}
}
