package debuginfo

import (
	"slices"

	"trapline/kernel/ctypes"
)

// Enumerator gives the values that enumerators of a name have, each once: more than one
// where enumerations differ about it. All are read when the first is asked for.
func (t *Types) Enumerator(name string) []int64 {
	t.open()
	if t.enums == nil {
		t.enums = make(map[string][]int64)
		t.guard(func() {
			if t.compact != nil {
				t.compact.eachEnum(t.addEnum)
			} else {
				t.dwarf.eachEnum(t.addEnum)
			}
		})
	}
	return t.enums[name]
}

// maxValues is how many values of one enumerator are returned.
const maxValues = 256

func (t *Types) addEnum(typ *ctypes.Type) {
	for _, e := range typ.Base().Enums {
		values := t.enums[e.Name]
		if len(values) < maxValues && !slices.Contains(values, e.Value) && t.spend(nameCost) {
			t.enums[e.Name] = append(values, e.Value)
		}
	}
}

func (b *btf) eachEnum(f func(*ctypes.Type)) {
	for id, off := range b.offs[1:] {
		if kind, _, _ := b.info(off); kind == btfEnum || kind == btfEnum64 {
			f(b.typ(uint32(id + 1)))
		}
	}
}

func (d *dwarf) eachEnum(f func(*ctypes.Type)) {
	var offs []uint64
	d.top(func(_ *unit, e *die) bool {
		if e.tag == tagEnum && !e.decl {
			offs = append(offs, e.off)
		}
		return true
	})
	for _, off := range offs {
		f(d.types.typ(off))
	}
}
