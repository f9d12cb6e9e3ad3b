package d_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"trapline/probes/d/check"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
)

// A row is one of docs/dlang.md.
type row struct{ name, status, test, remark string }

// readTable reads the tables of docs/dlang.md by their titles.
func readTable(t *testing.T) map[string][]row {
	t.Helper()
	text, err := os.ReadFile("../../docs/dlang.md")
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string][]row{}
	title := ""
	for _, line := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			title = name
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 4 || strings.Contains(line, "|---|") || strings.Contains(line, "| status |") {
			continue
		}
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		tables[title] = append(tables[title], row{cells[0], cells[1], cells[2], cells[3]})
	}
	return tables
}

// TestTable keeps docs/dlang.md true: everything that there is stands in it once, and the
// tests that it names exist and are about what they should be.
func TestTable(t *testing.T) {
	tables := readTable(t)
	for title, rows := range tables {
		seen := map[string]bool{}
		for _, r := range rows {
			if seen[r.name] {
				t.Errorf("%s: %s stands there twice", title, r.name)
			}
			seen[r.name] = true
			checkRow(t, title, r)
		}
	}
	checkNames(t, "Subroutines", tables, names(code.Subs()))
	checkNames(t, "Options", tables, option.Names())
	checkNames(t, "Error tags", withStatus(tables, "yes"), declaredTags(t))
	builtins := append(names(code.Builtins()), "arg0 ... arg9", "args[]", "regs[]", "uregs[]")
	checkNames(t, "Builtins", tables, builtins)
	all := map[string][]row{"functions": slices.Concat(tables["Subroutines"], tables["Actions"], tables["Aggregating functions"])}
	checkNames(t, "functions", all, check.Functions())
}

func names[T interface{ String() string }](list []T) (s []string) {
	for _, x := range list {
		s = append(s, x.String())
	}
	return s
}

// withStatus leaves the rows of one status.
func withStatus(tables map[string][]row, status string) map[string][]row {
	out := map[string][]row{}
	for title, rows := range tables {
		for _, r := range rows {
			if r.status == status {
				out[title] = append(out[title], r)
			}
		}
	}
	return out
}

// checkNames compares the names of a table with those that there are.
func checkNames(t *testing.T, title string, tables map[string][]row, want []string) {
	t.Helper()
	var got []string
	for _, r := range tables[title] {
		got = append(got, r.name)
		if !slices.Contains(want, r.name) {
			t.Errorf("%s: %s is in the table and not in the code", title, r.name)
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s: %s is not in the table", title, name)
		}
	}
}

var tagDeclared = regexp.MustCompile(`= "(D_[A-Z0-9_]+)"`)

// declaredTags are the tags of errors in the packages under probes.
func declaredTags(t *testing.T) (tags []string) {
	t.Helper()
	for _, pattern := range []string{"*/*.go", "../session/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, m := range tagDeclared.FindAllStringSubmatch(read(t, file), -1) {
				tags = append(tags, m[1])
			}
		}
	}
	return tags
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// checkRow checks that the test of a row exists and has the name in it.
func checkRow(t *testing.T, title string, r row) {
	t.Helper()
	switch {
	case r.status != "yes" && r.status != "part" && r.status != "no":
		t.Errorf("%s: %s: status %q", title, r.name, r.status)
	case r.status == "no" && r.remark == "":
		t.Errorf("%s: %s: no reason", title, r.name)
	case r.test == "":
		if r.status != "no" {
			t.Errorf("%s: %s has no test", title, r.name)
		}
	default:
		file, fn, isGo := strings.Cut(r.test, ":")
		text := read(t, file)
		if isGo && !strings.Contains(text, "func "+fn+"(") {
			t.Errorf("%s: %s: there is no %s in %s", title, r.name, fn, file)
		}
		if !isGo && title != "Constructs" && !strings.Contains(text, strings.Fields(r.name)[0]) && !strings.HasSuffix(r.name, "]") {
			t.Errorf("%s: %s does not occur in %s", title, r.name, file)
		}
	}
}
