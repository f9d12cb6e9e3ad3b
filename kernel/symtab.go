package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
)

// A Symbol is a name of the image's symbol table and what it names.
type Symbol struct {
	Name string
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
type Symtab struct {
	img *Image
	err error

	// syms have addresses that slide; they are sorted by address, best name first. fixed
	// are per-CPU offsets and absolute values.
	syms, fixed []Symbol
	reach       []uint64 // reach[i] is the highest end of a symbol in syms[:i+1]

	index func() nameIndex
	funcs struct {
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
	if t.err = t.read(); t.err == nil && len(t.syms) == 0 {
		t.err = ErrNoSymbols
	}
	if t.err != nil {
		t.err = fmt.Errorf("kernel image %s: %w", img.name, t.err)
		return t
	}
	t.fill(sectionEnds(img))
	t.reach = reach(t.syms)
	return t
}

// Err says why the table is empty: an error that wraps ErrNoSymbols, or that the table
// could not be read. It is nil when there are symbols.
func (t *Symtab) Err() error { return t.err }

// compare orders by address, then the best name: one whose size the table gives before one
// filled in, global before local before weak, then the shortest, then by alphabet.
func compare(a, b Symbol) int {
	if a.Addr != b.Addr {
		return cmp.Compare(a.Addr, b.Addr)
	}
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	if c := cmp.Compare(len(a.Name), len(b.Name)); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

func rank(s Symbol) int {
	r := 1
	switch {
	case s.Global:
		r = 0
	case s.Weak:
		r = 2
	}
	if s.Label {
		r += 3
	}
	return r
}

// fill gives labels the bytes up to the next symbol, or to the end of the symbol or
// section that they lie in if that is nearer. syms are sorted.
func (t *Symtab) fill(ends []span) {
	next, cover := ^uint64(0), reach(t.syms)
	for i := len(t.syms) - 1; i >= 0; i-- {
		s := &t.syms[i]
		if i+1 < len(t.syms) && t.syms[i+1].Addr > s.Addr {
			next = t.syms[i+1].Addr
		}
		if !s.Label {
			continue
		}
		end := min(next, endOf(ends, s.Addr))
		if cover[i] > s.Addr {
			end = min(end, cover[i])
		}
		s.Size = end - s.Addr
	}
}

func reach(syms []Symbol) []uint64 {
	r, high := make([]uint64, len(syms)), uint64(0)
	for i, s := range syms {
		high = max(high, s.Addr+s.Size)
		r[i] = high
	}
	return r
}

// slid is a symbol of syms as the running kernel has it; it is not ok in a piece of a
// module that has not been loaded.
func (t *Symtab) slid(s Symbol) (_ Symbol, ok bool) {
	s.Addr, ok = t.img.Run(s.Addr)
	return s, ok
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
	return t.slid(s)
}

// AtLink is At by link-time addresses, those of the symbol too.
func (t *Symtab) AtLink(link uint64) (Symbol, bool) {
	i, ok := t.at(link)
	if !ok {
		return Symbol{}, false
	}
	return t.syms[i], true
}

// at is At by link-time address, giving the index in syms.
func (t *Symtab) at(link uint64) (int, bool) {
	label := -1
	n := sort.Search(len(t.syms), func(i int) bool { return t.syms[i].Addr > link })
	for i := n - 1; i >= 0 && t.reach[i] > link; i-- {
		switch s := &t.syms[i]; {
		case link-s.Addr >= s.Size:
		case !s.Label:
			return t.best(i, link), true
		case label < 0:
			label = t.best(i, link)
		}
	}
	return label, label >= 0
}

// best is the best name for what syms[i] names, given that it covers link.
func (t *Symtab) best(i int, link uint64) int {
	best := i
	for j := i - 1; j >= 0 && t.syms[j].Addr == t.syms[i].Addr; j-- {
		if s := &t.syms[j]; link-s.Addr < s.Size && s.Label == t.syms[i].Label {
			best = j
		}
	}
	return best
}

// Aliases are all symbols at exactly addr, best name first.
func (t *Symtab) Aliases(addr uint64) []Symbol {
	link, ok := t.img.Link(addr)
	if !ok {
		return nil
	}
	i := sort.Search(len(t.syms), func(i int) bool { return t.syms[i].Addr >= link })
	var all []Symbol
	for ; i < len(t.syms) && t.syms[i].Addr == link; i++ {
		s := t.syms[i]
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
	funcs := make([]Symbol, 0, len(t.syms)/2)
	last := ^uint64(0)
	for i, s := range t.syms {
		if !s.Func || s.Addr == last || s.Label && t.inside(i) {
			continue
		}
		last = s.Addr
		if s, ok := t.slid(s); ok {
			funcs = append(funcs, s)
		}
	}
	return funcs
}

// inside tells whether the label syms[i] is a part of a symbol that has a size.
func (t *Symtab) inside(i int) bool {
	j, ok := t.at(t.syms[i].Addr)
	return ok && !t.syms[j].Label
}
