package debuginfo

import (
	"slices"
	"testing"
	"time"

	"trapline/kernel/ctypes"
)

// btfWith is a section .BTF of types, each of words, and of strings.
func btfWith(strs string, types ...[]uint32) []byte {
	var body []byte
	for _, t := range types {
		for _, w := range t {
			body = le.AppendUint32(body, w)
		}
	}
	raw := []byte{0x9f, 0xeb, 1, 0}
	for _, w := range []int{24, 0, len(body), len(body), len(strs)} {
		raw = le.AppendUint32(raw, uint32(w))
	}
	return slices.Concat(raw, body, []byte(strs))
}

func kindOf(kind, n uint32) uint32 { return kind<<24 | n }

// TestHostileBTF: types of themselves, very many and very large ones are looked at soon, and have
// sizes in bounds.
func TestHostileBTF(t *testing.T) {
	structure := append([]uint32{1, kindOf(btfStruct, 0xffff), 0xffffffff}, slices.Repeat([]uint32{0, 1, 0xffffffff}, 0xffff)...)
	arrays := [][]uint32{{0, kindOf(btfInt, 0), 8, 64}}
	for i := range uint32(200) {
		arrays = append(arrays, []uint32{0, kindOf(btfArray, 0), 0, i + 1, 1, 0xffffffff})
	}
	functions := [][]uint32{{0, kindOf(btfInt, 0), 4, 32}}
	for i := range uint32(150) {
		functions = append(functions, []uint32{0, kindOf(btfFuncProto, 3), i + 1, 0, i + 1, 0, i + 1, 0, i + 1})
	}
	enums := slices.Repeat([][]uint32{append([]uint32{1, kindOf(btfEnum, 0xffff), 4}, slices.Repeat([]uint32{1, 7}, 0xffff)...)}, 20)
	bits := [][]uint32{{0, kindOf(btfInt, 0), 4, 32}, {1, kindOf(btfStruct, 2) | 1<<31, 4, 0, 1, 0xff00001f, 0, 2, 0x20ffffff}}
	for name, all := range map[string][][]uint32{
		"a structure of itself":    {structure},
		"pointers to each other":   {{0, kindOf(btfPtr, 0), 2}, {0, kindOf(btfConst, 0), 1}, {1, kindOf(btfTypedef, 0), 2}},
		"a typedef of itself":      {{1, kindOf(btfTypedef, 0), 1}},
		"arrays of arrays":         arrays,
		"functions of functions":   functions,
		"many enumerators":         enums,
		"bit-fields of any width":  bits,
		"an array of itself":       {{0, kindOf(btfArray, 0), 0, 1, 1, 9}},
		"types that are not there": {{0, kindOf(btfPtr, 0), 77}, {0, kindOf(btfArray, 0), 0, 78, 79, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			types := New(nil, "", "")
			b, err := newBTF(btfWith("\x00s\x00", all...), types)
			if err != nil {
				t.Fatal(err)
			}
			types.compact, types.opened = b, true
			start := time.Now()
			for id := range b.offs {
				look(b.typ(uint32(id)))
			}
			types.Tagged(ctypes.Struct, "s")
			types.Typedef("s")
			types.Enumerator("s")
			if took := time.Since(start); took > hang {
				t.Errorf("it takes %v", took)
			}
		})
	}
}
