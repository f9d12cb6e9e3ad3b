package debuginfo

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"trapline/kernel"
	"trapline/kernel/ctypes"
)

// ctfSection is where FreeBSD's kernels and modules have their types.
const ctfSection = ".SUNW_ctf"

// ctf is a section .SUNW_ctf in version 3 (ctf(5) of FreeBSD 14). As with BTF one pass finds where each
// type begins, and a name is looked for by a walk. What types functions and variables have is in two
// lists, in the order of the symbol table.
type ctf struct {
	types []byte
	strs  []byte
	offs  []uint32 // by type number: where it begins in types; 0 is none
	made  map[uint32]*ctypes.Type
	image *Types
	depth int

	objects, functions []byte
	symbols            func() ctfSymbols

	budget *budget
}

// ctfSymbols is where in a list the type of a symbol is, by name.
type ctfSymbols struct{ objects, functions map[string]uint32 }

const (
	ctfInteger = iota + 1
	ctfFloat
	ctfPointer
	ctfArray
	ctfFunction
	ctfStruct
	ctfUnion
	ctfEnum
	ctfForward
	ctfTypedef
	ctfVolatile
	ctfConst
	ctfRestrict
)

const (
	ctfHeader = 36
	ctfLarge  = 0xffffffff // a size that takes 64 bits
	ctfWide   = 1 << 29    // bytes of a structure whose members have offsets of 64 bits
	ctfSigned = 1          // of an integer
	maxCTF    = 64 << 20   // bytes of the section when it is decompressed
)

// newCTF reads the header and finds the types.
func newCTF(raw []byte, image *Types) (*ctf, error) {
	if len(raw) < ctfHeader || le.Uint16(raw) != 0xcff1 || raw[2] != 3 {
		return nil, errors.New("CTF: no header of version 3")
	}
	body, err := ctfBody(raw)
	if err != nil {
		return nil, err
	}
	c := &ctf{offs: []uint32{0}, made: make(map[uint32]*ctypes.Type), image: image, budget: newBudget(0, body)}
	at := func(i int) uint64 { return uint64(le.Uint32(raw[12+4*i:])) }
	objects, functions, types, strs := at(1), at(2), at(3), at(4)
	end := strs + at(5)
	if objects > functions || functions > types || types > strs || end > uint64(len(body)) {
		return nil, errors.New("CTF: a part is outside of the section")
	}
	c.objects, c.functions = body[objects:functions], body[functions:types]
	c.types, c.strs = body[types:strs], body[strs:end]
	c.symbols = sync.OnceValue(c.bySymbol)
	return c, c.index()
}

// ctfBody is what follows the header, decompressed if need be. A small section does not become as much
// memory as it likes: zlib makes at most 1032 bytes of one.
func ctfBody(raw []byte) ([]byte, error) {
	body, compressed := raw[ctfHeader:], raw[3]&1 != 0
	if !compressed {
		return body, nil
	}
	z, err := zlib.NewReader(bytes.NewReader(body))
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(z, maxCTF+1))
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("CTF: decompressing: %w", err)
	case len(body) > maxCTF:
		return nil, fmt.Errorf("CTF: it decompresses to more than %d MiB", maxCTF>>20)
	}
	return body, nil
}

func (c *ctf) index() error {
	c.offs = make([]uint32, 1, 1+len(c.types)/16)
	for off := uint64(0); off < uint64(len(c.types)); {
		if uint64(len(c.types))-off < 12 {
			return errors.New("CTF: a type is cut off")
		}
		c.offs = append(c.offs, uint32(off))
		kind, n := c.info(uint32(off))
		head, each := c.head(uint32(off)), uint64(0)
		switch kind {
		case ctfInteger, ctfFloat:
			head += 4
		case ctfArray:
			head += 12
		case ctfFunction:
			each = 4
		case ctfEnum:
			each = 8
		case ctfStruct, ctfUnion:
			each = 12
			if uint64(len(c.types))-off >= head && c.size(uint32(off)) >= ctfWide {
				each = 16
			}
		}
		if kind > ctfRestrict {
			return fmt.Errorf("CTF: type %d is of the unknown kind %d", len(c.offs)-1, kind)
		}
		if off += head + each*uint64(n); off > uint64(len(c.types)) {
			return errors.New("CTF: a type is cut off")
		}
	}
	return nil
}

// info is the kind of the type at off and its number of parts.
func (c *ctf) info(off uint32) (kind, n uint32) {
	v := le.Uint32(c.types[off+4:])
	return v >> 26, v & 0xffffff
}

// word is the i-th word of the type at off: its name, info, size or type.
func (c *ctf) word(off, i uint32) uint32 { return le.Uint32(c.types[off+4*i:]) }

// head is the bytes of what every type has.
func (c *ctf) head(off uint32) uint64 {
	if c.word(off, 2) == ctfLarge {
		return 20
	}
	return 12
}

// size is the bytes of a value of the type.
func (c *ctf) size(off uint32) uint64 {
	if c.word(off, 2) == ctfLarge {
		return uint64(c.word(off, 3))<<32 | uint64(c.word(off, 4))
	}
	return uint64(c.word(off, 2))
}

// after is the i-th word of what follows the head.
func (c *ctf) after(off, i uint32) uint32 {
	return le.Uint32(c.types[uint64(off)+c.head(off)+4*uint64(i):])
}

// name is a name that is kept. Bit 31 would mean the ELF file's own string table.
func (c *ctf) name(at uint32) string {
	if at>>31 != 0 {
		return ""
	}
	s := stringIn(c.strs, uint64(at))
	if !c.budget.spend(len(s)) {
		return ""
	}
	return string(s)
}

// named looks for a type of a kind by its name.
func (c *ctf) named(name string, kind uint32) (*ctypes.Type, bool) {
	for id := 1; id < len(c.offs); id++ {
		off := c.offs[id]
		if k, _ := c.info(off); k != kind {
			continue
		}
		// The NUL is compared too: a name that only begins alike is another.
		if at := uint64(c.word(off, 0)); at+uint64(len(name)) < uint64(len(c.strs)) && c.strs[at+uint64(len(name))] == 0 &&
			string(c.strs[at:at+uint64(len(name))]) == name {
			return c.typ(uint32(id)), true
		}
	}
	return nil, false
}

var ctfTagKinds = map[ctypes.Kind]uint32{ctypes.Struct: ctfStruct, ctypes.Union: ctfUnion, ctypes.Enum: ctfEnum}

func (c *ctf) tagged(kind ctypes.Kind, tag string) (*ctypes.Type, bool) {
	k, ok := ctfTagKinds[kind]
	if !ok || tag == "" {
		return nil, false
	}
	return c.named(tag, k)
}

func (c *ctf) typedef(name string) (*ctypes.Type, bool) { return c.named(name, ctfTypedef) }

func (c *ctf) memory() *budget { return c.budget }

func (c *ctf) eachEnum(f func(*ctypes.Type)) {
	for id, off := range c.offs[1:] {
		if kind, _ := c.info(off); kind == ctfEnum {
			f(c.typ(uint32(id + 1)))
		}
	}
}

// typ is a type by its number, made once.
func (c *ctf) typ(id uint32) *ctypes.Type {
	if t := c.made[id]; t != nil {
		return t
	}
	if id == 0 || uint64(id) >= uint64(len(c.offs)) || c.depth > maxDepth || !c.budget.spend(typeCost) {
		return ctypes.VoidType
	}
	c.depth++
	c.made[id] = ctypes.VoidType // for a type that is, wrongly, made of itself
	t := c.make(c.offs[id])
	c.depth--
	c.made[id] = t
	return t
}

func (c *ctf) make(off uint32) *ctypes.Type {
	kind, n := c.info(off)
	name, ref := c.name(c.word(off, 0)), c.word(off, 2)
	switch kind {
	case ctfInteger:
		name, encoding := c.integerName(off), c.after(off, 0)
		return integer(name, ctfBytes(encoding), encoding>>24&ctfSigned != 0 && name != "_Bool") // ctfconvert has a truth value signed
	case ctfFloat:
		return opaque(ctfBytes(c.after(off, 0)))
	case ctfPointer:
		return ctypes.PointerTo(c.typ(ref))
	case ctfArray:
		return array(c.typ(c.after(off, 0)), int(int32(c.after(off, 2))))
	case ctfStruct, ctfUnion:
		return c.image.lazy(map[uint32]ctypes.Kind{ctfStruct: ctypes.Struct, ctfUnion: ctypes.Union}[kind], name,
			func(t *ctypes.Type) { c.complete(t, off) })
	case ctfEnum:
		return c.image.lazy(ctypes.Enum, name, func(t *ctypes.Type) { c.enumerate(t, off) })
	case ctfForward:
		return c.image.forward(ctypes.Struct, ctypes.Union, name, ref == ctfUnion)
	case ctfTypedef:
		return ctypes.TypedefOf(name, c.typ(ref))
	case ctfFunction:
		return c.function(ref, n, func(i uint32) uint32 { return c.after(off, i) })
	case ctfVolatile, ctfConst, ctfRestrict:
		return c.typ(ref)
	}
	return ctypes.VoidType
}

// ctfBytes is the size of a number by its encoding: the bits of a bit-field are fewer than those of its
// type, which is taken to be the smallest that has as many.
func ctfBytes(encoding uint32) int {
	bits := int(encoding & 0xffff)
	for _, n := range []int{1, 2, 4, 8} {
		if bits <= 8*n {
			return n
		}
	}
	return (bits + 7) / 8
}

// function is the type of a function of n parameters. A last one without a type stands for more.
func (c *ctf) function(returns, n uint32, param func(i uint32) uint32) *ctypes.Type {
	if !c.budget.spend(partCost * int(n)) {
		n = 0
	}
	params, variadic := []*ctypes.Type{}, false
	for i := range n {
		id := param(i)
		if id == 0 && i+1 == n {
			variadic = true
			break
		}
		params = append(params, c.typ(id))
	}
	return ctypes.FuncOf(c.typ(returns), params, variadic)
}

func (c *ctf) complete(t *ctypes.Type, off uint32) {
	_, n := c.info(off)
	size := c.size(off)
	t.Size = int(min(size, ctypes.MaxBytes))
	if !c.budget.spend(partCost * int(n)) {
		n = 0
	}
	t.Fields = make([]ctypes.Field, 0, n)
	for i := range n {
		step, at := uint32(3), uint64(0)
		if size >= ctfWide {
			step = 4
			at = uint64(c.after(off, step*i+2))<<32 | uint64(c.after(off, step*i+3))
		} else {
			at = uint64(c.after(off, step*i+2))
		}
		id := c.after(off, step*i+1)
		name, bits := c.name(c.after(off, step*i)), c.bits(id)
		t.Fields = append(t.Fields, field(name, c.whole(id, bits), int(min(at, 8*ctypes.MaxBytes)), bits))
	}
}

// bits is the width of a member of a type if that makes it a bit-field, otherwise 0.
func (c *ctf) bits(id uint32) int {
	off, ok := c.integerAt(id)
	if !ok {
		return 0
	}
	bits := int(c.after(off, 0) & 0xffff)
	if uint64(bits) == 8*c.size(off) && bits >= 8 && bits&(bits-1) == 0 {
		return 0
	}
	return bits
}

// whole is the type of a member: of a bit-field, the integer of that name that has all its bits.
func (c *ctf) whole(id uint32, bits int) *ctypes.Type {
	off, ok := c.integerAt(id)
	if bits == 0 || !ok {
		return c.typ(id)
	}
	if t, known := ctypes.Arithmetic(strings.Fields(c.integerName(off))); known {
		return t
	}
	return c.typ(id)
}

// integerName is the name of an integer. FreeBSD's ctfconvert calls that of a bit-field "unsigned int
// bitfield".
func (c *ctf) integerName(off uint32) string {
	return strings.TrimSuffix(c.name(c.word(off, 0)), " bitfield")
}

// integerAt is where the integer begins that a number means, under other names of it.
func (c *ctf) integerAt(id uint32) (off uint32, ok bool) {
	for range maxDepth {
		if id == 0 || uint64(id) >= uint64(len(c.offs)) {
			return 0, false
		}
		off = c.offs[id]
		switch kind, _ := c.info(off); kind {
		case ctfInteger:
			return off, true
		case ctfTypedef, ctfVolatile, ctfConst:
			id = c.word(off, 2)
		default:
			return 0, false
		}
	}
	return 0, false
}

func (c *ctf) enumerate(t *ctypes.Type, off uint32) {
	_, n := c.info(off)
	t.Size = enumSize(int(min(c.size(off), ctypes.MaxBytes)))
	if !c.budget.spend(partCost * int(n)) {
		n = 0
	}
	t.Enums = make([]ctypes.Enumerator, 0, n)
	for i := range n {
		value := int32(c.after(off, 2*i+1))
		t.Signed = t.Signed || value < 0
		t.Enums = append(t.Enums, ctypes.Enumerator{Name: c.name(c.after(off, 2*i)), Value: int64(value)})
	}
}

// typeOf is the type of a function by its name.
func (c *ctf) typeOf(name string) (*ctypes.Type, bool) {
	at, ok := c.symbols().functions[name]
	if !ok {
		return nil, false
	}
	list := c.functions[at:]
	n := le.Uint32(list) & 0xffffff
	return c.function(le.Uint32(list[4:]), n, func(i uint32) uint32 { return le.Uint32(list[8+4*i:]) }), true
}

// variable is the type of a variable by its name.
func (c *ctf) variable(name string) (*ctypes.Type, bool) {
	at, ok := c.symbols().objects[name]
	if !ok {
		return nil, false
	}
	if id := le.Uint32(c.objects[at:]); id != 0 {
		return c.typ(id), true
	}
	return nil, false
}

// bySymbol goes through the lists and the symbol table, which have one order. A function that nothing
// is known of has one word in its list. The first symbol of a name counts.
func (c *ctf) bySymbol() ctfSymbols {
	all := ctfSymbols{map[string]uint32{}, map[string]uint32{}}
	var object, function uint32
	c.image.img.EachSymbol(func(name string, s elf.Symbol) {
		switch elf.ST_TYPE(s.Info) {
		case elf.STT_OBJECT:
			absolute := s.Section == elf.SHN_ABS && s.Value == 0
			if absolute || uint64(object)+4 > uint64(len(c.objects)) {
				return
			}
			first(all.objects, name, object)
			object += 4
		case elf.STT_FUNC:
			if uint64(function)+4 > uint64(len(c.functions)) {
				return
			}
			info := le.Uint32(c.functions[function:])
			if info == 0 {
				function += 4
				return
			}
			end := uint64(function) + 8 + 4*uint64(info&0xffffff)
			if end <= uint64(len(c.functions)) {
				first(all.functions, name, function)
			}
			function = uint32(min(end, uint64(len(c.functions))))
		}
	})
	return all
}

func first(of map[string]uint32, name string, at uint32) {
	if _, known := of[name]; !known {
		of[name] = at
	}
}

// hasCTF is the section of an image, if it has one.
func hasCTF(img *kernel.Image) ([]byte, bool) {
	raw, _, ok := img.Section(ctfSection)
	return raw, ok && len(raw) > 0
}
