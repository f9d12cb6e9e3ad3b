package testscripts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"trapline/kernel/guestos"
)

// What belongs to one operating system is named in these rooms alone; everything else asks a
// guestos.System.
var rooms = []string{"kernel/guestos", "images", "testscripts", "packaging"}

// system is what names one, or a part of its kernels, in a string or an identifier.
var system = regexp.MustCompile(`(?i)linux|freebsd|task_struct|__switch_to|start_kernel|sys_call_table|__tracepoint|do_init_module`)

// elsewhere are the files outside the rooms that name one, each with the reason.
var elsewhere = map[string]string{
	"cmd/internal/bench/everything.go":  "names of images that are measured",
	"cmd/internal/bench/reference.go":   "names of images that are measured",
	"cmd/internal/bench/suite.go":       "names of images that are measured",
	"cmd/internal/cli/verify.go":        "help, which names the function that users see",
	"cmd/internal/sandbox/calls.go":     "the host's own calls",
	"emu/arm64_tree.go":                 "the device tree's own vocabulary",
	"emu/boot/boot.go":                  "the formats of kernel files, of which others than Linux make use",
	"emu/boot/virt.go":                  "the device tree's own vocabulary",
	"kernel/check.go":                   "what to do about a file that people have",
	"probes/d/check/checktest/types.go": "types for tests",
	"probes/d/check/proto.go":           "the reason why a subroutine of DTrace's is not here",
	"probes/d/vm/subroutines.go":        "numbers of address families, of any system",
	"probes/d/option/table.go":          "values of an option; D knows no guest. TestPolicies compares them",
}

func TestSystems(t *testing.T) {
	used := map[string]bool{}
	for path := range parseTree(t) {
		if strings.HasSuffix(path, "_test.go") || slices.ContainsFunc(rooms, func(r string) bool { return inside(path, r) }) {
			continue
		}
		for _, where := range systemsIn(t, "../"+path) {
			if used[path] = true; elsewhere[path] == "" {
				t.Errorf("%s names an operating system: a guestos.System should know", where)
			}
		}
	}
	for path := range elsewhere {
		if !used[path] {
			t.Errorf("%s names no operating system: it is in elsewhere for nothing", path)
		}
	}
}

// systemsIn lists the strings and identifiers of a file that name an operating system.
func systemsIn(t *testing.T, path string) (all []string) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if n.Kind == token.STRING && system.MatchString(n.Value) {
				all = append(all, fset.Position(n.Pos()).String()+": "+n.Value)
			}
		case *ast.Ident:
			if system.MatchString(n.Name) {
				all = append(all, fset.Position(n.Pos()).String()+": "+n.Name)
			}
		}
		return true
	})
	return all
}

// TestPolicies: the option kinstpolicy takes the policies that there are.
func TestPolicies(t *testing.T) {
	text, err := os.ReadFile("../probes/d/option/table.go")
	if err != nil {
		t.Fatal(err)
	}
	if names := guestos.PolicyNames(); !strings.Contains(string(text), "oneOf(\""+names+"\"") {
		t.Errorf("the option kinstpolicy does not take %s", names)
	}
}
