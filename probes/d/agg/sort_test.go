package agg

import (
	"fmt"
	"strings"
	"testing"
)

// keyed makes a table of one string and one integer key from "a 1 value..." lines.
func keyed(t *testing.T, fn Fn, args []int64, lines string) *Table {
	t.Helper()
	tab := table(t, Spec{Fn: fn, Args: args, Keys: []Key{{Kind: KeyString}, {Size: 4, Signed: true}}})
	for _, line := range strings.Split(lines, "\n") {
		var name string
		var n int
		f := strings.Fields(line)
		if _, err := fmt.Sscan(f[0]+" "+f[1], &name, &n); err != nil {
			t.Fatal(err)
		}
		key := AppendInt(AppendBytes(nil, []byte(name)), uint64(n), 4)
		for _, s := range f[2:] {
			var v int64
			if _, err := fmt.Sscan(s, &v); err != nil {
				t.Fatal(err)
			}
			tab.Update(key, v, 1)
		}
	}
	return tab
}

func order(rows []Row) string {
	var s []string
	for _, r := range rows {
		s = append(s, fmt.Sprintf("%s%d", r.Key[0].Bytes, int32(r.Key[1].Int)))
	}
	return strings.Join(s, " ")
}

func TestSort(t *testing.T) {
	const sums = "b 1 5\na 2 5\na 1 5\nc 9 -3\nc -1 5\naa 1 5"
	tests := []struct {
		name  string
		fn    Fn
		args  []int64
		lines string
		order Order
		want  string
	}{
		{"value, ties by key, unsigned", Sum, nil, sums, Order{}, "c9 a1 a2 aa1 b1 c-1"},
		{"reversed with the ties", Sum, nil, sums, Order{Rev: true}, "c-1 b1 aa1 a2 a1 c9"},
		{"key", Sum, nil, sums, Order{ByKey: true}, "a1 a2 aa1 b1 c9 c-1"},
		{"key, reversed", Sum, nil, sums, Order{ByKey: true, Rev: true}, "c-1 c9 b1 aa1 a2 a1"},
		{"key position", Sum, nil, sums, Order{ByKey: true, KeyPos: 1}, "a1 aa1 b1 a2 c9 c-1"},
		{"key position in ties", Sum, nil, sums, Order{KeyPos: 1}, "c9 a1 aa1 b1 a2 c-1"},
		{"key position out of range", Sum, nil, sums, Order{ByKey: true, KeyPos: 2}, "a1 a2 aa1 b1 c9 c-1"},
		{"average, not sum", Avg, nil, "a 1 10 10 10\nb 1 11\nc 1 9 9 9 9", Order{}, "c1 a1 b1"},
		{"deviation", Stddev, nil, "a 1 0 100\nb 1 500 500\nc 1 0 10", Order{}, "b1 c1 a1"},
		{"minimum is signed", Min, nil, "a 1 1\nb 1 -1\nc 1 0", Order{}, "b1 c1 a1"},
		{"weight", Quantize, nil, "a 1 100\nb 1 1 1 1\nc 1 -100", Order{}, "c1 b1 a1"},
		{"weight, then the count at zero", Quantize, nil, "a 1 1 0 0\nb 1 1 0\nc 1 1", Order{}, "c1 b1 a1"},
		{"weight, zero, then key", Quantize, nil, "b 1 1 0\na 1 1 0", Order{}, "a1 b1"},
		{"linear, one below and one above", LQuantize, []int64{0, 10, 5}, "a 1 99\nb 1 5 5 0\nc 1 -7", Order{}, "c1 b1 a1"},
		{"log-linear", LLQuantize, []int64{10, 0, 2, 10}, "a 1 5000\nb 1 900\nc 1 0", Order{}, "c1 b1 a1"},
	}
	for _, test := range tests {
		tab := keyed(t, test.fn, test.args, test.lines)
		if got := order(Snapshot(test.order, tab)); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestSnapshotJoins(t *testing.T) {
	one := keyed(t, Sum, nil, "a 1 3\nb 1 1")
	two := keyed(t, Sum, nil, "b 1 7\nc 1 9\na 1 8")
	for pos, want := range []string{
		"c1[0 9] b1[1 7] a1[3 8]",
		"b1[1 7] a1[3 8] c1[0 9]",
		"c1[0 9] b1[1 7] a1[3 8]", // out of range: the first
	} {
		var got []string
		for _, r := range Snapshot(Order{AggPos: pos}, one, two) {
			got = append(got, fmt.Sprintf("%s%d[%d %d]", r.Key[0].Bytes, r.Key[1].Int, r.Data[0][0], r.Data[1][0]))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("by %d: got %s, want %s", pos, s, want)
		}
	}
}

// A snapshot does not change with the table.
func TestSnapshotCopies(t *testing.T) {
	tab := keyed(t, Sum, nil, "a 1 3")
	rows := Snapshot(Order{}, tab)
	tab.Update(AppendInt(AppendBytes(nil, []byte("a")), 1, 4), 5, 1)
	if rows[0].Data[0][0] != 3 {
		t.Errorf("got %d", rows[0].Data[0][0])
	}
}
