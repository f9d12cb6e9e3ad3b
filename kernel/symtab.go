package kernel

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// A Symbol is a name of the image's symbol table and what it names.
type Symbol struct {
	Name string // see Demangle
	Addr uint64 // with the slide, unless it is a per-CPU offset or absolute
	Size uint64 // bytes; of functions and labels filled in where the table has none

	Func   bool // code: an STT_FUNC, or an assembler label in an executable section
	Global bool // STB_GLOBAL
	Weak   bool // STB_WEAK
	Init   bool // in memory that the kernel frees after boot (.init*, .exit*)
	// Label: the table gives it no size. It reaches to the next symbol or to the end of
	// what it lies in, so it may be a part of a function: native_irq_return_iret is one of
	// common_interrupt_return.
	Label bool
}

// Symtab is a kernel's symbol table. Section, file, mapping and undefined symbols are
// left out.
//
// Of the file's table it keeps what is wanted, in the file's order. What finds symbols in
// that, by name and by address, is made when it is first asked for: most traces name a
// few functions and no address.
type Symtab struct {
	img     *Image
	err     error
	strs    string // the string table, which all names share
	entries []entry
	span    span // of the functions

	index func() nameIndex
	order func() order
	// indirect is made when a name is asked for that the kernel chooses a function for, if it has some.
	indirect    func() *indirect
	hasIndirect bool
	funcs       struct {
		sync.Mutex
		syms  []Symbol
		moves int // of the image, when they were found
	}
}

// ErrNoSymbols is what [Symtab.Err] wraps for a stripped image.
var ErrNoSymbols = errors.New("no symbols (the image is stripped)")

func newSymtab(img *Image) *Symtab {
	t := &Symtab{img: img}
	t.index = sync.OnceValue(t.makeIndex)
	t.order = sync.OnceValue(t.makeOrder)
	t.indirect = sync.OnceValue(func() *indirect {
		return &indirect{words: img.findIndirect(), chosen: map[string]Symbol{}, asked: map[string]bool{}}
	})
	if t.err = t.read(); t.err == nil && !slices.ContainsFunc(t.entries, func(e entry) bool { return !e.fixed }) {
		t.err = ErrNoSymbols
	}
	if t.err != nil {
		t.err = fmt.Errorf("kernel image %s: %w", img.name, t.err)
	}
	return t
}

// Err says why the table is empty: an error that wraps ErrNoSymbols, or that the table
// could not be read. It is nil when there are symbols.
func (t *Symtab) Err() error { return t.err }

// symbol is an entry with its size, at its link-time address.
func (t *Symtab) symbol(e *entry, size uint64) Symbol {
	return Symbol{
		Name: t.name(e), Addr: e.addr, Size: size,
		Func: e.code, Global: e.global, Weak: e.weak, Init: e.init, Label: e.label,
	}
}

func (t *Symtab) name(e *entry) string { return stringAt(t.strs, e.name) }

// running is a symbol as the running kernel has it; it is not ok in a piece of a module
// that has not been loaded.
func (t *Symtab) running(s Symbol) (_ Symbol, ok bool) {
	s.Addr, ok = t.img.Run(s.Addr)
	return s, ok
}

// Span is where the functions of the kernel proper lie, [lo, hi): a label counts for its
// first byte. Without functions it is empty.
func (t *Symtab) Span() (lo, hi uint64) {
	if t.span.hi == 0 {
		return 0, 0
	}
	return t.span.lo + t.img.slide, t.span.hi + t.img.slide
}

// At finds the symbol that covers addr, by its best name: the innermost one whose size
// the table gives, else a label. Per-CPU offsets and absolute values cover nothing.
func (t *Symtab) At(addr uint64) (Symbol, bool) {
	link, ok := t.img.Link(addr)
	if !ok {
		return Symbol{}, false
	}
	s, ok := t.AtLink(link)
	if !ok {
		return Symbol{}, false
	}
	return t.running(s)
}

// AtLink is At by link-time addresses, those of the symbol too.
func (t *Symtab) AtLink(link uint64) (Symbol, bool) {
	o := t.order()
	i, ok := o.at(link)
	if !ok {
		return Symbol{}, false
	}
	return t.placed(&o[i]), true
}

// placed is the symbol at a place.
func (t *Symtab) placed(p *place) Symbol { return t.symbol(&t.entries[p.entry], p.end-p.addr) }

// Aliases are all symbols at exactly addr, best name first.
func (t *Symtab) Aliases(addr uint64) []Symbol {
	link, ok := t.img.Link(addr)
	if !ok {
		return nil
	}
	var all []Symbol
	o := t.order()
	for i := o.from(link); i < len(o) && o[i].addr == link; i++ {
		s := t.placed(&o[i])
		s.Addr = addr
		all = append(all, s)
	}
	return all
}

// Funcs are the functions of the image, one for each address under its best name, in
// order of link-time address. Labels inside a function are not among them. The slice is shared and
// must not be changed.
func (t *Symtab) Funcs() []Symbol {
	t.funcs.Lock()
	defer t.funcs.Unlock()
	if t.funcs.syms == nil || t.funcs.moves != t.img.moves {
		t.funcs.syms, t.funcs.moves = t.allFuncs(), t.img.moves
	}
	return t.funcs.syms
}

func (t *Symtab) allFuncs() []Symbol {
	o := t.order()
	funcs := make([]Symbol, 0, len(o)/2)
	last := ^uint64(0)
	for i := range o {
		p := &o[i]
		if !t.entries[p.entry].code || p.addr == last || p.label && o.inside(p.addr) {
			continue
		}
		last = p.addr
		if s, ok := t.running(t.placed(p)); ok {
			funcs = append(funcs, s)
		}
	}
	return funcs
}
