package ctypes

import (
	"strings"
	"testing"
)

func TestArithmetic(t *testing.T) {
	for words, want := range map[string]string{
		"int": "int", "unsigned": "unsigned int", "signed": "int", "long": "long", "int long": "long",
		"long unsigned int": "unsigned long", "long long": "long long", "unsigned long long": "unsigned long long",
		"short": "short", "unsigned short int": "unsigned short", "char": "char", "signed char": "signed char",
		"char unsigned": "unsigned char",
		"float":         "float", "double": "double", "double long": "long double",
	} {
		if got, ok := Arithmetic(strings.Fields(words)); !ok || got.String() != want {
			t.Errorf("%s: %v, want %s", words, got, want)
		}
	}
	for _, words := range []string{"long short", "long char", "int int", "unsigned signed", "long long long", "short float", "signed double", "long float", "char int"} {
		if got, ok := Arithmetic(strings.Fields(words)); ok {
			t.Errorf("%s: %v, want an error", words, got)
		}
	}
}

func TestString(t *testing.T) {
	thread := Incomplete(Struct, "task_struct")
	for want, typ := range map[string]*Type{
		"void *":               VoidPtr,
		"struct task_struct *": PointerTo(thread),
		"char [16]":            ArrayOf(CharType, 16),
		"int *[2][]":           ArrayOf(ArrayOf(PointerTo(IntType), -1), 2),
		"int (*)[4]":           PointerTo(ArrayOf(IntType, 4)),
		"uint64_t **":          PointerTo(PointerTo(Named("uint64_t"))),
		"int (*)()":            PointerTo(&Type{Kind: Func, Elem: IntType}),
		"union {...}":          Incomplete(Union, ""),
		"string":               StringOf(256),
	} {
		if got := typ.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestSame(t *testing.T) {
	pid := Named("pid_t")
	for _, test := range []struct {
		a, b *Type
		want bool
	}{
		{pid, IntType, true},
		{LongType, LongLongType, true},
		{IntType, UnsignedType, false},
		{PointerTo(pid), PointerTo(IntType), true},
		{PointerTo(pid), VoidPtr, false},
		{StringOf(1), StringOf(2), true},
		{Incomplete(Struct, "a"), Incomplete(Struct, "a"), true},
		{Incomplete(Struct, "a"), Incomplete(Union, "a"), false},
		{Incomplete(Struct, ""), Incomplete(Struct, ""), false},
		{ArrayOf(IntType, 2), ArrayOf(IntType, 3), false},
	} {
		if got := Same(test.a, test.b); got != test.want {
			t.Errorf("%s, %s: %v", test.a, test.b, got)
		}
	}
	if !pid.IsInt() || !pid.IsScalar() || !pid.IsSigned() || pid.Bytes() != 4 || pid.IsPointer() {
		t.Error("pid_t is not seen as an int")
	}
}
