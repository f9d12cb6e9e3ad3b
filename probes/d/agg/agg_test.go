package agg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func table(t testing.TB, s Spec) *Table {
	t.Helper()
	tab, err := New(s, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestNumbers(t *testing.T) {
	tests := []struct {
		fn     Fn
		values []int64
		want   int64
	}{
		{Count, []int64{5, 6, 7}, 3},
		{Sum, []int64{5, -6, 7}, 6},
		{Avg, []int64{1, 2, 4}, 2},
		{Avg, []int64{-1, -2, -4}, -2},
		{Min, []int64{5, -6, 7}, -6},
		{Min, []int64{5}, 5},
		{Max, []int64{-5, -6}, -5},
		{Stddev, []int64{2, 4, 4, 4, 5, 5, 7, 9}, 2},
		{Stddev, []int64{-3, -3}, 0},
		{Stddev, []int64{math.MinInt64 / 2, math.MaxInt64 / 2}, math.MaxInt64 / 2},
	}
	for _, test := range tests {
		tab := table(t, Spec{Fn: test.fn})
		for _, v := range test.values {
			tab.Update(nil, v, 1)
		}
		rows := Snapshot(Order{}, tab)
		if len(rows) != 1 || tab.Number(rows[0].Data[0], 1) != test.want {
			t.Errorf("%s(%v): %+v, want %d", test.fn, test.values, rows, test.want)
		}
	}
}

func TestNumberNormalized(t *testing.T) {
	avg, dev := table(t, Spec{Fn: Avg}), table(t, Spec{Fn: Stddev})
	if got := avg.Number([]int64{4, 200}, 10); got != 5 {
		t.Errorf("avg: %d", got)
	}
	if avg.Number([]int64{0, 0}, 1) != 0 || dev.Number([]int64{0, 0, 0, 0}, 1) != 0 {
		t.Error("of nothing: not 0")
	}
}

// label is the value of the only bucket that v falls into, and which one.
func label(t *testing.T, tab *Table, v int64) (int, int64, Edge) {
	t.Helper()
	d := make([]int64, tab.shape.size)
	tab.shape.update(&tab.shape, d, v, 1)
	i := slices.Index(d, 1)
	if i < 0 {
		t.Fatalf("%s: %d is in none of %d buckets", tab.Fn, v, len(d))
	}
	value, edge := tab.Bucket(i)
	return i, value, edge
}

func TestQuantizeBuckets(t *testing.T) {
	tab := table(t, Spec{Fn: Quantize})
	for v, want := range map[int64]int64{
		0: 0, 1: 1, 2: 2, 3: 2, 4: 4, 7: 4, 8: 8, 1023: 512, 1024: 1024, math.MaxInt64: 1 << 62,
		-1: -1, -2: -2, -3: -2, -4: -4, -1024: -1024, -1025: -1024, math.MinInt64: -1 << 62, math.MinInt64 + 1: -1 << 62,
	} {
		if _, got, _ := label(t, tab, v); got != want {
			t.Errorf("%d is in the bucket of %d, not %d", v, got, want)
		}
	}
}

// Every value lies between the labels of its bucket and the next, away from zero.
func quantizeValue(i int) int64 {
	v, _ := power(nil, i)
	return v
}

func TestQuantizeProperty(t *testing.T) {
	tab := table(t, Spec{Fn: Quantize})
	for _, v := range samples() {
		i, low, _ := label(t, tab, v)
		switch {
		case v == 0 && low != 0:
			t.Errorf("0 in %d", low)
		case v > 0 && (low > v || i < quantizeSize-1 && quantizeValue(i+1) <= v):
			t.Errorf("%d in %d", v, low)
		case v < 0 && (low < v || i > 0 && quantizeValue(i-1) >= v):
			t.Errorf("%d in %d", v, low)
		}
	}
	for i := 1; i < quantizeSize; i++ {
		if quantizeValue(i-1) >= quantizeValue(i) {
			t.Errorf("bucket %d is not above the one before", i)
		}
	}
}

func samples() []int64 {
	r := rand.New(rand.NewPCG(1, 2))
	var out []int64
	for shift := range 64 {
		for d := int64(-2); d <= 2; d++ {
			out = append(out, 1<<shift+d, -(1<<shift)+d)
		}
		out = append(out, int64(r.Uint64()>>shift), -int64(r.Uint64()>>shift))
	}
	return out
}

// In linear and log-linear tables each bucket but the lowest holds what is at least its
// label and less than the next one's.
func TestOpenBuckets(t *testing.T) {
	specs := []Spec{
		{Fn: LQuantize, Args: []int64{0, 100, 10}},
		{Fn: LQuantize, Args: []int64{-10, 10, 3}},
		{Fn: LQuantize, Args: []int64{math.MinInt64, math.MaxInt64, math.MaxInt64 / 2}},
		{Fn: LLQuantize, Args: []int64{10, 0, 6, 20}},
		{Fn: LLQuantize, Args: []int64{2, 3, 10, 4}},
		{Fn: LLQuantize, Args: []int64{10, 2, 17, 100}},
	}
	for _, s := range specs {
		tab := table(t, s)
		for _, v := range samples() {
			i, at, edge := label(t, tab, v)
			ok := v >= at
			switch edge {
			case Below:
				ok = v < at
			case Within:
				next, _ := tab.Bucket(i + 1)
				ok = ok && v < next
			}
			if !ok {
				t.Errorf("%s%v: %d in bucket %d (%d)", s.Fn, s.Args, v, i, at)
			}
		}
	}
}

func labels(tab *Table) string {
	var s []string
	for i := range tab.shape.size {
		v, edge := tab.Bucket(i)
		s = append(s, [...]string{"", "<", ">="}[edge]+fmt.Sprint(v))
	}
	return strings.Join(s, " ")
}

func TestLabels(t *testing.T) {
	tests := []struct {
		spec Spec
		want string
	}{
		{Spec{Fn: LQuantize, Args: []int64{0, 30, 10}}, "<0 0 10 20 >=30"},
		{Spec{Fn: LQuantize, Args: []int64{-5, 9, 5}}, "<-5 -5 0 >=5"},
		{Spec{Fn: LLQuantize, Args: []int64{10, 0, 1, 10}}, "<1 1 2 3 4 5 6 7 8 9 10 20 30 40 50 60 70 80 90 >=100"},
		{Spec{Fn: LLQuantize, Args: []int64{2, 1, 3, 4}}, "<2 2 3 4 6 8 12 >=16"},
	}
	for _, test := range tests {
		if got := labels(table(t, test.spec)); got != test.want {
			t.Errorf("%s%v: got %s, want %s", test.spec.Fn, test.spec.Args, got, test.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, s := range []Spec{
		{Fn: LLQuantize + 1},
		{Fn: LQuantize},
		{Fn: LQuantize, Args: []int64{0, 0, 1}},
		{Fn: LQuantize, Args: []int64{0, 10, 0}},
		{Fn: LQuantize, Args: []int64{0, 10, 11}},
		{Fn: LQuantize, Args: []int64{0, 70000, 1}},
		{Fn: LQuantize, Args: []int64{math.MinInt64, math.MaxInt64, 1}},
		{Fn: LLQuantize, Args: []int64{10, 0, 1}},
		{Fn: LLQuantize, Args: []int64{1, 0, 1, 10}},
		{Fn: LLQuantize, Args: []int64{10, 2, 1, 10}},
		{Fn: LLQuantize, Args: []int64{10, 0, 20, 10}},
		{Fn: LLQuantize, Args: []int64{10, 0, 1, 15}},
		{Fn: LLQuantize, Args: []int64{10, 0, 3, 30}},
	} {
		if _, err := New(s, 1<<20); err == nil {
			t.Errorf("%s%v: no error", s.Fn, s.Args)
		}
	}
}

func TestManyKeys(t *testing.T) {
	tab := table(t, Spec{Fn: Sum, Keys: []Key{{Kind: KeyString}, {Kind: KeyInt, Size: 2}}})
	for round := range 3 {
		for i := range 3000 {
			key := AppendBytes(nil, fmt.Appendf(nil, "key%d", i%100))
			tab.Update(AppendInt(key, uint64(i), 2), int64(round), 1)
		}
	}
	rows := Snapshot(Order{ByKey: true}, tab)
	if len(rows) != 3000 || tab.Drops != 0 {
		t.Fatalf("%d rows, %d drops", len(rows), tab.Drops)
	}
	for _, r := range rows {
		if r.Data[0][0] != 3 || string(r.Key[0].Bytes) != fmt.Sprintf("key%d", r.Key[1].Int%100) {
			t.Fatalf("row %+v", r)
		}
	}
}

func TestLimit(t *testing.T) {
	tab, err := New(Spec{Fn: Count, Keys: []Key{{Size: 8}}}, 10*(entryCost+17))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		tab.Update(AppendInt(nil, uint64(i), 8), 0, 1)
	}
	tab.Update(AppendInt(nil, 0, 8), 0, 1)
	if tab.Len() != 10 || tab.Drops != 2 {
		t.Errorf("%d keys, %d drops", tab.Len(), tab.Drops)
	}
	none, _ := New(Spec{Fn: Count}, 10)
	none.Update(nil, 0, 1)
	if none.Len() != 0 || none.Drops != 1 {
		t.Errorf("without room: %d keys, %d drops", none.Len(), none.Drops)
	}
}

func TestKeysRoundTrip(t *testing.T) {
	keys := []Key{{Size: 1}, {Size: 2}, {Size: 4}, {Size: 8}, {Kind: KeyString}, {Kind: KeyStack}, {Kind: KeyBytes}}
	var k []byte
	for _, size := range []int{1, 2, 4, 8} {
		k = AppendInt(k, 0xf1f2f3f4f5f6f7f8, size)
	}
	k = AppendBytes(AppendStack(AppendBytes(k, []byte("text")), []uint64{1, 1 << 63}), nil)
	got := fmt.Sprintf("%x", unpack(keys, k))
	want := "[{f8 1  []} {f7f8 2  []} {f5f6f7f8 4  []} {f1f2f3f4f5f6f7f8 8  []} {0 0 74657874 []} {0 0  [1 8000000000000000]} {0 0  []}]"
	if got != want {
		t.Errorf("got %s", got)
	}
}

func TestExtend(t *testing.T) {
	if got := (Key{Signed: true}).Extend(Part{Int: 0xffff, Size: 2}); int64(got) != -1 {
		t.Errorf("got %d", int64(got))
	}
	if got := (Key{}).Extend(Part{Int: 0xffff, Size: 2}); got != 0xffff {
		t.Errorf("got %d", got)
	}
}

func TestUpdateAllocates(t *testing.T) {
	for _, s := range []Spec{
		{Fn: Count}, {Fn: Stddev, Keys: []Key{{Kind: KeyString}}}, {Fn: Quantize, Keys: []Key{{Size: 4}}},
		{Fn: LLQuantize, Args: []int64{10, 0, 6, 20}},
	} {
		tab := table(t, s)
		key := make([]byte, 0, 64)
		if n := testing.AllocsPerRun(100, func() {
			key = key[:0]
			for _, k := range s.Keys {
				if k.Kind == KeyString {
					key = AppendBytes(key, []byte("busybox"))
				} else {
					key = AppendInt(key, 5, k.Size)
				}
			}
			tab.Update(key, 17, 1)
		}); n != 0 {
			t.Errorf("%s: %v allocations", s.Fn, n)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	b.Run("nokey", func(b *testing.B) {
		tab := table(b, Spec{Fn: Count})
		for b.Loop() {
			tab.Update(nil, 0, 1)
		}
	})
	b.Run("string", func(b *testing.B) {
		tab := table(b, Spec{Fn: Count, Keys: []Key{{Kind: KeyString}}})
		name := []byte("busybox")
		var key []byte
		for b.Loop() {
			key = AppendBytes(key[:0], name)
			tab.Update(key, 0, 1)
		}
	})
	b.Run("quantize", func(b *testing.B) {
		tab := table(b, Spec{Fn: Quantize})
		for b.Loop() {
			tab.Update(nil, 12345, 1)
		}
	})
}
