package buffer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestLayoutOffsets(t *testing.T) {
	tests := []struct {
		fields []Field
		want   string
	}{
		{nil, "12"},
		{[]Field{{Size: 4}}, "12 16"},
		{[]Field{{Size: 1}, {Size: 4}, {Size: 2}, {Size: 8}}, "12 16 20 24 32"},
		{[]Field{{Size: 1}, {Kind: String, Size: 256}, {Size: 8}}, "12 13 272 280"},
		{[]Field{{Kind: Bytes, Size: 3}, {Kind: Stack, Size: StackSize(2)}}, "12 16 40"},
	}
	for _, test := range tests {
		l := NewLayout()
		for _, f := range test.fields {
			l.Add(f)
		}
		var got []string
		for _, f := range l.Fields {
			got = append(got, fmt.Sprint(f.Offset))
		}
		if s := strings.Join(append(got, fmt.Sprint(l.Size)), " "); s != test.want {
			t.Errorf("%+v: got %s, want %s", test.fields, s, test.want)
		}
	}
}

func TestFieldsRoundTrip(t *testing.T) {
	l := NewLayout()
	for _, f := range []Field{
		{Size: 1, Signed: true}, {Size: 1}, {Size: 2, Signed: true}, {Size: 2}, {Size: 4, Signed: true}, {Size: 4}, {Size: 8},
		{Kind: String, Size: 6}, {Kind: Bytes, Size: 4}, {Kind: Stack, Size: StackSize(2)},
	} {
		l.Add(f)
	}
	rec := []byte(strings.Repeat("\xaa", l.Size)) // what was there before must not show
	var ints []string
	for i := range 7 {
		l.Fields[i].PutInt(rec, 0xfffffffffffffff0)
		ints = append(ints, fmt.Sprint(int64(l.Fields[i].Int(rec))))
	}
	if got, want := strings.Join(ints, " "), "-16 240 -16 65520 -16 4294967280 -16"; got != want {
		t.Errorf("got %s", got)
	}
	str, raw, stack := &l.Fields[7], &l.Fields[8], &l.Fields[9]
	for in, want := range map[string]string{"": "", "abc": "abc", "abcde": "abcde", "abcdefgh": "abcdef"} {
		str.PutString(rec, []byte(in))
		if got := string(str.String(rec)); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
	str.PutString(rec, []byte("a"))
	if got := string(str.Bytes(rec)); got != "a\x00\x00\x00\x00\x00" {
		t.Errorf("got %q", got)
	}
	raw.PutBytes(rec, []byte{1, 0})
	if got := fmt.Sprint(raw.Bytes(rec)); got != "[1 0 0 0]" {
		t.Errorf("got %s", got)
	}
	for _, pcs := range [][]uint64{{}, {1}, {1, 2}, {1, 2, 3}} {
		stack.PutStack(rec, pcs)
		if got := fmt.Sprint(stack.Stack(rec)); got != fmt.Sprint(pcs[:min(len(pcs), 2)]) {
			t.Errorf("%v: got %s", pcs, got)
		}
	}
}

// one is a layout of a single number.
func one() *Layout {
	l := NewLayout()
	l.Add(Field{Size: 8})
	return l
}

func put(b *Buffer, l *Layout, v uint64) bool {
	rec := b.Reserve(l.Size)
	if rec == nil {
		return false
	}
	l.Fields[0].PutInt(rec, v)
	b.Commit(l.Size, Header{EPID: 1, Time: v * 10})
	return true
}

func read(t *testing.T, b *Buffer, l *Layout) (out []uint64) {
	t.Helper()
	err := b.Records(func(uint32) *Layout { return l }, func(h Header, rec []byte) error {
		v := l.Fields[0].Int(rec)
		if h.EPID != 1 || h.Time != v*10 {
			t.Errorf("header %+v of %d", h, v)
		}
		out = append(out, v)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return out
}

func TestDrops(t *testing.T) {
	l := one()
	b := New(0, 3*l.Size+5)
	for i := range uint64(5) {
		put(b, l, i)
	}
	if got := fmt.Sprint(read(t, b, l)); got != "[0 1 2]" || b.Drops != 2 || !b.Full() {
		t.Errorf("%s, %d drops", got, b.Drops)
	}
	b.Reset()
	if !put(b, l, 7) || b.Full() || b.Len() != l.Size {
		t.Error("no room after Reset")
	}
}

func TestOnFull(t *testing.T) {
	l := one()
	b := New(0, 2*l.Size)
	var got []uint64
	b.OnFull = func(b *Buffer) {
		got = append(got, read(t, b, l)...)
		b.Reset()
	}
	for i := range uint64(7) {
		put(b, l, i)
	}
	if b.Reserve(3*l.Size) != nil {
		t.Error("room for more than the buffer")
	}
	if fmt.Sprint(got) != "[0 1 2 3 4 5]" || b.Drops != 1 {
		t.Errorf("%v, %d drops", got, b.Drops)
	}
}

// A record that is not committed was never there.
func TestReserveWithoutCommit(t *testing.T) {
	l := one()
	b := New(0, 100)
	b.Reserve(l.Size)
	put(b, l, 3)
	if got := fmt.Sprint(read(t, b, l)); got != "[3]" {
		t.Errorf("got %s", got)
	}
}

func TestRecordsErrors(t *testing.T) {
	l := one()
	b := New(2, 100)
	put(b, l, 3)
	put(b, l, 4)
	stop := errors.New("stop")
	n := 0
	err := b.Records(func(uint32) *Layout { return l }, func(Header, []byte) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("%v after %d", err, n)
	}
	err = b.Records(func(uint32) *Layout { return nil }, func(Header, []byte) error { return nil })
	if err == nil || err.Error() != "reading the buffer of CPU 2: no record of enabling 1" {
		t.Errorf("got %v", err)
	}
}

func TestReserveAllocates(t *testing.T) {
	l := one()
	b := New(0, 1000)
	b.OnFull = (*Buffer).Reset
	if n := testing.AllocsPerRun(100, func() { put(b, l, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRing(t *testing.T) {
	l := NewLayout()
	l.Add(Field{Kind: Int, Size: 8})
	b := New(0, 100) // four records of 24 bytes
	b.Policy = Ring
	for n := range uint64(11) {
		putN(t, b, l, n)
		if b.Len() > 100 {
			t.Fatalf("%d bytes", b.Len())
		}
	}
	if got := list(t, b, l); !slices.Equal(got, []uint64{7, 8, 9, 10}) {
		t.Error(got)
	}
	if b.Reserve(101) != nil || b.Drops != 1 {
		t.Errorf("a record larger than the ring: %d drops", b.Drops)
	}
}

func TestFill(t *testing.T) {
	l := NewLayout()
	l.Add(Field{Kind: Int, Size: 8})
	b := New(0, 50)
	b.Policy = Fill
	putN(t, b, l, 1)
	putN(t, b, l, 2)
	if b.Filled || b.Reserve(24) != nil || !b.Filled || b.Reserve(1) != nil || b.Drops != 0 {
		t.Errorf("filled %v, %d drops", b.Filled, b.Drops)
	}
	if got := list(t, b, l); !slices.Equal(got, []uint64{1, 2}) {
		t.Error(got)
	}
}

func TestAppend(t *testing.T) {
	l := NewLayout()
	l.Add(Field{Kind: Int, Size: 8})
	from, to := New(0, 100), New(0, 60)
	for n := range uint64(3) {
		putN(t, from, l, n)
	}
	to.Append(from)
	if got := list(t, to, l); !slices.Equal(got, []uint64{0, 1}) || to.Drops != 1 {
		t.Error(got, to.Drops)
	}
}

func putN(t *testing.T, b *Buffer, l *Layout, n uint64) {
	t.Helper()
	rec := b.Reserve(l.Size)
	if rec == nil {
		t.Fatalf("no room for %d", n)
	}
	l.Fields[0].PutInt(rec, n)
	b.Commit(l.Size, Header{EPID: 1})
}

func list(t *testing.T, b *Buffer, l *Layout) (values []uint64) {
	t.Helper()
	err := b.Records(func(uint32) *Layout { return l }, func(_ Header, p []byte) error {
		values = append(values, l.Fields[0].Int(p))
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return values
}
