package debuginfo

import (
	"encoding/binary"
	"errors"
	"fmt"

	"trapline/kernel/ctypes"
)

// btf is a section .BTF (Documentation/bpf/btf.rst of Linux). It is not decoded as a
// whole: one pass finds where each type begins, and a name is looked for by a walk over
// the types, which takes less than a millisecond for a distribution's 130,000.
type btf struct {
	types []byte
	strs  []byte
	offs  []uint32 // by type number: where it begins in types; 0 is void
	made  map[uint32]*ctypes.Type
	image *Types
	depth int

	budget *budget
}

const (
	btfInt = iota + 1
	btfPtr
	btfArray
	btfStruct
	btfUnion
	btfEnum
	btfFwd
	btfTypedef
	btfVolatile
	btfConst
	btfRestrict
	btfFunc
	btfFuncProto
	btfVar
	btfDatasec
	btfFloat
	btfDeclTag
	btfTypeTag
	btfEnum64
)

var le = binary.LittleEndian

// newBTF reads the header and finds the types.
func newBTF(raw []byte, image *Types) (*btf, error) {
	if len(raw) < 24 || le.Uint16(raw) != 0xeb9f || raw[2] != 1 {
		return nil, errors.New("BTF: no header of version 1")
	}
	hdr := uint64(le.Uint32(raw[4:]))
	part := func(at int) ([]byte, error) {
		off, n := hdr+uint64(le.Uint32(raw[at:])), uint64(le.Uint32(raw[at+4:]))
		if off+n > uint64(len(raw)) {
			return nil, errors.New("BTF: a part is outside of the section")
		}
		return raw[off : off+n], nil
	}
	b := &btf{offs: []uint32{0}, made: make(map[uint32]*ctypes.Type), image: image, budget: newBudget(0, raw)}
	var err error
	if b.types, err = part(8); err != nil {
		return nil, err
	}
	if b.strs, err = part(16); err != nil {
		return nil, err
	}
	return b, b.index()
}

// extra is the bytes that follow the 12 of each type of a kind: so many for the type, and
// for each of its parts.
var extra = [...]struct{ fixed, each uint32 }{
	btfInt: {4, 0}, btfPtr: {}, btfArray: {12, 0}, btfStruct: {0, 12}, btfUnion: {0, 12}, btfEnum: {0, 8},
	btfFuncProto: {0, 8}, btfVar: {4, 0}, btfDatasec: {0, 12}, btfFloat: {}, btfDeclTag: {4, 0}, btfTypeTag: {},
	btfEnum64: {0, 12},
}

func (b *btf) index() error {
	b.offs = make([]uint32, 1, 1+len(b.types)/20)
	for off := uint32(0); int(off) < len(b.types); {
		if len(b.types)-int(off) < 12 {
			return errors.New("BTF: a type is cut off")
		}
		kind, n, _ := b.info(off)
		if kind == 0 || kind > btfEnum64 {
			return fmt.Errorf("BTF: type %d is of the unknown kind %d", len(b.offs), kind)
		}
		b.offs = append(b.offs, off)
		next := uint64(off) + 12 + uint64(extra[kind].fixed) + uint64(extra[kind].each)*uint64(n)
		if next > uint64(len(b.types)) {
			return errors.New("BTF: a type is cut off")
		}
		off = uint32(next)
	}
	return nil
}

// info is the kind of the type at off, its number of parts and its flag.
func (b *btf) info(off uint32) (kind, n uint32, flag bool) {
	v := le.Uint32(b.types[off+4:])
	return v >> 24 & 0x1f, v & 0xffff, v>>31 != 0
}

// word is the i-th word of the type at off: its name, info, size or type, and so on.
func (b *btf) word(off uint32, i uint32) uint32 { return le.Uint32(b.types[off+4*i:]) }

func (b *btf) str(off uint32) []byte { return stringIn(b.strs, uint64(off)) }

// name is a name that is kept; "" once there are more than there is memory for.
func (b *btf) name(off uint32) string {
	s := b.str(off)
	if !b.budget.spend(len(s)) {
		return ""
	}
	return string(s)
}

// named looks for a type of one of two kinds by its name.
func (b *btf) named(name string, kind, other uint32) (*ctypes.Type, bool) {
	for id := 1; id < len(b.offs); id++ {
		off := b.offs[id]
		if k, _, _ := b.info(off); k != kind && k != other {
			continue
		}
		// The NUL is compared too: a name that only begins alike is another.
		if at := b.word(off, 0); int(at)+len(name) < len(b.strs) && b.strs[int(at)+len(name)] == 0 &&
			string(b.strs[at:int(at)+len(name)]) == name {
			return b.typ(uint32(id)), true
		}
	}
	return nil, false
}

var btfTagKinds = map[ctypes.Kind][2]uint32{
	ctypes.Struct: {btfStruct, btfStruct}, ctypes.Union: {btfUnion, btfUnion}, ctypes.Enum: {btfEnum, btfEnum64},
}

func (b *btf) tagged(kind ctypes.Kind, tag string) (*ctypes.Type, bool) {
	kinds, ok := btfTagKinds[kind]
	if !ok || tag == "" {
		return nil, false
	}
	return b.named(tag, kinds[0], kinds[1])
}

func (b *btf) typedef(name string) (*ctypes.Type, bool) { return b.named(name, btfTypedef, btfTypedef) }

// typeOf is the type of a function of the kernel.
func (b *btf) typeOf(name string) (*ctypes.Type, bool) { return b.named(name, btfFunc, btfFunc) }

func (b *btf) memory() *budget { return b.budget }

// maxDepth bounds how deep types that are not structures lie in one another.
const maxDepth = 100

// typ is a type by its number, made once.
func (b *btf) typ(id uint32) *ctypes.Type {
	if t := b.made[id]; t != nil {
		return t
	}
	if id == 0 || int(id) >= len(b.offs) || b.depth > maxDepth || !b.budget.spend(typeCost) {
		return ctypes.VoidType
	}
	b.depth++
	b.made[id] = ctypes.VoidType // for a type that is, wrongly, made of itself
	t := b.make(b.offs[id])
	b.depth--
	b.made[id] = t
	return t
}

func (b *btf) make(off uint32) *ctypes.Type {
	kind, n, _ := b.info(off)
	name, ref := b.name(b.word(off, 0)), b.word(off, 2)
	switch kind {
	case btfInt:
		return integer(name, int(ref), b.word(off, 3)>>24&1 != 0)
	case btfFloat:
		return opaque(int(ref))
	case btfPtr:
		return ctypes.PointerTo(b.typ(ref))
	case btfArray:
		return array(b.typ(b.word(off, 3)), int(b.word(off, 5)))
	case btfStruct, btfUnion:
		return b.image.lazy(map[uint32]ctypes.Kind{btfStruct: ctypes.Struct, btfUnion: ctypes.Union}[kind], name,
			func(t *ctypes.Type) { b.complete(t, off) })
	case btfEnum, btfEnum64:
		return b.image.lazy(ctypes.Enum, name, func(t *ctypes.Type) { b.enumerate(t, off) })
	case btfFwd:
		return b.image.forward(ctypes.Struct, ctypes.Union, name, b.word(off, 1)>>31 != 0)
	case btfTypedef:
		return ctypes.TypedefOf(name, b.typ(ref))
	case btfFuncProto:
		return b.proto(off, n)
	case btfVolatile, btfConst, btfRestrict, btfTypeTag, btfFunc, btfVar:
		return b.typ(ref)
	}
	return ctypes.VoidType
}

func (b *btf) proto(off, n uint32) *ctypes.Type {
	params, variadic := []*ctypes.Type{}, false
	for i := range b.parts(n) {
		id := b.word(off, 4+2*i)
		if id == 0 && i+1 == n {
			variadic = true
			break
		}
		params = append(params, b.typ(id))
	}
	return ctypes.FuncOf(b.typ(b.word(off, 2)), params, variadic)
}

// parts is n, or 0 if there is no memory for as many members, enumerators or parameters.
func (b *btf) parts(n uint32) uint32 {
	if !b.budget.spend(partCost * int(n)) {
		return 0
	}
	return n
}

func (b *btf) complete(t *ctypes.Type, off uint32) {
	_, n, flag := b.info(off)
	t.Size = int(b.word(off, 2))
	n = b.parts(n)
	t.Fields = make([]ctypes.Field, 0, n)
	for i := range n {
		at, bits := b.word(off, 5+3*i), uint32(0)
		if flag {
			at, bits = at&0xffffff, at>>24
		}
		name := b.name(b.word(off, 3+3*i))
		t.Fields = append(t.Fields, field(name, b.typ(b.word(off, 4+3*i)), int(at), int(bits)))
	}
}

func (b *btf) enumerate(t *ctypes.Type, off uint32) {
	kind, n, signed := b.info(off)
	t.Size, t.Signed = enumSize(int(b.word(off, 2))), signed
	step := uint32(2)
	if kind == btfEnum64 {
		step = 3
	}
	n = b.parts(n)
	t.Enums = make([]ctypes.Enumerator, 0, n)
	for i := range n {
		e := ctypes.Enumerator{Name: b.name(b.word(off, 3+step*i)), Value: int64(int32(b.word(off, 4+step*i)))}
		if step == 3 {
			e.Value = int64(uint64(b.word(off, 5+3*i))<<32 | uint64(b.word(off, 4+3*i)))
		} else if !signed {
			e.Value = int64(b.word(off, 4+step*i))
		}
		t.Enums = append(t.Enums, e)
	}
}
