package code

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFormat(t *testing.T) {
	plain := func(lit, verb string) Conv { return Conv{Lit: lit, Verb: verb, Width: -1, Prec: -1} }
	tests := []struct {
		in   string
		want Format
	}{
		{"", Format{}},
		{"text", Format{Tail: "text"}},
		{"100%%\n", Format{Tail: "100%\n"}},
		{"a%db", Format{Convs: []Conv{plain("a", "d")}, Tail: "b"}},
		{"%%%s%%", Format{Convs: []Conv{plain("%", "s")}, Tail: "%"}},
		{"%0-+ #'8.3llx", Format{Convs: []Conv{{Verb: "x", Size: "ll", Minus: true, Plus: true, Space: true,
			Alt: true, Group: true, Width: 8, Prec: 3}}}},
		{"%*.*s", Format{Convs: []Conv{{Verb: "s", Width: -1, Prec: -1, WidthStar: true, PrecStar: true}}}},
		{"%.s", Format{Convs: []Conv{{Verb: "s", Width: -1, Prec: 0}}}},
		{"%@8u|%8@u", Format{Convs: []Conv{
			{Verb: "u", Agg: true, Width: 8, Prec: -1}, {Lit: "|", Verb: "u", Agg: true, Width: 8, Prec: -1}}}},
		{"%hd%ws", Format{Convs: []Conv{
			{Verb: "d", Size: "h", Width: -1, Prec: -1}, {Verb: "s", Size: "w", Width: -1, Prec: -1}}}},
	}
	for _, test := range tests {
		got, err := ParseFormat(test.in)
		if err != nil {
			t.Errorf("%q: %v", test.in, err)
			continue
		}
		if diff := cmp.Diff(test.want, *got); diff != "" {
			t.Errorf("%q: -want +got\n%s", test.in, diff)
		}
	}
}

func TestParseFormatErrors(t *testing.T) {
	for in, want := range map[string]string{
		"%":             "conversion #1 has no conversion character",
		"%d%5":          "conversion #2 has no conversion character",
		"%d %!":         "conversion #2 %! is not a conversion",
		"%hhd":          "conversion #1 %hhd is not a conversion",
		"%d %Ld":        "conversion #2 %Ld is not a conversion",
		"%d %5%":        "conversion #2: %% cannot be combined with flags, a width or a precision",
		"%99999999999d": "conversion #1 has a width or precision over 65536",
	} {
		if _, err := ParseFormat(in); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}

func FuzzParseFormat(f *testing.F) {
	for _, s := range []string{"%d", "%-*.*llx%%", "%@8u", "%", "%.5", "%9999999999999999999999d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		format, err := ParseFormat(s)
		if err == nil && len(format.Convs) > strings.Count(s, "%") {
			t.Errorf("%q: %d conversions", s, len(format.Convs))
		}
	})
}
