package library

import (
	"slices"
	"testing"

	"trapline/probes/d/syntax"
)

func TestFor(t *testing.T) {
	for _, test := range []struct {
		os, program string
		want        []string
	}{
		{"linux", "BEGIN { trace(curpsinfo->pr_pid); }", []string{"procfs.d"}},
		{"linux", "psinfo_t *p;", []string{"procfs.d"}},
		{"linux", "BEGIN { trace(pid); }", nil},
		{"linux", "sched:::off-cpu { trace(args[1]->pr_pid); }", []string{"procfs.d", "sched.d"}},
		{"linux", "proc:::exit /args[0] == CLD_EXITED/ { }", []string{"procfs.d", "proc.d"}},
		{"linux", "#pragma D depends_on library procfs.d\n", []string{"procfs.d"}},
		{"linux", "io:::start", []string{"io.d"}},
		{"tiny", "BEGIN { trace(curpsinfo->pr_pid); }", nil},
	} {
		var got []string
		for _, f := range For(test.os, test.program) {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s, %s: %q, want %q", test.os, test.program, got, test.want)
		}
	}
}

// TestParses: checking them takes a kernel; see the tests on Linux images.
func TestParses(t *testing.T) {
	for _, f := range For("linux", "sched::: proc::: io:::") {
		prog, err := syntax.Parse(f.Name, []byte(f.Text), syntax.Options{IsType: func(string) bool { return true }})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range prog.Items {
			if _, ok := it.(*syntax.Clause); ok {
				t.Error("a library has no clauses")
			}
		}
	}
}
