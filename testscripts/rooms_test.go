package testscripts

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// room is a row of the table of packages in CONTRIBUTING.md.
var room = regexp.MustCompile(`(?m)^\| ([a-z][a-z0-9/., ]*) \| .* \|$`)

// TestRooms compares that table with the packages that there are. A row names one or several;
// with "/..." at its end a name stands for all below.
func TestRooms(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(text), "\n## How to add")
	packages := packages(t)
	var rows []string
	for _, row := range room.FindAllStringSubmatch(table, -1)[1:] { // the first is the head
		rows = append(rows, strings.Split(row[1], ", ")...)
	}
	in := func(pkg, row string) bool {
		above, all := strings.CutSuffix(row, "/...")
		return pkg == row || all && inside(pkg, above)
	}
	for _, pkg := range packages {
		if !slices.ContainsFunc(rows, func(row string) bool { return in(pkg, row) }) {
			t.Errorf("%s is not in CONTRIBUTING.md", pkg)
		}
	}
	for i, row := range rows {
		if !slices.ContainsFunc(packages, func(pkg string) bool { return in(pkg, row) }) {
			t.Errorf("CONTRIBUTING.md has %s, which is not a package", row)
		}
		if slices.Contains(rows[:i], row) {
			t.Errorf("CONTRIBUTING.md has %s twice", row)
		}
	}
}

// packages are the directories with Go files, sorted.
func packages(t *testing.T) (all []string) {
	for path := range parseTree(t) {
		if dir := filepath.ToSlash(filepath.Dir(path)); !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return all
}
