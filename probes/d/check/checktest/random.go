package checktest

import (
	"fmt"
	"strconv"

	"trapline/kernel/ctypes"
)

// Random are types as those that a reader makes of damaged type information: t0, t1, ... are
// typedefs, s0, ... structures, unions and enumerations, v0, ... variables, by their numbers.
type Random struct{ all []*ctypes.Type }

// NewRandom makes types by a program of which two bytes make one, of those before it.
func NewRandom(program []byte) *Random {
	r := &Random{[]*ctypes.Type{ctypes.VoidType, ctypes.CharType, ctypes.IntType, ctypes.UlongType}}
	for ; len(program) >= 2 && len(r.all) < 64; program = program[2:] {
		r.all = append(r.all, r.next(program[0], program[1]))
	}
	return r
}

// sizes of structures, and lengths of arrays.
var sizes = []int{0, 1, 2, 3, 4, 7, 8, 9, 16, 64, 255, 4096, 1 << 16, 1 << 31, 1 << 40, -1}

func (r *Random) next(what, how byte) *ctypes.Type {
	n := len(r.all)
	of := func(i byte) *ctypes.Type { return r.all[n-1-int(i)%n] }
	size, name := sizes[how&15], "s"+strconv.Itoa(n)
	inner := of(what >> 4)
	switch what & 15 {
	case 0, 1:
		return ctypes.PointerTo(inner)
	case 2, 3:
		return ctypes.ArrayOf(inner, size)
	case 4:
		return ctypes.LazyArray(inner, size)
	case 5:
		return ctypes.FuncOf(inner, []*ctypes.Type{of(how), inner}, how&1 != 0)
	case 6:
		return &ctypes.Type{Kind: ctypes.Enum, Name: name, Size: 4, Signed: how&1 != 0, Enums: []ctypes.Enumerator{{Name: "E" + strconv.Itoa(n), Value: int64(size)}}}
	case 7, 8:
		return ctypes.Lazy(ctypes.Union, name, func(t *ctypes.Type) {
			t.Size, t.Fields = size, []ctypes.Field{{Name: "a", Type: inner}, {Type: of(how >> 4)}, {Name: "u", Type: t}, bits("b", of(how>>2), int(how))}
		})
	case 9: // in which it lies itself
		return ctypes.Lazy(ctypes.Struct, name, func(t *ctypes.Type) {
			t.Size, t.Fields = size, []ctypes.Field{{Name: "a", Type: t}, {Type: ctypes.ArrayOf(t, 2)}, {Name: "n", Type: ctypes.PointerTo(t), Offset: size}}
		})
	}
	return ctypes.Lazy(ctypes.Struct, name, func(t *ctypes.Type) {
		t.Size = max(size, inner.Bytes()+of(how>>4).Bytes())
		if what&8 != 0 {
			t.Size = size
		}
		t.Fields = []ctypes.Field{{Name: "a", Type: inner}, {Name: "n", Type: ctypes.PointerTo(t)}, {Type: of(how >> 4), Offset: inner.Bytes()}, bits("b", of(how>>2), int(what)), {Name: "far", Type: inner, Offset: ctypes.MaxBytes}}
	})
}

// bits is a bit-field, as wide as its type allows; for any other type, a plain member.
func bits(name string, typ *ctypes.Type, n int) ctypes.Field {
	unit := 8 * typ.Bytes()
	if !typ.IsInt() || unit == 0 || unit > 64 {
		return ctypes.Field{Name: name, Type: typ, Offset: n % 16}
	}
	at := n % unit
	return ctypes.Field{Name: name, Type: typ, Offset: n % 16, BitOffset: at, Bits: 1 + n/16%(unit-at)}
}

// numbered is the type of a name: a letter and a number.
func (r *Random) numbered(letter, name string) (*ctypes.Type, bool) {
	var i int
	if _, err := fmt.Sscanf(name, letter+"%d", &i); err != nil || i < 0 || i >= len(r.all) || name != letter+strconv.Itoa(i) {
		return nil, false
	}
	return r.all[i], true
}

// Tagged implements check.Types.
func (r *Random) Tagged(kind ctypes.Kind, tag string) (*ctypes.Type, bool) {
	t, ok := r.numbered("s", tag)
	if !ok || t.Kind != kind {
		return nil, false
	}
	return t, true
}

// Typedef implements check.Types.
func (r *Random) Typedef(name string) (*ctypes.Type, bool) {
	t, ok := r.numbered("t", name)
	if !ok {
		return nil, false
	}
	return ctypes.TypedefOf(name, t), true
}

// Variable implements check.Types.
func (r *Random) Variable(name string) (*ctypes.Type, bool) { return r.numbered("v", name) }

// Enumerator implements check.Types.
func (r *Random) Enumerator(name string) (values []int64) {
	for _, t := range r.all {
		for _, e := range t.Enums {
			if e.Name == name {
				values = append(values, e.Value)
			}
		}
	}
	return values
}

// Thread implements check.Types.
func (r *Random) Thread() *ctypes.Type { return r.all[len(r.all)-1] }

// Symbol places the variables one behind another, where the history of package consume has memory.
func (r *Random) Symbol(_, name string) (addr, size uint64, ok bool) {
	t, ok := r.numbered("v", name)
	if !ok {
		return 0, 0, false
	}
	return 0x5000, uint64(t.Bytes()), true
}

// Args are those of every probe: the types themselves.
func (r *Random) Args(string) []*ctypes.Type { return r.all }
