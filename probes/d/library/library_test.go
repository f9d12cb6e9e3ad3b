package library

import (
	"regexp"
	"slices"
	"testing"
)

func TestFor(t *testing.T) {
	all := []File{
		{Name: "shape.d", Names: regexp.MustCompile(`\b(shape_t|round:)`)},
		{Name: "round.d", Names: regexp.MustCompile(`\bround:`)},
	}
	for program, want := range map[string][]string{
		"BEGIN { trace(pid); }":                      nil,
		"shape_t *p;":                                {"shape.d"},
		"round:::start { trace(1); }":                {"shape.d", "round.d"},
		"#pragma D depends_on library round.d\n":     {"round.d"},
		"#pragma D depends_on library nosuch.d\n":    nil,
		"myround_t *p; /* around :: */ BEGIN { x; }": nil,
	} {
		var got []string
		for _, f := range For(all, program) {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
}

func TestProbe(t *testing.T) {
	f := File{Name: "round.d", Text: "provider round { probe so__far(int x); probe on(); };"}
	if d := f.Probe("round", "so-far"); d == nil || d.Name != "so__far" {
		t.Errorf("so-far is %+v", d)
	}
	if d := f.Probe("round", "off"); d != nil {
		t.Errorf("off is %+v", d)
	}
}
