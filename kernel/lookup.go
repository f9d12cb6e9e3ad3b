package kernel

// nameIndex finds symbols by name without a slice for each: first is the index of one
// symbol of that name, next chains to another (-1 ends). Indices count syms, then fixed.
type nameIndex struct {
	first map[string]int32
	next  []int32
}

func (t *Symtab) makeIndex() nameIndex {
	n := len(t.syms) + len(t.fixed)
	idx := nameIndex{make(map[string]int32, n), make([]int32, n)}
	for i := n - 1; i >= 0; i-- {
		name := t.symbol(int32(i)).Name
		idx.next[i] = -1
		if first, ok := idx.first[name]; ok {
			idx.next[i] = first
		}
		idx.first[name] = int32(i)
	}
	return idx
}

// symbol is symbol i of syms, then fixed, as the running kernel has it.
func (t *Symtab) symbol(i int32) Symbol {
	if int(i) < len(t.syms) {
		return t.slid(t.syms[i])
	}
	return t.fixed[int(i)-len(t.syms)]
}

// Lookup finds every symbol of that name, in order of address (per-CPU offsets and
// absolute values last): local functions of several source files may share one. There is
// none if the image is stripped, see Err.
func (t *Symtab) Lookup(name string) []Symbol {
	idx := t.index()
	i, ok := idx.first[name]
	if !ok {
		return nil
	}
	var found []Symbol
	for ; i >= 0; i = idx.next[i] {
		found = append(found, t.symbol(i))
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
		found = append(found, t.slid(s))
	}
	return found
}

func (t *Symtab) containerMatches(label int, pattern string) bool {
	i, ok := t.at(t.syms[label].Addr)
	return ok && !t.syms[i].Label && Match(pattern, t.syms[i].Name)
}
