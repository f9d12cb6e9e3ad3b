package check

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestLanguageTable: the tests that docs/d-language.md names are there.
func TestLanguageTable(t *testing.T) {
	doc := read(t, false, "../../../docs/d-language.md")
	funcs := read(t, true, "../*/*_test.go", "../../session/*_test.go", "../../front/*_test.go", "../../../kernel/debuginfo/*_test.go")
	rows := regexp.MustCompile(`(?m)^\| (.+) \| (.+) \| ([^|]+) \|$`).FindAllStringSubmatch(doc, -1)
	if len(rows) < 20 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows[1:] {
		for _, name := range strings.Split(row[3], ", ") {
			if strings.HasPrefix(name, "Test") {
				if !strings.Contains(funcs, "func "+name+"(") {
					t.Errorf("%s: there is no %s", row[1], name)
				}
			} else if _, err := os.Stat("../consume/testdata/" + name + ".txtar"); err != nil {
				t.Errorf("%s: %v", row[1], err)
			}
		}
	}
}
