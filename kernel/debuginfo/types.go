// Package debuginfo reads what a kernel image has of its source: types, functions, and
// where functions have been inlined. Types come from its BTF, where it has one, otherwise
// from its DWARF. Of BTF the types of kernel variables are missing; they come from DWARF.
//
//	name --BTF, or an index of the DWARF--> ctypes.Type, whose structures are read when they are looked into
//	variable --index--> its type in a few letters --> ctypes.Type, structures as above
//	function --index--> its code and its inlined copies
//
// The indices are made once for an image, of its DWARF, and kept. Else nothing is read
// before it is asked for, and nothing is kept but what was. BTF, CTF and DWARF
// give the same types.
package debuginfo

import (
	"cmp"
	"fmt"

	"trapline/kernel"
	"trapline/kernel/ctypes"
)

// Types finds types of one image. It is used by one goroutine at a time, while the image
// is open.
type Types struct {
	img     *kernel.Image
	cache   string  // directory, "" for none
	compact compact // nil: dwarf
	dwarf   *dwarf
	opened  bool
	vars    *nameIndex // of variables
	defs    *nameIndex // of definitions
	memo    map[memoKey]*ctypes.Type
	enums   map[string][]int64 // values of enumerators
	thread  string
	others  Named
	err     error
}

// Named are types by their names.
type Named interface {
	Tagged(kind ctypes.Kind, tag string) (*ctypes.Type, bool)
	Typedef(name string) (*ctypes.Type, bool)
}

type memoKey struct {
	kind ctypes.Kind
	name string
}

// New makes the Types of an image. Indexes are kept in the directory cache; "" keeps none.
// thread is the tag of the structure that curthread points to, "" if there is none.
func New(img *kernel.Image, cache, thread string) *Types {
	return &Types{img: img, cache: cache, thread: thread, memo: make(map[memoKey]*ctypes.Type)}
}

// NewModule makes the Types of a module. What it only names, or does not even, is what others,
// the kernel's, say; others may be nil.
func NewModule(img *kernel.Image, others Named) *Types {
	t := New(img, "", "")
	t.others = others
	return t
}

// Err is the first thing wrong with the type information that was met; what could be read
// is there nevertheless.
func (t *Types) Err() error { return t.err }

func (t *Types) open() {
	if t.opened {
		return
	}
	t.opened = true
	t.guard(t.choose)
}

// A compact is the types of an image in one section that is made for them.
type compact interface {
	tagged(kind ctypes.Kind, tag string) (*ctypes.Type, bool)
	typedef(name string) (*ctypes.Type, bool)
	typeOf(function string) (*ctypes.Type, bool)
	eachEnum(f func(*ctypes.Type))
	memory() *budget
}

// choose reads the BTF, or else the DWARF, or the CTF of an image that has neither.
func (t *Types) choose() {
	if t.compact, t.err = t.openCompact(); t.compact == nil {
		t.dwarf = newDWARF(t.img, t)
	}
}

func (t *Types) openCompact() (compact, error) {
	// A module's BTF counts on from the kernel's (btf.rst, "split BTF").
	if raw, _, ok := t.img.Section(".BTF"); ok && len(raw) > 0 && t.img.Module() == "" {
		b, err := newBTF(raw, t)
		if err != nil {
			return nil, err
		}
		return b, nil
	}
	if raw, ok := hasCTF(t.img); ok && !HasDWARF(t.img) {
		c, err := newCTF(raw, t)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	return nil, nil
}

// Tagged finds a structure, union or enumeration by its tag.
func (t *Types) Tagged(kind ctypes.Kind, tag string) (*ctypes.Type, bool) {
	return t.find(kind, tag, func() (typ *ctypes.Type, ok bool) {
		if t.compact != nil {
			typ, ok = t.compact.tagged(kind, tag)
		} else {
			typ, ok = t.dwarf.tagged(kind, tag)
		}
		if !ok && t.others != nil {
			return t.others.Tagged(kind, tag)
		}
		return typ, ok
	})
}

// Typedef finds a type by its name.
func (t *Types) Typedef(name string) (*ctypes.Type, bool) {
	return t.find(ctypes.Typedef, name, func() (typ *ctypes.Type, ok bool) {
		if t.compact != nil {
			typ, ok = t.compact.typedef(name)
		} else {
			typ, ok = t.dwarf.typedef(name)
		}
		if !ok && t.others != nil {
			return t.others.Typedef(name)
		}
		return typ, ok
	})
}

// Function finds the type of a function: what it returns, and its parameters.
func (t *Types) Function(name string) (*ctypes.Type, bool) {
	return t.find(ctypes.Func, name, func() (*ctypes.Type, bool) {
		if t.compact != nil {
			return t.compact.typeOf(name)
		}
		return t.dwarf.function(name)
	})
}

// find looks a name up once.
func (t *Types) find(kind ctypes.Kind, name string, look func() (*ctypes.Type, bool)) (*ctypes.Type, bool) {
	t.open()
	key := memoKey{kind, name}
	typ, ok := t.memo[key]
	if !ok {
		typ = t.look(look)
		t.memo[key] = typ
	}
	return typ, typ != nil
}

// look looks a name up.
func (t *Types) look(look func() (*ctypes.Type, bool)) (typ *ctypes.Type) {
	t.guard(func() { typ, _ = look() })
	return typ
}

// lazy is a type that complete fills in when it is looked into.
func (t *Types) lazy(kind ctypes.Kind, tag string, complete func(*ctypes.Type)) *ctypes.Type {
	return ctypes.Lazy(kind, tag, func(typ *ctypes.Type) { t.guard(func() { complete(typ) }) })
}

// guard does what reads type information. What goes wrong with it is in Err, then.
func (t *Types) guard(read func()) {
	err := func() (err error) {
		defer kernel.Recover(&err)
		read()
		return t.spent()
	}()
	if err != nil {
		t.fail(err)
	}
}

func (t *Types) fail(err error) {
	if t.img != nil {
		err = fmt.Errorf("%s: %w", t.img.Name(), err)
	}
	t.err = cmp.Or(t.err, err)
}

// spent is the error of types that would take more memory than they may.
func (t *Types) spent() error {
	if t.compact != nil && t.compact.memory().err() != nil {
		return t.compact.memory().err()
	}
	if t.dwarf != nil {
		return t.dwarf.budget.err()
	}
	return nil
}

// spend takes memory for what is made of types.
func (t *Types) spend(n int) bool {
	if t.compact != nil {
		return t.compact.memory().spend(n)
	}
	return t.dwarf.budget.spend(n)
}

// Thread is the type of the structure that the kernel keeps of a thread, nil if the image
// does not tell of it.
func (t *Types) Thread() *ctypes.Type {
	if t.thread == "" {
		return nil
	}
	return t.lazy(ctypes.Struct, t.thread, func(lazy *ctypes.Type) {
		if typ, ok := t.Tagged(ctypes.Struct, t.thread); ok {
			b := typ.Base()
			lazy.Size, lazy.Fields = b.Size, b.Fields
		}
	})
}

// forward is a structure or union with only its tag known here: it may be defined
// elsewhere in the image.
func (t *Types) forward(plain, other ctypes.Kind, tag string, isOther bool) *ctypes.Type {
	kind := plain
	if isOther {
		kind = other
	}
	return t.lazy(kind, tag, func(lazy *ctypes.Type) {
		if typ, ok := t.Tagged(kind, tag); ok && typ != lazy {
			b := typ.Base()
			lazy.Size, lazy.Signed, lazy.Fields, lazy.Enums = b.Size, b.Signed, b.Fields, b.Enums
		}
	})
}
