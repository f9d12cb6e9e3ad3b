package source

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"trapline/kernel"
)

// objdumpStarts are the starts of lines in a whole image as binutils decodes its line tables:
// "address file:line".
func objdumpStarts(t *testing.T, path string) map[string]bool {
	t.Helper()
	out, err := exec.Command("objdump", "--dwarf=decodedline", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	last := ""
	for text := range strings.Lines(string(out)) {
		w := strings.Fields(text) // file, line, address, perhaps a view, perhaps x
		if len(w) < 3 || !strings.HasPrefix(w[2], "0x") {
			continue
		}
		line := w[0] + ":" + w[1]
		stmt := w[len(w)-1] == "x"
		if stmt && line != last {
			all[w[2]+" "+line] = true
		}
		if last = ""; stmt {
			last = line
		}
	}
	return all
}

// Every start of a line in the C functions of the embedded kernels, and no other, is one for
// binutils.
func TestStarts(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64", "riscv64"} {
		t.Run(arch, func(t *testing.T) { compareStarts(t, tiny(arch), 1000) })
	}
}

// The same of a program by both compilers, in both formats.
func TestCompiledStarts(t *testing.T) {
	for _, cc := range []string{"gcc", "clang"} {
		for _, format := range []string{"-gdwarf-4", "-gdwarf-5"} {
			t.Run(cc+format, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "copies")
				cmd := exec.Command(cc, "-O2", format, "-ffreestanding", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-o", path, "copies.c")
				cmd.Dir = "../../probes/copies/testdata"
				if text, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", cmd, err, text)
				}
				compareStarts(t, path, 50)
			})
		}
	}
}

// compareStarts compares at least a number of starts with those of binutils.
func compareStarts(t *testing.T, path string, least int) {
	t.Helper()
	want := objdumpStarts(t, path)
	img, info := open(t, path)
	have := map[string]bool{}
	for _, s := range img.Symtab().Funcs() {
		f, err := info.Function(s.Addr, s.Size)
		if err != nil {
			t.Fatal(err)
		}
		for _, start := range f.Starts() {
			have[fmt.Sprintf("0x%x %s:%d", start.Addr, filepath.Base(start.File), start.Line.Line)] = true
		}
	}
	if len(have) < least {
		t.Fatalf("only %d starts", len(have))
	}
	differ(t, "not for objdump", have, want)
	differ(t, "for objdump alone", ofC(want, img.Symtab()), have)
}

// ofC are the starts in C functions: symbols of assembler may leave out some of it, the stubs
// of static probes, assembler in the midst of C, belong to no unit, and behind a function that
// does not return a line may begin at its end.
func ofC(all map[string]bool, symbols *kernel.Symtab) map[string]bool {
	out := map[string]bool{}
	for s := range all {
		var addr uint64
		if _, err := fmt.Sscanf(s, "0x%x", &addr); err != nil || !strings.Contains(s, ".c:") {
			continue
		}
		if at, ok := symbols.At(addr); ok && !strings.HasPrefix(at.Name, "__dtrace_probe_") {
			out[s] = true
		}
	}
	return out
}

func differ(t *testing.T, what string, a, b map[string]bool) {
	t.Helper()
	n := 0
	for s := range a {
		if !b[s] {
			if n++; n < 10 {
				t.Errorf("%s: %s", what, s)
			}
		}
	}
	if n > 0 {
		t.Errorf("%s: %d of %d", what, n, len(a))
	}
}
