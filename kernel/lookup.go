package kernel

import (
	"hash/maphash"
	"math/bits"
)

// nameIndex finds symbols by name without a slice for each. Names with the same hash are
// in one chain: first is where it begins (-1: nowhere), by hash, and next is the one after
// a symbol. Indices count syms, then fixed, and go up in a chain.
type nameIndex struct {
	seed  maphash.Seed
	first []int32 // a power of two long
	next  []int32
}

func (t *Symtab) makeIndex() nameIndex {
	n := len(t.syms) + len(t.fixed)
	idx := nameIndex{maphash.MakeSeed(), make([]int32, 1<<bits.Len(uint(n))), make([]int32, n)}
	for i := range idx.first {
		idx.first[i] = -1
	}
	for i := n - 1; i >= 0; i-- {
		first := idx.chain(t.name(int32(i)))
		idx.next[i], *first = *first, int32(i)
	}
	return idx
}

// chain is where the chain begins that a name is in.
func (idx *nameIndex) chain(name string) *int32 {
	return &idx.first[maphash.String(idx.seed, name)&uint64(len(idx.first)-1)]
}

func (t *Symtab) name(i int32) string {
	if int(i) < len(t.syms) {
		return t.syms[i].Name
	}
	return t.fixed[int(i)-len(t.syms)].Name
}

// symbol is symbol i of syms, then fixed, as the running kernel has it.
func (t *Symtab) symbol(i int32) (Symbol, bool) {
	if int(i) < len(t.syms) {
		return t.slid(t.syms[i])
	}
	return t.fixed[int(i)-len(t.syms)], true
}

// Lookup finds every symbol of that name, in order of address (per-CPU offsets and
// absolute values last): local functions of several source files may share one. There is
// none if the image is stripped, see Err.
func (t *Symtab) Lookup(name string) []Symbol {
	idx := t.index()
	var found []Symbol
	for i := *idx.chain(name); i >= 0; i = idx.next[i] {
		if t.name(i) != name {
			continue
		}
		if s, ok := t.symbol(i); ok {
			found = append(found, s)
		}
	}
	return found
}

// Glob finds the functions whose names match (see [Match]), one for each address under
// the best name that matches, in order of address. A label inside a function is left out
// when the function matches too, so that "*" names no instruction twice.
func (t *Symtab) Glob(pattern string) []Symbol {
	var found []Symbol
	last := ^uint64(0)
	for i, s := range t.syms {
		if !s.Func || s.Addr == last || !Match(pattern, s.Name) {
			continue
		}
		if s.Label && t.containerMatches(i, pattern) {
			continue
		}
		last = s.Addr
		if s, ok := t.slid(s); ok {
			found = append(found, s)
		}
	}
	return found
}

func (t *Symtab) containerMatches(label int, pattern string) bool {
	i, ok := t.at(t.syms[label].Addr)
	return ok && !t.syms[i].Label && Match(pattern, t.syms[i].Name)
}
