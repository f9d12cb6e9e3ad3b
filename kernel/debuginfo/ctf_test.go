package debuginfo

import (
	"bytes"
	"compress/zlib"
	"slices"
	"strings"
	"testing"
	"time"

	"trapline/kernel/ctypes"
)

// ctfWith is a section .SUNW_ctf of types, each of words, and of strings.
func ctfWith(compress bool, strs string, types ...[]uint32) []byte {
	var body []byte
	for _, t := range types {
		for _, w := range t {
			body = le.AppendUint32(body, w)
		}
	}
	raw := []byte{0xf1, 0xcf, 3, 0}
	for _, w := range []int{0, 0, 0, 0, 0, 0, len(body), len(strs)} {
		raw = le.AppendUint32(raw, uint32(w))
	}
	body = append(body, strs...)
	if compress {
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		z.Write(body)
		z.Close()
		raw[3], body = 1, b.Bytes()
	}
	return append(raw, body...)
}

func ctfKind(kind, n uint32) uint32 { return kind<<26 | 1<<25 | n }

func openCTF(t testing.TB, raw []byte) (*Types, *ctf) {
	t.Helper()
	types := New(nil, "", "")
	c, err := newCTF(raw, types)
	if err != nil {
		t.Fatal(err)
	}
	types.compact, types.opened = c, true
	return types, c
}

// TestCTF: every kind of type, compressed or not (ctf(5)).
func TestCTF(t *testing.T) {
	const strs = "\x00unsigned int\x00s\x00a\x00b\x00c\x00u_t\x00colour\x00red\x00blue\x00unsigned int bitfield\x00_Bool bitfield\x00"
	at := func(name string) uint32 { return uint32(strings.Index(strs, "\x00"+name+"\x00") + 1) }
	all := [][]uint32{
		{at("unsigned int"), ctfKind(ctfInteger, 0), 4, 32},                                            // 1
		{0, ctfKind(ctfPointer, 0), 4},                                                                 // 2: s *
		{0, ctfKind(ctfArray, 0), 0, 1, 1, 5},                                                          // 3: unsigned int[5]
		{at("s"), ctfKind(ctfStruct, 4), 32, at("a"), 1, 0, at("b"), 2, 64, at("c"), 3, 96, 0, 5, 256}, // 4
		{at("unsigned int bitfield"), ctfKind(ctfInteger, 0), 1, 3},                                    // 5
		{at("u_t"), ctfKind(ctfTypedef, 0), 1},                                                         // 6
		{at("colour"), ctfKind(ctfEnum, 2), 4, at("red"), 0xffffffff, at("blue"), 7},                   // 7
		{0, ctfKind(ctfFunction, 3), 6, 2, 6, 0},                                                       // 8: u_t (s *, u_t, ...)
		{0, ctfKind(ctfPointer, 0), 8},                                                                 // 9
		{at("_Bool bitfield"), ctfKind(ctfInteger, 0), 1, ctfSigned<<24 | 1},                           // 10
	}
	for _, compressed := range []bool{false, true} {
		types, c := openCTF(t, ctfWith(compressed, strs, all...))
		s, ok := types.Tagged(ctypes.Struct, "s")
		if !ok || s.Bytes() != 32 {
			t.Fatalf("struct s: %v, %t", s, ok)
		}
		var got []string
		for _, f := range s.Base().Fields {
			got = append(got, f.Type.String()+" "+f.Name)
		}
		if want := []string{"unsigned int a", "struct s * b", "unsigned int [5] c", "unsigned int "}; !slices.Equal(got, want) {
			t.Errorf("members %q, want %q", got, want)
		}
		if f := s.Base().Fields[3]; f.Offset != 32 || f.Bits != 3 || f.Type.Bytes() != 4 {
			t.Errorf("bit-field: %+v", f)
		}
		if u, ok := types.Typedef("u_t"); !ok || u.Base().String() != "unsigned int" {
			t.Errorf("u_t is %v, %t", u, ok)
		}
		if red := types.Enumerator("red"); !slices.Equal(red, []int64{-1}) {
			t.Errorf("red is %v", red)
		}
		if f := c.typ(9).Elem.String(); f != "u_t (struct s *, u_t, ...)" {
			t.Errorf("function %s", f)
		}
		if truth := c.typ(10); truth.IsSigned() {
			t.Error("a truth value is signed")
		}
		for _, none := range []string{"", "sx", "unsigned"} {
			if _, ok := types.Tagged(ctypes.Struct, none); ok {
				t.Errorf("there is a struct %q", none)
			}
		}
		if types.Err() != nil {
			t.Error(types.Err())
		}
	}
}

// TestForeignCTF: what is not whole is refused in one line.
func TestForeignCTF(t *testing.T) {
	whole := ctfWith(false, "\x00s\x00", []uint32{1, ctfKind(ctfStruct, 1), 4, 0, 1, 0})
	edit := func(at int, b ...byte) []byte { x := slices.Clone(whole); copy(x[at:], b); return x }
	for name, raw := range map[string][]byte{
		"CTF: no header of version 3":              edit(2, 2),
		"CTF: a part is outside of the section":    whole[:len(whole)-1],
		"CTF: decompressing: zlib: invalid header": edit(3, 1),
		"CTF: type 1 is of the unknown kind 63":    edit(ctfHeader+7, 0xfe),
		"CTF: a type is cut off":                   edit(ctfHeader+4, 9),
	} {
		if _, err := newCTF(raw, New(nil, "", "")); err == nil || err.Error() != name {
			t.Errorf("%v, want %s", err, name)
		}
	}
}

// TestHostileCTF: types of themselves, very many and very large ones are looked at soon, and have sizes
// in bounds.
func TestHostileCTF(t *testing.T) {
	structure := append([]uint32{1, ctfKind(ctfStruct, 0xffff), ctfLarge, 0xffffffff, 0xffffffff}, slices.Repeat([]uint32{0, 1, 0xffffffff, 0xffffffff}, 0xffff)...)
	arrays := [][]uint32{{0, ctfKind(ctfInteger, 0), 8, 64}}
	for i := range uint32(200) {
		arrays = append(arrays, []uint32{0, ctfKind(ctfArray, 0), 0, i + 1, 1, 0xffffffff})
	}
	enums := slices.Repeat([][]uint32{append([]uint32{1, ctfKind(ctfEnum, 0xffff), 4}, slices.Repeat([]uint32{1, 7}, 0xffff)...)}, 20)
	for name, all := range map[string][][]uint32{
		"a structure of itself":    {structure},
		"pointers to each other":   {{0, ctfKind(ctfPointer, 0), 2}, {0, ctfKind(ctfConst, 0), 1}, {1, ctfKind(ctfTypedef, 0), 2}},
		"a typedef of itself":      {{1, ctfKind(ctfTypedef, 0), 1}},
		"arrays of arrays":         arrays,
		"many enumerators":         enums,
		"integers of any size":     {{0, ctfKind(ctfInteger, 0), 4, 0xffffffff}, {1, ctfKind(ctfStruct, 2), 4, 0, 1, 3, 0, 1, 0xffffffff}},
		"types that are not there": {{0, ctfKind(ctfPointer, 0), 77}, {0, ctfKind(ctfArray, 0), 0, 78, 79, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			types, c := openCTF(t, ctfWith(true, "\x00s\x00", all...))
			for id := range c.offs {
				if typ := c.typ(uint32(id)); typ.Bytes() < 0 || typ.Bytes() > ctypes.MaxBytes {
					t.Errorf("type %d has %d bytes", id, typ.Bytes())
				}
			}
			types.Enumerator("s")
			types.Tagged(ctypes.Struct, "s")
			if spent := time.Since(start); spent > 10*time.Second {
				t.Errorf("it took %v", spent)
			}
		})
	}
}

// FuzzCTF: damage costs types.
func FuzzCTF(f *testing.F) {
	f.Add(ctfWith(false, "\x00s\x00", []uint32{1, ctfKind(ctfStruct, 1), 4, 0, 2, 0}, []uint32{0, ctfKind(ctfInteger, 0), 4, 32}))
	f.Add(ctfWith(true, "\x00s\x00", []uint32{1, ctfKind(ctfEnum, 1), 4, 1, 2}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		types := New(nil, "", "")
		c, err := newCTF(raw, types)
		if err != nil {
			return
		}
		types.compact, types.opened = c, true
		for id := range c.offs[:min(len(c.offs), 100)] {
			_ = c.typ(uint32(id)).Bytes()
		}
		types.Tagged(ctypes.Struct, "s")
		types.Enumerator("s")
	})
}
