package kernel

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// An order is the symbols whose addresses slide, by address, those of one address by the
// best name.
type order []place

// A place is an entry where it belongs. Addresses are those of link time.
type place struct {
	addr, end uint64
	reach     uint64 // the highest end of it and of all before it
	entry     int32
	label     bool
}

// makeOrder sorts the entries and fills in the sizes of labels.
func (t *Symtab) makeOrder() order {
	o := make(order, 0, len(t.entries))
	for i := range t.entries {
		if e := &t.entries[i]; !e.fixed {
			o = append(o, place{addr: e.addr, end: e.addr + e.size, entry: int32(i), label: e.label})
		}
	}
	o = byAddress(o)
	t.sortAliases(o)
	o.setReach()
	o.fill(sectionEnds(t.img))
	o.setReach()
	return o
}

// compare orders entries by address, then the best name: one whose size the table gives
// before one filled in, global before local before weak, then the shortest, then by
// alphabet.
func (t *Symtab) compare(a, b *entry) int {
	if a.addr != b.addr {
		return cmp.Compare(a.addr, b.addr)
	}
	if c := cmp.Compare(a.rank(), b.rank()); c != 0 {
		return c
	}
	x, y := t.name(a), t.name(b)
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
}

func (e *entry) rank() int {
	r := 1
	switch {
	case e.global:
		r = 0
	case e.weak:
		r = 2
	}
	if e.label {
		r += 3
	}
	return r
}

// sortAliases orders places, which are in the order of their addresses, as compare says.
func (t *Symtab) sortAliases(o order) {
	for i, j := 0, 0; i < len(o); i = j {
		for j = i + 1; j < len(o) && o[j].addr == o[i].addr; j++ {
		}
		if j > i+1 {
			slices.SortFunc(o[i:j], func(a, b place) int { return t.compare(&t.entries[a.entry], &t.entries[b.entry]) })
		}
	}
}

// byAddress sorts places digit by digit, the lowest first. A kernel's symbols lie within
// some megabytes, so that three passes do.
func byAddress(places order) order {
	const digit = 11
	lo, hi := ^uint64(0), uint64(0)
	for i := range places {
		lo, hi = min(lo, places[i].addr), max(hi, places[i].addr)
	}
	other := make(order, len(places))
	for shift := 0; hi > lo && shift < bits.Len64(hi-lo); shift += digit {
		var next [1 << digit]int // where the next place with a digit goes
		for i := range places {
			next[(places[i].addr-lo)>>shift%(1<<digit)]++
		}
		sum := 0
		for i, n := range next {
			next[i] = sum
			sum += n
		}
		for i := range places {
			d := &next[(places[i].addr-lo)>>shift%(1<<digit)]
			other[*d] = places[i]
			*d++
		}
		places, other = other, places
	}
	return places
}

func (o order) setReach() {
	high := uint64(0)
	for i := range o {
		high = max(high, o[i].end)
		o[i].reach = high
	}
}

// fill gives labels the bytes up to the next symbol, or to the end of the symbol or
// section that they lie in if that is nearer. The reach is that of the others.
func (o order) fill(ends []span) {
	next := ^uint64(0)
	for i := len(o) - 1; i >= 0; i-- {
		p := &o[i]
		if i+1 < len(o) && o[i+1].addr > p.addr {
			next = o[i+1].addr
		}
		if !p.label {
			continue
		}
		p.end = min(next, endOf(ends, p.addr))
		if p.reach > p.addr {
			p.end = min(p.end, p.reach)
		}
	}
}

// from is the first place that is not before an address.
func (o order) from(link uint64) int {
	return sort.Search(len(o), func(i int) bool { return o[i].addr >= link })
}

// at finds the place that covers an address: the innermost of those that are no labels,
// else a label, and of all for the same bytes the one with the best name.
func (o order) at(link uint64) (int, bool) {
	label := -1
	n := sort.Search(len(o), func(i int) bool { return o[i].addr > link })
	for i := n - 1; i >= 0 && o[i].reach > link; i-- {
		switch p := &o[i]; {
		case link >= p.end:
		case !p.label:
			return o.best(i, link), true
		case label < 0:
			label = o.best(i, link)
		}
	}
	return label, label >= 0
}

// best is the place with the best name for what o[i] names, given that it covers link.
func (o order) best(i int, link uint64) int {
	best := i
	for j := i - 1; j >= 0 && o[j].addr == o[i].addr; j-- {
		if p := &o[j]; link < p.end && p.label == o[i].label {
			best = j
		}
	}
	return best
}

// inside reports whether a label is a part of a symbol that has a size.
func (o order) inside(label uint64) bool {
	i, ok := o.at(label)
	return ok && !o[i].label
}
