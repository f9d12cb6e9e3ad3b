package kernel

import (
	"math/bits"
	"slices"
)

// A place is a symbol on its way to where it belongs: its address and where it is now.
type place struct {
	addr uint64
	at   int32
}

// sorted orders symbols as compare says. It moves small places about, not the symbols,
// and compares only those of one address.
func sorted(syms []Symbol) []Symbol {
	places := make([]place, len(syms))
	for i := range syms {
		places[i] = place{syms[i].Addr, int32(i)}
	}
	places = byAddress(places)
	for i, j := 0, 0; i < len(places); i = j {
		for j = i + 1; j < len(places) && places[j].addr == places[i].addr; j++ {
		}
		if j > i+1 {
			slices.SortFunc(places[i:j], func(a, b place) int { return compare(syms[a.at], syms[b.at]) })
		}
	}
	out := make([]Symbol, len(syms))
	for i, p := range places {
		out[i] = syms[p.at]
	}
	return out
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
