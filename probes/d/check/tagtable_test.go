package check

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// read joins the files that match patterns, those of tests or the others.
func read(t *testing.T, tests bool, patterns ...string) string {
	t.Helper()
	var b strings.Builder
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, ".go") && strings.HasSuffix(file, "_test.go") != tests {
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(data)
		}
	}
	return b.String()
}

// TestTagTable: docs/d-tags.md has every tag that the sources have, says that it is met, and
// of no other; and each of them is in a test.
func TestTagTable(t *testing.T) {
	sources := read(t, false, "*.go", "../syntax/*.go", "../../session/*.go")
	tests := read(t, true, "*_test.go", "testdata/*.d", "../syntax/*_test.go", "../syntax/testdata/*.d", "../../session/*_test.go")
	met := make(map[string]bool)
	for _, m := range regexp.MustCompile(`"(D_[A-Z0-9_]+)"`).FindAllStringSubmatch(sources, -1) {
		met[m[1]] = true
	}
	listed := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^\| (D_\S+) \| (yes|no) \|.*\|$`).FindAllStringSubmatch(read(t, false, "../../../docs/d-tags.md"), -1) {
		listed[m[1]] = true
		if (m[2] == "yes") != met[m[1]] {
			t.Errorf("%s: the table says %s, the sources another thing", m[1], m[2])
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(met)) {
		if !listed[tag] {
			t.Errorf("%s is not in the table", tag)
		}
		if !strings.Contains(tests, tag) {
			t.Errorf("%s has no test", tag)
		}
	}
}
