package kernel

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// nameIndex finds entries by name without a slice for each. Names with the same hash are
// in one chain: first is where it begins (-1: nowhere), by hash, and next is the one after
// an entry.
type nameIndex struct {
	seed  maphash.Seed
	first []int32 // a power of two long
	next  []int32
}

func (t *Symtab) makeIndex() nameIndex {
	n := len(t.entries)
	idx := nameIndex{maphash.MakeSeed(), make([]int32, 1<<bits.Len(uint(n))), make([]int32, n)}
	for i := range idx.first {
		idx.first[i] = -1
	}
	for i := n - 1; i >= 0; i-- {
		first := idx.chain(t.name(&t.entries[i]))
		idx.next[i], *first = *first, int32(i)
	}
	return idx
}

// chain is where the chain begins that a name is in.
func (idx *nameIndex) chain(name string) *int32 {
	return &idx.first[maphash.String(idx.seed, name)&uint64(len(idx.first)-1)]
}

// named are the entries of a name in the order of Lookup: those that slide as compare has
// them, then the fixed ones as the file has them.
func (t *Symtab) named(name string) []*entry {
	idx := t.index()
	var sliding, fixed []*entry
	for i := *idx.chain(name); i >= 0; i = idx.next[i] {
		switch e := &t.entries[i]; {
		case t.name(e) != name:
		case e.fixed:
			fixed = append(fixed, e)
		default:
			sliding = append(sliding, e)
		}
	}
	slices.SortFunc(sliding, t.compare)
	return append(sliding, fixed...)
}

// Lookup finds every symbol of that name, mangled or not, in order of address (per-CPU offsets and
// absolute values last): local functions of several source files may share one. There is
// none if the image is stripped, see Err.
//
// A name that stands for a function that the kernel chooses when it boots finds that one, once
// Resolve has.
func (t *Symtab) Lookup(name string) []Symbol {
	var found []Symbol
	for _, e := range t.named(Demangle(name)) {
		if e.indirect {
			if s, ok := t.indirectly(name); ok {
				return []Symbol{s}
			}
		}
		s, ok := t.symbol(e, t.size(e)), true
		if !e.fixed {
			s, ok = t.running(s)
		}
		if ok {
			found = append(found, s)
		}
	}
	return found
}

// Value is the address of the first symbol that Lookup would find.
func (t *Symtab) Value(name string) (addr uint64, ok bool) {
	for _, e := range t.named(name) {
		if e.fixed {
			return e.addr, true
		}
		if addr, ok := t.img.Run(e.addr); ok {
			return addr, true
		}
	}
	return 0, false
}

// size is that of a symbol; a label's takes the order.
func (t *Symtab) size(e *entry) uint64 {
	if !e.label {
		return e.size
	}
	o := t.order()
	i := o.from(e.addr)
	for &t.entries[o[i].entry] != e {
		i++
	}
	return o[i].end - o[i].addr
}

// Glob finds the functions whose names match (see [Match]), one for each address under
// the best name that matches, in order of address. A label inside a function is left out
// when the function matches too, so that "*" names no instruction twice.
func (t *Symtab) Glob(pattern string) []Symbol {
	var found []Symbol
	last := ^uint64(0)
	o := t.order()
	for i := range o {
		p := &o[i]
		e := &t.entries[p.entry]
		if !e.code || p.addr == last || !Match(pattern, t.name(e)) || p.label && t.containerMatches(p.addr, pattern) {
			continue
		}
		last = p.addr
		if s, ok := t.running(t.placed(p)); ok {
			found = append(found, s)
		}
	}
	return found
}

func (t *Symtab) containerMatches(label uint64, pattern string) bool {
	o := t.order()
	i, ok := o.at(label)
	return ok && !o[i].label && Match(pattern, t.name(&t.entries[o[i].entry]))
}
