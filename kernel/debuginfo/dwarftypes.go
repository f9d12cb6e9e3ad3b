package debuginfo

import (
	"trapline/kernel/ctypes"
)

// dwarfTypes makes types of entries.
type dwarfTypes struct {
	d     *dwarf
	image *Types
	made  map[uint64]*ctypes.Type
	depth int
}

func (t *dwarfTypes) init(d *dwarf, image *Types) {
	t.d, t.image, t.made = d, image, make(map[uint64]*ctypes.Type)
}

var dwarfTagKinds = map[ctypes.Kind]uint64{ctypes.Struct: tagStruct, ctypes.Union: tagUnion, ctypes.Enum: tagEnum}

func (d *dwarf) tagged(kind ctypes.Kind, tag string) (*ctypes.Type, bool) {
	if tag == "" {
		return nil, false
	}
	return d.defined(dwarfTagKinds[kind], tag)
}

func (d *dwarf) typedef(name string) (*ctypes.Type, bool)  { return d.defined(tagTypedef, name) }
func (d *dwarf) function(name string) (*ctypes.Type, bool) { return d.defined(tagSubprogram, name) }

func (d *dwarf) defined(tag uint64, name string) (*ctypes.Type, bool) {
	off := d.lookup(tag, name)
	if off == 0 {
		return nil, false
	}
	return d.types.typ(off), true
}

// typ is the type of the entry at off; 0 is void.
func (t *dwarfTypes) typ(off uint64) *ctypes.Type {
	if typ := t.made[off]; typ != nil {
		return typ
	}
	u := t.d.unitOf(off)
	var e die
	if off == 0 || u == nil || t.depth > maxDepth || !t.d.budget.spend(typeCost) || !t.d.read(u, off, &e) {
		return ctypes.VoidType
	}
	t.depth++
	t.made[off] = ctypes.VoidType // for a type that is, wrongly, made of itself
	typ := t.make(u, &e)
	t.depth--
	t.made[off] = typ
	return typ
}

func (t *dwarfTypes) make(u *unit, e *die) *ctypes.Type {
	switch e.tag {
	case tagBase:
		return base(e)
	case tagPointer:
		return ctypes.PointerTo(t.typ(e.typ))
	case tagArray:
		return t.array(u, e)
	case tagStruct, tagUnion, tagEnum:
		return t.tagged(u, e)
	case tagTypedef:
		return ctypes.TypedefOf(string(e.name), t.typ(e.typ))
	case tagSubroutine, tagSubprogram:
		return t.function(u, e)
	case tagConst, tagVolatile, tagRestrict, tagAtomic, tagVariable:
		return t.typ(e.typ)
	}
	return ctypes.VoidType
}

// base is an integer. What is no integer (DW_ATE_complex_float, float, ...) has only a size.
func base(e *die) *ctypes.Type {
	switch e.encoding {
	case 2, 5, 6, 7, 8, 16: // boolean, signed, signed char, unsigned, unsigned char, UTF
		return integer(string(e.name), int(e.size), e.encoding == 5 || e.encoding == 6)
	}
	return opaque(int(e.size))
}

func (t *dwarfTypes) array(u *unit, e *die) *ctypes.Type {
	var lens []int
	t.parts(u, e, func(sub *die) bool {
		if sub.tag == tagSubrange {
			n := -1
			if sub.hasCount {
				n = int(sub.count)
			}
			lens = append(lens, n)
		}
		return true
	})
	typ := t.typ(e.typ)
	for i := len(lens) - 1; i >= 0; i-- {
		typ = array(typ, lens[i])
	}
	return typ
}

// maxParts is the members, enumerators or parameters that one type can have, as in BTF.
const maxParts = 1<<16 - 1

// parts is children for what becomes a part of a type.
func (t *dwarfTypes) parts(u *unit, e *die, yield func(*die) bool) {
	n := 0
	t.d.children(u, e, func(in *die) bool {
		n++
		return n <= maxParts && t.d.budget.spend(partCost+len(in.name)) && yield(in)
	})
}

var kindOfTag = map[uint64]ctypes.Kind{tagStruct: ctypes.Struct, tagUnion: ctypes.Union, tagEnum: ctypes.Enum}

func (t *dwarfTypes) tagged(u *unit, e *die) *ctypes.Type {
	kind, tag, off := kindOfTag[e.tag], string(e.name), e.off
	if e.decl {
		return t.image.forward(kind, kind, tag, false)
	}
	return t.image.lazy(kind, tag, func(typ *ctypes.Type) {
		var e die
		if !t.d.read(u, off, &e) {
			return
		}
		typ.Size = int(e.size)
		if kind == ctypes.Enum {
			t.enumerate(u, &e, typ)
			return
		}
		t.parts(u, &e, func(m *die) bool {
			if m.tag == tagMember {
				typ.Fields = append(typ.Fields, t.member(m))
			}
			return true
		})
	})
}

func (t *dwarfTypes) member(m *die) ctypes.Field {
	typ := t.typ(m.typ)
	if typ.Kind == ctypes.Array && typ.Len < 0 {
		typ = array(typ.Elem, 0) // a flexible member, as BTF has it
	}
	at := int(8*m.at + m.bitAt)
	if m.hasOldBit {
		at = int(8*m.at) + bitUnit(typ) - int(m.oldBitAt) - int(m.bits)
	}
	return field(string(m.name), typ, at, int(m.bits))
}

func (t *dwarfTypes) enumerate(u *unit, e *die, typ *ctypes.Type) {
	typ.Size = enumSize(typ.Size)
	t.parts(u, e, func(m *die) bool {
		if m.tag == tagEnumerator {
			typ.Enums = append(typ.Enums, ctypes.Enumerator{Name: string(m.name), Value: m.value})
			typ.Signed = typ.Signed || m.value < 0
		}
		return true
	})
}

// function is the type of a function; parameters that a definition leaves to its
// declaration are looked up there.
func (t *dwarfTypes) function(u *unit, e *die) *ctypes.Type {
	params, variadic := []*ctypes.Type{}, false
	t.parts(u, e, func(p *die) bool {
		switch p.tag {
		case tagParam:
			params = append(params, t.typ(p.typ))
		case tagUnspecified:
			variadic = true
		}
		return true
	})
	return ctypes.FuncOf(t.typ(e.typ), params, variadic)
}
