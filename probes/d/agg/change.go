package agg

// fresh is the values of a key that is about to be updated.
func (e *entry) fresh(sh *shape) []int64 {
	if e.cleared {
		e.cleared = false
		e.data[0] = sh.first
	}
	return e.data
}

// Clear sets all values to zero. The keys stay.
func (t *Table) Clear() {
	for i := range t.entries {
		clear(t.entries[i].data)
		t.entries[i].cleared = true
	}
}

// Truncate keeps n keys: those with the largest values, or if n is negative the -n with
// the smallest. Their memory is given back when all are gone or others take it.
func (t *Table) Truncate(n int64) {
	rows := Snapshot(Order{Rev: n >= 0}, t)
	if n < 0 {
		n = -n
	}
	if n < 0 || n >= int64(len(rows)) {
		return
	}
	old := t.keep()
	for _, r := range rows[:n] {
		e := old[string(r.packed)]
		if data := t.insert([]byte(r.packed), hash([]byte(r.packed))); data != nil {
			copy(data, e.data)
			t.entries[len(t.entries)-1].cleared = e.cleared
		}
	}
}

// keep empties the table and returns what was in it.
func (t *Table) keep() map[string]entry {
	old := make(map[string]entry, len(t.entries))
	for _, e := range t.entries {
		old[string(e.key)] = e
	}
	t.charge(-t.used)
	t.entries, t.index, t.keys, t.data = nil, make([]int32, 16), nil, nil
	return old
}
