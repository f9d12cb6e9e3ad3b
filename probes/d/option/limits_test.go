package option

import (
	"slices"
	"testing"
)

func TestFit(t *testing.T) {
	for _, test := range []struct {
		args    []string
		lowered []string
		fails   string
		size    func(*Options) int
		want    int
	}{
		{args: nil, size: func(o *Options) int { return o.BufSize }, want: 4 << 20},
		{args: []string{"bufsize=8"}, size: func(o *Options) int { return o.BufSize }, want: 8},
		{args: []string{"bufsize=7"}, fails: "buffer size: enabling exceeds size of buffer: 7 bytes are too few"},
		{args: []string{"specsize=0"}, fails: "speculation size: enabling exceeds size of buffer: 0 bytes are too few"},
		{args: []string{"bufsize=4g"}, size: func(o *Options) int { return o.BufSize }, want: 4 << 30},
		{
			args: []string{"aggsize=1t"}, lowered: []string{"aggregation size lowered to 67108864 bytes"},
			size: func(o *Options) int { return o.AggSize }, want: 64 << 20,
		},
		{
			args: []string{"specsize=3t"}, lowered: []string{"speculation size lowered to 50331648 bytes"},
			size: func(o *Options) int { return o.SpecSize }, want: 48 << 20,
		},
		{args: []string{"bufresize=manual", "bufsize=1t"}, fails: "buffer size: not enough memory for 1099511627776 bytes"},
	} {
		o := New()
		for _, a := range test.args {
			if err := o.SetArg(a); err != nil {
				t.Fatal(err)
			}
		}
		lowered, err := o.Fit()
		if test.fails != "" {
			if err == nil || err.Error() != test.fails {
				t.Errorf("%v: %v", test.args, err)
			}
			continue
		}
		if err != nil || !slices.Equal(lowered, test.lowered) || test.size(o) != test.want {
			t.Errorf("%v: %d, %q, %v", test.args, test.size(o), lowered, err)
		}
	}
}
