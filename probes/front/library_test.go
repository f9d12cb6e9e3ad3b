package front

import (
	"slices"
	"testing"

	"trapline/kernel/guestos"
	"trapline/probes/d/library"
	"trapline/probes/d/syntax"
)

// TestGuestLibraries: which libraries programs on Linux need.
func TestGuestLibraries(t *testing.T) {
	for _, test := range []struct {
		system  *guestos.System
		program string
		want    []string
	}{
		{guestos.Linux, "BEGIN { trace(curpsinfo->pr_pid); }", []string{"procfs.d"}},
		{guestos.Linux, "psinfo_t *p;", []string{"procfs.d"}},
		{guestos.Linux, "BEGIN { trace(pid); }", nil},
		{guestos.Linux, "sched:::off-cpu { trace(args[1]->pr_pid); }", []string{"procfs.d", "sched.d"}},
		{guestos.Linux, "proc:::exit /args[0] == CLD_EXITED/ { }", []string{"procfs.d", "proc.d"}},
		{guestos.Linux, "#pragma D depends_on library procfs.d\n", []string{"procfs.d"}},
		{guestos.Linux, "io:::start", []string{"io.d"}},
		{guestos.Tiny, "BEGIN { trace(curpsinfo->pr_pid); }", nil},
	} {
		var got []string
		for _, f := range library.For(libraries(test.system), test.program) {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s, %s: %q, want %q", test.system.Name, test.program, got, test.want)
		}
	}
}

// TestLibrariesParse: checking them takes a kernel; see the tests on Linux images.
func TestLibrariesParse(t *testing.T) {
	for _, s := range guestos.Systems {
		for _, f := range s.Libraries {
			prog, err := syntax.Parse(f.Name, []byte(f.Text), syntax.Options{IsType: func(string) bool { return true }})
			if err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			for _, it := range prog.Items {
				if _, ok := it.(*syntax.Clause); ok {
					t.Errorf("%s: %s has clauses", s.Name, f.Name)
				}
			}
		}
	}
}
