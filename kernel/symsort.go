package kernel

import (
	"math/bits"
	"slices"
)

// A place is an entry of a symbol table on its way to where it belongs: its address and
// where it is now.
type place struct {
	addr uint64
	at   int32
}

// sortAliases orders symbols, which are in the order of their addresses, as compare says.
func sortAliases(syms []Symbol) {
	for i, j := 0, 0; i < len(syms); i = j {
		for j = i + 1; j < len(syms) && syms[j].Addr == syms[i].Addr; j++ {
		}
		if j > i+1 {
			slices.SortFunc(syms[i:j], compare)
		}
	}
}

// byAddress sorts places digit by digit, the lowest first. A kernel's symbols lie within
// some megabytes, so that three passes do.
func byAddress(places []place) []place {
	const digit = 11
	lo, hi := ^uint64(0), uint64(0)
	for _, p := range places {
		lo, hi = min(lo, p.addr), max(hi, p.addr)
	}
	other := make([]place, len(places))
	for shift := 0; hi > lo && shift < bits.Len64(hi-lo); shift += digit {
		var next [1 << digit]int // where the next place with a digit goes
		for _, p := range places {
			next[(p.addr-lo)>>shift%(1<<digit)]++
		}
		sum := 0
		for i, n := range next {
			next[i] = sum
			sum += n
		}
		for _, p := range places {
			d := &next[(p.addr-lo)>>shift%(1<<digit)]
			other[*d] = p
			*d++
		}
		places, other = other, places
	}
	return places
}
