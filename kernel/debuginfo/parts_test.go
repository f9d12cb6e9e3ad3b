package debuginfo

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestParts: what GCC has split off a function and inlined into its copies again is a part of
// each of them.
func TestParts(t *testing.T) {
	out := filepath.Join(t.TempDir(), "parts")
	cmd := exec.Command("gcc", "-O3", "-g", "-ffreestanding", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-o", out, "testdata/parts.c")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := openIndex(t, data, "").Function("notify")
	whole, parts := 0, 0
	for _, c := range f.Copies {
		switch {
		case !c.Part && c.Depth == 1:
			whole++
		case c.Part && c.Depth == 2 && c.Chain[0] == "notify":
			parts++
		}
	}
	if whole != 3 || parts != 3 || len(f.Copies) != 6 {
		t.Errorf("%d copies and %d parts: %+v", whole, parts, f.Copies)
	}
}
