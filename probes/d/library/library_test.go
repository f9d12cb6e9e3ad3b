package library

import (
	"testing"

	"trapline/probes/d/syntax"
)

func TestFor(t *testing.T) {
	for _, test := range []struct {
		os, program string
		want        bool
	}{
		{"linux", "BEGIN { trace(curpsinfo->pr_pid); }", true},
		{"linux", "psinfo_t *p;", true},
		{"linux", "BEGIN { trace(pid); }", false},
		{"tiny", "BEGIN { trace(curpsinfo->pr_pid); }", false},
	} {
		if name, text := For(test.os, test.program); (name != "") != test.want || (text != "") != test.want {
			t.Errorf("%s, %s: %q", test.os, test.program, name)
		}
	}
}

// TestLinuxParses: checking it takes a kernel; see the tests on a Linux image.
func TestLinuxParses(t *testing.T) {
	prog, err := syntax.Parse("linux.d", []byte(Linux), syntax.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range prog.Items {
		if _, ok := it.(*syntax.Clause); ok {
			t.Error("a library has no clauses")
		}
	}
}
