package check

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"trapline/probes/d/syntax"
	"trapline/probes/d/syntax/chunktest"
)

var testEnv = Env{
	HasModule: func(name string) bool { return name == "vmlinux" },
	Regs:      map[string]int{"RAX": 0, "RDI": 7},
	Symbol: func(module, name string) (addr, size uint64, ok bool) {
		return 0xffffffff81000000, 4096, name == "table"
	},
	MacroArgs: []string{"script", "7", "name", "if (1) trace(1)"},
	Macros:    map[string]string{"target": "100"},
	Options:   Options{ArgRef: true},
}

func checkSource(src string, env Env) error {
	prog, err := syntax.Parse("test.d", []byte(src), syntax.Options{})
	if err != nil {
		return err
	}
	return Check(prog, env)
}

func TestErrors(t *testing.T) {
	for _, file := range []string{"testdata/errors.d", "testdata/actions.d"} {
		chunktest.Run(t, file, func(src []byte) error {
			err := checkSource(string(src), testEnv)
			var e *syntax.Error
			if errors.As(err, &e) {
				return fmt.Errorf("line %d: %s %s", e.Pos.Line, e.Tag, e.Msg)
			}
			return err
		})
	}
}

// TestEveryTagIsTested reads the files of tags: each tag must be met in the tests of
// errors.
func TestEveryTagIsTested(t *testing.T) {
	for _, name := range []string{"tags.go", "tags_types.go"} {
		testTags(t, name)
	}
}

func testTags(t *testing.T, name string) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	tested := "D_EMPTY D_MACRO_UNUSED" // TestMacroArgs, TestEmpty
	for _, name := range []string{"testdata/errors.d", "testdata/actions.d", "testdata/types.d", "testdata/order.d"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tested += string(text)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(lit.Value, `"D_`) {
			if tag := strings.Trim(lit.Value, `"`); !strings.Contains(tested, tag) {
				t.Errorf("%s has no test", tag)
			}
		}
		return true
	})
}

func TestEmpty(t *testing.T) {
	for _, src := range []string{"", "/* nothing */\n"} {
		if err := checkSource(src, Env{}); err == nil || err.(*syntax.Error).Tag != Empty {
			t.Errorf("%q: %v", src, err)
		}
		if err := checkSource(src, Env{Options: Options{Empty: true}}); err != nil {
			t.Errorf("%q with option empty: %v", src, err)
		}
	}
}

func TestMacroArgs(t *testing.T) {
	for _, test := range []struct {
		src  string
		args []string
		opts Options
		want string // part of the error
	}{
		{"BEGIN { trace($1); }", []string{"s", "5"}, Options{}, ""},
		{"BEGIN { trace($1); }", []string{"s", "-5"}, Options{}, ""},
		{"BEGIN { trace($1); }", []string{"s", "0x5"}, Options{}, ""},
		{"BEGIN { trace($1); }", []string{"s", "pid"}, Options{}, ""},
		{"BEGIN { trace($1); }", []string{"s", "nosuch"}, Options{}, "failed to resolve nosuch"},
		{"BEGIN { trace($1); }", []string{"s", "a; exit(1)"}, Options{}, "neither an integer nor a name"},
		{"BEGIN { trace($1); }", []string{"s", "}"}, Options{}, "neither an integer nor a name"},
		{"BEGIN { trace($$1); }", []string{"s", "a b"}, Options{}, ""},
		{"BEGIN { printf($$1, 1); }", []string{"s", "%d"}, Options{}, ""},
		{"BEGIN { trace($1); }", nil, Options{}, "macro argument $1 is not defined"},
		{"BEGIN { trace($1); trace(strlen($$2)); }", nil, Options{DefaultArgs: true}, ""},
		{"BEGIN { }", []string{"s", "5"}, Options{}, "extraneous argument '5' ($1 is not referenced)"},
		{"BEGIN { }", []string{"s", "5"}, Options{ArgRef: true}, ""},
		{"tick-$1 { }", []string{"s", "5"}, Options{}, ""},
	} {
		err := checkSource(test.src, Env{MacroArgs: test.args, Options: test.opts})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s %q: %v, want %s", test.src, test.args, err, test.want)
		}
	}
}

func TestRegionOfSpec(t *testing.T) {
	for src, want := range map[string]string{
		"BEGIN { nosuch(); }": "in action list: undefined function name: nosuch",
		"BEGIN /nosuch/ { }":  "in predicate: failed to resolve nosuch: Unknown variable name",
		"tick-$1":             "in probe description: macro argument $1 is not defined",
	} {
		prog, err := syntax.ParseSpec(syntax.ByName, src, syntax.Options{})
		if err == nil {
			err = Check(prog, Env{})
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
}
