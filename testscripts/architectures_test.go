package testscripts

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"trapline/kernel/arch"
)

// A table is an arch.Table of the sources.
type table struct {
	pkg, name, row string   // package, variable, type of a row
	doc            string   // what it has
	rows           []string // names of architectures, as package arch spells them, and their files
}

// absences are rows that an architecture may lack, by table and architecture, and why.
var absences = map[string]string{}

// tables finds the tables in some files, by package and name. A row stands in its architecture's
// file.
func tables(t *testing.T, files []string, source func(path string) any) map[string]*table {
	t.Helper()
	all, rows := map[string]*table{}, map[string][]string{}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", path), source(path), parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GenDecl:
				for _, spec := range n.Specs {
					if x := tableOf(n, spec); x != nil {
						x.pkg = pkg
						all[pkg+" "+x.name] = x
					}
				}
			case *ast.CallExpr:
				if name, a := rowOf(n); a != "" {
					rows[pkg+" "+name] = append(rows[pkg+" "+name], a)
					if file := filepath.Base(path); !strings.HasPrefix(file, strings.ToLower(a)) {
						t.Errorf("%s: the row of %s in %s is not in a file of that architecture", path, a, name)
					}
				}
			}
			return true
		})
	}
	for key, x := range all {
		x.rows = rows[key]
	}
	return all
}

// tableOf is the table that a declaration is of, nil for any other.
func tableOf(d *ast.GenDecl, spec ast.Spec) *table {
	v, ok := spec.(*ast.ValueSpec)
	if !ok || v.Type == nil {
		return nil
	}
	index, ok := v.Type.(*ast.IndexExpr)
	if !ok || types.ExprString(index.X) != "arch.Table" {
		return nil
	}
	return &table{name: v.Names[0].Name, row: types.ExprString(index.Index), doc: strings.Join(strings.Fields(d.Doc.Text()), " ")}
}

// rowOf is the table to which a call adds a row, and the row's architecture.
func rowOf(call *ast.CallExpr) (name, architecture string) {
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || fun.Sel.Name != "Row" || len(call.Args) != 2 {
		return "", ""
	}
	a, _ := strings.CutPrefix(types.ExprString(call.Args[0]), "arch.")
	return types.ExprString(fun.X), a
}

// lacking lists the rows that there should be and are not.
func lacking(all map[string]*table, architectures []string) (out []string) {
	for key, x := range all {
		for _, a := range architectures {
			if !slices.Contains(x.rows, a) && absences[key+" "+a] == "" {
				out = append(out, fmt.Sprintf("%s: %s has no row of %s", x.pkg, x.name, a))
			}
		}
	}
	slices.Sort(out)
	return out
}

// goFiles are the files that are not tests.
func goFiles(t *testing.T) (files []string) {
	for path := range parseTree(t) {
		if !strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
	}
	return files
}

func names() (all []string) {
	for _, a := range arch.All {
		all = append(all, strings.ToUpper(a.Name))
	}
	return all
}

func onDisk(string) any { return nil }

// TestArchitectures: every table has a row of every architecture.
func TestArchitectures(t *testing.T) {
	all := tables(t, goFiles(t), onDisk)
	if len(all) < 5 {
		t.Errorf("only %d tables found", len(all))
	}
	for _, what := range lacking(all, names()) {
		t.Error(what)
	}
	for key := range absences {
		if pkg, rest, _ := strings.Cut(key, " "); all[pkg+" "+strings.Fields(rest)[0]] == nil {
			t.Errorf("%s may be absent, but there is no such table", key)
		}
	}
}

// TestArchitecturesList: CONTRIBUTING lists what an architecture needs.
func TestArchitecturesList(t *testing.T) {
	var rows []string
	for _, x := range tables(t, goFiles(t), onDisk) {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |\n", x.pkg, x.name, strings.TrimPrefix(x.doc, x.name+" has ")))
	}
	slices.Sort(rows)
	text, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "| package | table | it has |\n|---|---|---|\n" + strings.Join(rows, ""); !strings.Contains(string(text), want) {
		t.Errorf("CONTRIBUTING.md does not have the tables of architectures as they are:\n%s", want)
	}
}

const stub = `package arch

// STUB64 is an architecture that is nowhere.
var STUB64 = &Arch{Name: "stub64"}
`

// TestFourthArchitecture adds an architecture by new files and one line: without rows the tables
// lack it, with rows everything builds and nothing is lacking.
func TestFourthArchitecture(t *testing.T) {
	const list = "kernel/arch/arch.go"
	text, err := os.ReadFile(filepath.Join("..", list))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Replace(string(text), "var All = []*Arch{AMD64, ARM64, RISCV64}", "var All = []*Arch{AMD64, ARM64, RISCV64, STUB64}", 1)
	if line == string(text) {
		t.Fatalf("%s has no list of architectures", list)
	}
	files, architectures := goFiles(t), append(names(), "STUB64")
	all := tables(t, files, onDisk)
	if got := lacking(all, architectures); len(got) != len(all) {
		t.Errorf("without rows %d of %d tables lack it", len(got), len(all))
	}
	added := map[string]string{list: line, "kernel/arch/stub64.go": stub}
	for _, x := range all {
		path := x.pkg + "/stub64_" + x.name + ".go"
		added[path] = fmt.Sprintf("package %s\n\nimport \"trapline/kernel/arch\"\n\nvar _ = %s.Row(arch.STUB64, *new(%s))\n", filepath.Base(x.pkg), x.name, x.row)
		files = append(files, path)
	}
	for _, what := range lacking(tables(t, files, func(path string) any {
		if source, ok := added[path]; ok {
			return source
		}
		return nil
	}), architectures) {
		t.Error(what)
	}
	build(t, added)
}

// build compiles packages without an emulator as if files had been added.
func build(t *testing.T, added map[string]string) {
	dir, top := t.TempDir(), ".."
	top, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for path, source := range added {
		file := filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(top, path)] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-overlay", file, "./kernel/guestos", "./kernel/callsite", "./trampoline", "./probes/ktext")
	cmd.Dir = top
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
