package vm

import (
	"encoding/binary"
	"math/bits"
)

// A dynTable holds the dynamic variables: elements of associative arrays and self->
// variables, each under a key of bytes. Memory of freed variables is used again and
// counted all the time, so limit bounds what the table really takes.
type dynTable struct {
	vars  []dynVar
	heads []int32 // hash -> chain of vars, position + 1; a power of two long
	free  int32   // chain of freed vars, position + 1
	live  int
	used  int // bytes
	chunk int // room that a new variable has to find, at least
	limit int
	drops uint64
}

type dynVar struct {
	next int32 // of its chain, position + 1
	hash uint32
	num  uint64
	key  []byte
	str  []byte
}

// dynCost is the memory of a variable beyond its key and bytes.
const dynCost = 80

// find gives the variable under key, nil if there is none.
func (d *dynTable) find(key []byte) *dynVar {
	if len(d.heads) == 0 {
		return nil
	}
	h := hashKey(key)
	for n := d.heads[h&uint32(len(d.heads)-1)]; n != 0; n = d.vars[n-1].next {
		if v := &d.vars[n-1]; v.hash == h && string(v.key) == string(key) {
			return v
		}
	}
	return nil
}

// index is the place of the variable under key in the table, which it keeps while it is there.
func (d *dynTable) index(key []byte) int {
	h := hashKey(key)
	n := d.heads[h&uint32(len(d.heads)-1)]
	for d.vars[n-1].hash != h || string(d.vars[n-1].key) != string(key) {
		n = d.vars[n-1].next
	}
	return int(n - 1)
}

// set stores num and str under key, or counts a drop.
func (d *dynTable) set(key []byte, num uint64, str []byte) {
	v := d.find(key)
	if v == nil {
		if v = d.insert(key, str); v == nil {
			d.drops++
			return
		}
	} else if !d.charge(len(str) - cap(v.str)) {
		d.drops++
		return
	}
	v.num = num
	v.str = fill(v.str, str)
}

// fill is p, in its own memory where that is large enough, with the bytes of s.
func fill(p, s []byte) []byte {
	if len(s) > cap(p) {
		p = make([]byte, len(s))
	}
	p = p[:len(s)]
	copy(p, s)
	return p
}

// insert makes a variable, of a freed one if there is one.
func (d *dynTable) insert(key, str []byte) *dynVar {
	n := d.free
	if n != 0 {
		v := &d.vars[n-1]
		if !d.charge(max(len(key)-cap(v.key), 0) + max(len(str)-cap(v.str), 0)) {
			return nil
		}
		d.free = v.next
	} else {
		if d.used+dynCost+d.chunk > d.limit || !d.charge(dynCost+len(key)+len(str)) {
			return nil
		}
		d.vars = append(d.vars, dynVar{})
		n = int32(len(d.vars))
	}
	v := &d.vars[n-1]
	v.key, v.str, v.hash = fill(v.key, key), fill(v.str, str), hashKey(key)
	d.link(n)
	return &d.vars[n-1]
}

func (d *dynTable) charge(n int) bool {
	if n > 0 && d.used+n > d.limit {
		return false
	}
	d.used += max(n, 0)
	return true
}

func (d *dynTable) link(n int32) {
	if d.live++; d.live > len(d.heads) {
		d.grow()
	}
	v := &d.vars[n-1]
	head := &d.heads[v.hash&uint32(len(d.heads)-1)]
	v.next, *head = *head, n
}

// grow doubles the chains; the variables that are linked keep their order in them or turn
// it round, which nobody sees.
func (d *dynTable) grow() {
	old := d.heads
	d.heads = make([]int32, max(64, 2*len(old)))
	for _, n := range old {
		for n != 0 {
			v := &d.vars[n-1]
			next := v.next
			head := &d.heads[v.hash&uint32(len(d.heads)-1)]
			v.next, *head = *head, n
			n = next
		}
	}
}

// remove frees the variable under key, if there is one.
func (d *dynTable) remove(key []byte) {
	if len(d.heads) == 0 {
		return
	}
	h := hashKey(key)
	for p := &d.heads[h&uint32(len(d.heads)-1)]; *p != 0; p = &d.vars[*p-1].next {
		n := *p
		v := &d.vars[n-1]
		if v.hash != h || string(v.key) != string(key) {
			continue
		}
		*p = v.next
		v.next, d.free = d.free, n
		v.str = v.str[:0]
		d.live--
		return
	}
}

// hashKey mixes a key eight bytes at a time.
func hashKey(key []byte) uint32 {
	h := uint64(len(key)) ^ 0x9e3779b97f4a7c15
	for len(key) >= 8 {
		hi, lo := bits.Mul64(h^binary.LittleEndian.Uint64(key), 0xd6e8feb86659fd93)
		h = hi ^ lo
		key = key[8:]
	}
	for _, c := range key {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return uint32(h ^ h>>32)
}
