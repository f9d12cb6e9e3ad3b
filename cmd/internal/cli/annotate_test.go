package cli

import (
	"io"
	"testing"
)

// What falls through a conditional branch comes to the next instruction, and mostly nothing
// else does: the counts of every branch that the embedded kernels have executed say so.
func TestBranches(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, image := range []string{"tiny/amd64", "tiny/arm64", "tiny/riscv64"} {
		t.Run(image, func(t *testing.T) {
			e := &env{ctx: t.Context(), stdout: io.Discard, stderr: io.Discard}
			all, err := e.annotate(guestOptions{image: image, command: "awkward; shapes; forks 2; ps"}, "*", "")
			if err != nil {
				t.Fatal(err)
			}
			branches, exact := 0, 0
			for _, l := range all {
				for i := range len(l.Rows) - 1 {
					r, next := &l.Rows[i], &l.Rows[i+1]
					if !r.Branch || r.Hits == 0 || !next.Counted {
						continue
					}
					branches++
					switch through := r.Hits - r.Taken; {
					case r.Taken > r.Hits || next.Hits < through:
						t.Errorf("%s+%d: %s: %d of %d taken, and then %d", l.Name, r.Off, r.Text, r.Taken, r.Hits, next.Hits)
					case next.Hits == through:
						exact++
					}
				}
			}
			if branches < 200 || exact < branches*3/5 {
				t.Errorf("of %d branches %d are exact", branches, exact)
			}
			t.Logf("%d branches, %d exact", branches, exact)
		})
	}
}
