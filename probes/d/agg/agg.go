// Package agg holds aggregations while a trace runs: tables from a tuple of keys to what
// one aggregating function has made of the values given to it so far.
//
//	vm: AppendInt, AppendString ... -> packed key --Update--> Table (hash, open addressing)
//	consume:                                        Table --Snapshot--> rows in print order
//
// An update of a key that is there already allocates nothing. A Table keeps its memory
// under a limit: what no longer fits is dropped and counted.
package agg

import "fmt"

// A Spec says what a Table aggregates.
type Spec struct {
	Name string // without the @, "" for the anonymous one
	Fn   Fn
	Keys []Key
	// Args are the constant parameters: base, limit and step of lquantize; factor, low,
	// high and steps of llquantize. None for the others.
	Args []int64
}

// A Table is one aggregation. The zero value is not usable; see New.
type Table struct {
	Spec
	// Drops counts updates that found no room for a new key.
	Drops uint64
	// Printed is for the consumer: set when rows were printed before the end.
	Printed bool
	// Normal is for the consumer: what values are divided by when shown; 1 as a rule.
	Normal int64

	shape   shape
	budget  *Budget
	used    int     // bytes, since the budget was renewed
	renewed int     // the number of that
	strings int     // bytes of the keys that are strings, at most
	entries []entry // in order of first update
	index   []int32 // hash -> position in entries + 1, 0 = free; a power of two long
	keys    []byte  // room left for keys
	data    []int64 // room left for values
}

type entry struct {
	hash uint32
	key  []byte
	data []int64
	// cleared: data is 0 until the next update, which begins anew.
	cleared bool
}

// entryCost is the memory of an entry beyond its key and data: itself and its share of the
// index, in bytes.
const entryCost = 72

// Sizes of a fresh piece of room: bytes of keys, 64-bit values.
const (
	keyChunk  = 4096
	dataChunk = 512
)

// A Budget is the memory that new keys of some tables may take together until it is renewed, in bytes.
// A key that is a string needs room for the largest one, and takes what it needs.
type Budget struct {
	limit, used int
	renewed     int // how often
}

// Renew has the memory of the keys that are there not count any more.
func (b *Budget) Renew() {
	b.used = 0
	b.renewed++
}

// charge takes n bytes for a key of t, or gives -n back.
func (t *Table) charge(n int) {
	if t.renewed != t.budget.renewed {
		t.renewed, t.used = t.budget.renewed, 0
	}
	n = max(n, -t.used)
	t.used += n
	t.budget.used += n
}

// NewBudget is a budget of limit bytes.
func NewBudget(limit int) *Budget { return &Budget{limit: limit} }

// New makes an empty aggregation that keeps to limit bytes of memory. It fails when the
// parameters of lquantize or llquantize make no table of buckets.
func New(s Spec, limit int) (*Table, error) { return NewShared(s, NewBudget(limit)) }

// NewShared is New of a table that shares its memory with others.
func NewShared(s Spec, b *Budget) (*Table, error) {
	sh, err := newShape(s)
	if err != nil {
		return nil, fmt.Errorf("aggregation @%s: %w", s.Name, err)
	}
	t := &Table{Spec: s, shape: sh, Normal: 1, budget: b, index: make([]int32, 16)}
	for _, k := range s.Keys {
		if k.Kind == KeyString {
			t.strings += k.Size
		}
	}
	return t, nil
}

// Len is the number of keys.
func (t *Table) Len() int { return len(t.entries) }

// Update gives the function one more value under a key packed with AppendInt and its kin,
// in the order of Spec.Keys; nil for an aggregation without keys. incr, 1 as a
// rule, is what a count grows by, which ignores value, and what a quantization adds to the
// value's bucket; others ignore it.
func (t *Table) Update(key []byte, value, incr int64) {
	if len(t.Keys) == 0 && len(t.entries) == 1 {
		t.shape.update(&t.shape, t.entries[0].fresh(&t.shape), value, incr)
		return
	}
	if data := t.find(key); data != nil {
		t.shape.update(&t.shape, data, value, incr)
	}
}

// find gives the values under key, new ones for a new key, nil when there is no room.
func (t *Table) find(key []byte) []int64 {
	h := hash(key)
	mask := uint32(len(t.index) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		n := t.index[i]
		if n == 0 {
			return t.insert(key, h)
		}
		if e := &t.entries[n-1]; e.hash == h && string(e.key) == string(key) {
			return e.fresh(&t.shape)
		}
	}
}

func (t *Table) insert(key []byte, h uint32) []int64 {
	cost := entryCost + len(key) + 8*t.shape.size
	if t.budget.used+cost+max(t.strings-len(key), 0) > t.budget.limit {
		t.Drops++
		return nil
	}
	t.charge(cost)
	if 2*(len(t.entries)+1) > len(t.index) {
		t.grow()
	}
	t.entries = append(t.entries, entry{hash: h, key: t.keepKey(key), data: t.newData()})
	t.place(h, int32(len(t.entries)))
	return t.entries[len(t.entries)-1].data
}

func (t *Table) place(h uint32, n int32) {
	mask := uint32(len(t.index) - 1)
	i := h & mask
	for t.index[i] != 0 {
		i = (i + 1) & mask
	}
	t.index[i] = n
}

func (t *Table) grow() {
	t.index = make([]int32, 2*len(t.index))
	for i := range t.entries {
		t.place(t.entries[i].hash, int32(i+1))
	}
}

func (t *Table) keepKey(key []byte) []byte {
	n := len(key)
	if len(t.keys) < n {
		t.keys = make([]byte, max(n, min(keyChunk, t.budget.limit)))
	}
	k := t.keys[:n:n]
	t.keys = t.keys[n:]
	copy(k, key)
	return k
}

func (t *Table) newData() []int64 {
	n := t.shape.size
	if len(t.data) < n {
		t.data = make([]int64, max(n, min(dataChunk, t.budget.limit/8)))
	}
	d := t.data[:n:n]
	t.data = t.data[n:]
	d[0] = t.shape.first
	return d
}
