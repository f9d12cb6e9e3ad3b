package agg

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// An Order says how rows are sorted. The zero value is the default: by value, ascending,
// ties by key.
type Order struct {
	ByKey  bool // aggsortkey: by key, ties by value
	KeyPos int  // aggsortkeypos: the part of the key that is compared first
	AggPos int  // aggsortpos: the aggregation that is compared first
	Rev    bool // aggsortrev: the whole order reversed
}

// A Row is what some aggregations have under one key.
type Row struct {
	Key  []Part
	Data [][]int64 // one for each aggregation: see Table.Number and Table.Bucket

	packed string // the key
}

// Snapshot gives the rows of one aggregation, or of several whose keys have the same types,
// joined by key, in the order asked for. Where an aggregation has nothing under a key its
// Data is all zero. The rows are copies.
func Snapshot(o Order, tables ...*Table) []Row {
	rows := join(tables)
	s := sorter{o, tables}
	slices.SortStableFunc(rows, s.compare)
	return rows
}

func join(tables []*Table) []Row {
	var rows []Row
	at := make(map[string]int)
	for i, t := range tables {
		for _, e := range t.entries {
			n, ok := at[string(e.key)]
			if !ok {
				n = len(rows)
				at[string(e.key)] = n
				rows = append(rows, newRow(tables, bytes.Clone(e.key)))
			}
			copy(rows[n].Data[i], e.data)
		}
	}
	return rows
}

func newRow(tables []*Table, key []byte) Row {
	r := Row{packed: string(key), Key: unpack(tables[0].Keys, key), Data: make([][]int64, len(tables))}
	for i, t := range tables {
		r.Data[i] = make([]int64, t.shape.size)
	}
	return r
}

type sorter struct {
	Order
	tables []*Table
}

func (s sorter) compare(a, b Row) int {
	c := s.values(a, b)
	if k := s.keys(a, b); s.ByKey {
		c = cmp.Or(k, c)
	} else {
		c = cmp.Or(c, k)
	}
	if s.Rev {
		return -c
	}
	return c
}

// values compares the aggregation at AggPos first, then the others in their order.
func (s sorter) values(a, b Row) int {
	pos := within(s.AggPos, len(s.tables))
	c := s.tables[pos].compare(a.Data[pos], b.Data[pos])
	for i := 0; c == 0 && i < len(s.tables); i++ {
		c = s.tables[i].compare(a.Data[i], b.Data[i])
	}
	return c
}

// keys compares the part at KeyPos first, then those after it, then those before it.
func (s sorter) keys(a, b Row) int {
	n := len(a.Key)
	pos := within(s.KeyPos, n)
	for i := range n {
		j := (pos + i) % n
		if c := s.tables[0].Keys[j].compare(a.Key[j], b.Key[j]); c != 0 {
			return c
		}
	}
	return 0
}

func within(pos, n int) int {
	if pos < 0 || pos >= n {
		return 0
	}
	return pos
}

func (k Key) compare(a, b Part) int {
	switch k.Kind {
	case KeyInt, KeySym:
		return cmp.Compare(a.Int, b.Int)
	case KeyStack:
		return slices.Compare(a.Stack, b.Stack)
	}
	return bytes.Compare(a.Bytes, b.Bytes)
}

func (t *Table) compare(a, b []int64) int {
	if !t.Fn.Distribution() {
		return cmp.Compare(t.Number(a, 1), t.Number(b, 1))
	}
	return cmp.Or(t.weight(a).compare(t.weight(b)), cmp.Compare(t.zero(a), t.zero(b)))
}

// weight is the sum of all buckets' values, each as often as it was counted.
func (t *Table) weight(d []int64) (sum wide) {
	for i, n := range d {
		if n != 0 {
			sum = sum.addProduct(t.center(i), n)
		}
	}
	return sum
}

// A wide is a signed number of 128 bits: the sums of products of two of 64.
type wide struct {
	hi int64
	lo uint64
}

func (w wide) addProduct(a, b int64) wide {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	if (a < 0) != (b < 0) {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	lo, carry := bits.Add64(w.lo, lo, 0)
	hi, _ = bits.Add64(uint64(w.hi), hi, carry)
	return wide{int64(hi), lo}
}

func (w wide) compare(x wide) int { return cmp.Or(cmp.Compare(w.hi, x.hi), cmp.Compare(w.lo, x.lo)) }

// zero is the count of the bucket that stands for 0.
func (t *Table) zero(d []int64) int64 {
	for i, n := range d {
		if t.center(i) == 0 {
			return n
		}
	}
	return 0
}

// center is what a bucket weighs: its value, for the open ones one beyond it, except that
// the upper one of llquantize weighs its bound.
func (t *Table) center(i int) int64 {
	v, edge := t.Bucket(i)
	switch {
	case edge == Below:
		return v - 1
	case edge == Above && t.Fn == LQuantize:
		return v + 1
	}
	return v
}
