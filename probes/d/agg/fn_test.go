package agg

import "testing"

// args are constant parameters with which each function that has some makes a table.
var args = map[Fn][]int64{LQuantize: {0, 10, 1}, LLQuantize: {10, 0, 3, 10}}

// TestFunctions: each row of the table of aggregating functions is complete, and each table can
// be updated and shown.
func TestFunctions(t *testing.T) {
	names := map[string]bool{}
	for _, fn := range Functions() {
		row := functions[fn]
		if names[fn.String()] || fn.String() == "" {
			t.Errorf("function %d is called %q", fn, fn)
		}
		names[fn.String()] = true
		if (row.size == 0) == (row.lay == nil) || (row.number == nil) == (row.bucket == nil) || row.update == nil {
			t.Errorf("the row of %s lacks something, or has it twice", fn)
		}
		least, most := fn.Args()
		if i, ok := fn.Increment(); least > most || ok && i != most-1 {
			t.Errorf("%s takes %d to %d arguments, and its increment is argument %d", fn, least, most, i)
		}
		update(t, table(t, Spec{Fn: fn, Args: args[fn]}))
	}
	if len(names) != int(LLQuantize)+1 {
		t.Errorf("%d functions, want %d", len(names), LLQuantize+1)
	}
	if Fn(len(functions)).String() != "Fn(9)" {
		t.Errorf("a function that there is not is called %q", Fn(len(functions)))
	}
}

// update gives a table a value, and looks for it.
func update(t *testing.T, tab *Table) {
	t.Helper()
	tab.Update(nil, 7, 1)
	for _, r := range Snapshot(Order{}, tab) {
		if !tab.Fn.Distribution() {
			if want := map[Fn]int64{Count: 1, Stddev: 0}; tab.Number(r.Data[0], 1) != want[tab.Fn] && tab.Number(r.Data[0], 1) != 7 {
				t.Errorf("%s of 7 is %d", tab.Fn, tab.Number(r.Data[0], 1))
			}
			continue
		}
		i, v, _ := label(t, tab, 7)
		if r.Data[0][i] != 1 || v < 4 || v > 7 {
			t.Errorf("%s has put 7 into the bucket of %d", tab.Fn, v)
		}
	}
}
