package testscripts

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "trapline/"

// layers lists the packages from the bottom up. A package may import those of earlier
// layers only. A line stands for the packages below its path too, unless they have a
// line of their own.
var layers = []string{
	"kernel/arch kernel/ctypes owned internal/hostile images/job",
	"insn insn/insntest kernel/callsite",
	"kernel trampoline emu/device emu/internal/unicorn emu/boot images/tiny images/control images/initramfs images/debian emu/interleave",
	"kernel/debuginfo kernel/source images/snapshots",
	"kernel/guestos images packaging/pinned",
	"emu",
	"probes/d/agg probes/d/buffer",
	"probes/d/code probes/d/syntax",
	"probes/d/option probes/d/desugar probes/d/library",
	"probes/d/check",
	"probes/d/compile probes/d/vm probes/d/consume",
	"probes",
	"probes/probetest",
	"probes/patch probes/osfile",
	"probes/ktext probes/profile",
	"probes/kinst probes/fbt probes/copies probes/sdt/walk",
	"probes/sdt probes/syscall",
	"probes/host probes/modules",
	"probes/resolve",
	"probes/front probes/trace",
	"probes/session",
	"verify",
	"cmd/script cmd/tracejson",
	"cmd/internal/sandbox",
	"cmd/internal/guests cmd/internal/listing cmd/internal/picture",
	"cmd/internal/lesson",
	"cmd/internal",
	"cmd",
	"tracetest",
	"testscripts",
}

// apart are packages that do not know each other, whatever their layers: none of from
// imports any of to, but those of but. Each path stands for what is below it as well.
var apart = []struct{ from, to, but string }{
	{from: "insn", to: "kernel trampoline", but: "kernel/arch"},
	{from: "kernel insn trampoline probes images", to: "emu"}, // so they build without libunicorn
	{from: "emu", to: "kernel insn trampoline probes images", but: "kernel/arch"},
	{from: "trampoline", to: "kernel images", but: "kernel/arch"},
	{from: "probes/d", to: "kernel insn trampoline", but: "kernel/ctypes"},
	{from: "probes", to: "images"},
	{from: "kernel", to: "trampoline images"},
	{from: "images", to: "kernel insn trampoline"},
}

// An edge is an import of one of our packages by another.
type edge struct{ from, to string }

// The files are parsed, not listed by the go command: its answers would be kept in the
// test cache, and it leaves out files that other builds have.
func TestLayering(t *testing.T) {
	for path, imports := range parseTree(t) {
		from := filepath.ToSlash(filepath.Dir(path))
		test := strings.HasSuffix(path, "_test.go")
		for _, name := range imports {
			if name == "C" && !inside(from, "emu/internal/unicorn") {
				t.Errorf("%s: cgo belongs into emu/internal/unicorn alone", path)
			}
			to, ours := strings.CutPrefix(name, module)
			if !ours || to == from {
				continue
			}
			if problem := check(edge{from, to}, test); problem != "" {
				t.Errorf("%s: imports %s: %s", path, to, problem)
			}
		}
	}
}

// check says what is wrong with an import, "" if nothing. Tests may look down, as long
// as they keep what is apart so.
func check(e edge, test bool) string {
	for _, a := range apart {
		known := among(e.to, a.but) || test && inside(e.to, "images") // tests may run tiny
		if among(e.from, a.from) && among(e.to, a.to) && !known {
			return "these two do not know each other"
		}
	}
	from, to := layer(e.from), layer(e.to)
	switch {
	case from < 0:
		return "the importing package is in none of the layers of layering_test.go"
	case to < 0:
		return "it is in none of the layers of layering_test.go"
	case to >= from && !test:
		return "it is not below"
	}
	return ""
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		edge
		test, ok bool
	}{
		{edge{"emu", "kernel/arch"}, false, true},
		{edge{"emu", "kernel"}, false, false},
		{edge{"emu", "images/tiny"}, true, true},
		{edge{"emu", "images/tiny"}, false, false},
		{edge{"probes/session", "emu"}, true, false},
		{edge{"probes/d/check", "kernel/ctypes"}, false, true},
		{edge{"probes/d/vm", "kernel/arch"}, false, false},
		{edge{"probes/d/code", "probes/d/syntax"}, false, false},
		{edge{"trampoline", "kernel"}, true, false},
		{edge{"trampoline", "insn"}, false, true},
		{edge{"kernel/guestos", "insn"}, false, true},
		{edge{"kernel/arch", "insn"}, false, false},
		{edge{"insn", "kernel"}, true, false},
		{edge{"kernel/guestos", "kernel"}, false, true},
		{edge{"kernel", "kernel/guestos"}, false, false},
		{edge{"probes/kinst", "cmd/internal/cli"}, false, false},
		{edge{"cmd/trapline", "cmd/internal/cli"}, false, true},
	} {
		if problem := check(c.edge, c.test); (problem == "") != c.ok {
			t.Errorf("%s -> %s, in a test %t: %q", c.from, c.to, c.test, problem)
		}
	}
}

// decoders are imported by insn. Tests of trampoline compare with them.
const decoders = "golang.org/x/arch/"

// TestDecoders: what an instruction is, package insn knows alone.
func TestDecoders(t *testing.T) {
	found := 0
	for path, imports := range parseTree(t) {
		from, test := filepath.ToSlash(filepath.Dir(path)), strings.HasSuffix(path, "_test.go")
		for _, name := range imports {
			switch {
			case !strings.HasPrefix(name, decoders):
			case from == "insn", test && from == "trampoline":
				found++
			default:
				t.Errorf("%s: imports %s: ask package insn", path, name)
			}
		}
	}
	if found == 0 {
		t.Error("insn imports no decoder: is the rule out of date?")
	}
}

// layer is the number of a package's layer, that of its longest line; -1 if it has none.
func layer(pkg string) int {
	best, length := -1, 0
	for i, line := range layers {
		for _, p := range strings.Fields(line) {
			if inside(pkg, p) && len(p) > length {
				best, length = i, len(p)
			}
		}
	}
	return best
}

func inside(pkg, path string) bool { return pkg == path || strings.HasPrefix(pkg, path+"/") }

func among(pkg, list string) bool {
	for _, path := range strings.Fields(list) {
		if inside(pkg, path) {
			return true
		}
	}
	return false
}

// A file whose name ends in a foreign architecture or system is silently left out of the
// build; guest names come first.
func TestVanishingNames(t *testing.T) {
	endings := strings.Fields("386 amd64 arm arm64 riscv riscv64 s390x ppc64 ppc64le mips loong64 " +
		"linux freebsd openbsd netbsd dragonfly solaris illumos darwin windows android plan9 unix")
	for path := range parseTree(t) {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".go"), "_test")
		for _, e := range endings {
			if strings.HasSuffix(name, "_"+e) {
				t.Errorf("%s: left out of builds that are not for %s: put the name first", path, e)
			}
		}
	}
}

// parseTree returns the imports of every Go file of the module, by its path there.
func parseTree(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || (strings.HasPrefix(d.Name(), ".") && path != "..")) {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", path)
		if err != nil {
			return err
		}
		files[rel] = []string{}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			files[rel] = append(files[rel], name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Fatalf("only %d Go files found", len(files))
	}
	return files
}
