package debuginfo

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"trapline/images/tiny"
	"trapline/kernel"
	"trapline/kernel/ctypes"
)

// TestDefinitions: the index finds what a search does, is kept, and made anew if it is damaged.
func TestDefinitions(t *testing.T) {
	data, err := tiny.Kernel("amd64")
	if err != nil {
		t.Fatal(err)
	}
	img, err := kernel.New(bytes.NewReader(data), int64(len(data)), "tiny")
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	compareDefinitions(t, New(img, cache, ""))
	files, _ := filepath.Glob(cache + "/types/*.defs")
	if len(files) != 1 {
		t.Fatalf("%d indexes are kept, want one", len(files))
	}
	compareDefinitions(t, New(img, cache, ""))
	if err := os.WriteFile(files[0], []byte("\nf:main 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	compareDefinitions(t, New(img, cache, ""))

	// Nor is one believed that others could have written.
	if err := errors.Join(os.WriteFile(files[0], []byte("\nf:main 1\n"), 0o600), os.Chmod(files[0], 0o602)); err != nil {
		t.Fatal(err)
	}
	compareDefinitions(t, New(img, cache, ""))
	if err := os.Chmod(filepath.Dir(files[0]), 0o777); err != nil {
		t.Fatal(err)
	}
	types := New(img, cache, "")
	compareDefinitions(t, types)
	if types.Err() != nil {
		t.Error(types.Err())
	}
}

// compareDefinitions looks for everything that there is, and for what is not.
func compareDefinitions(t *testing.T, types *Types) {
	t.Helper()
	d := newDWARF(types.img, types)
	n := 0
	d.top(func(_ *unit, e *die) bool {
		if _, ok := definitionLetters[e.tag]; ok && len(e.name) > 0 {
			name := string(e.name)
			if got, want := d.lookup(e.tag, name), d.search(e.tag, name); got != want {
				t.Errorf("tag 0x%x, %s: at 0x%x by the index, 0x%x by a search", e.tag, name, got, want)
			}
			n++
		}
		return n < 300
	})
	if n < 50 {
		t.Errorf("only %d definitions", n)
	}
	if off := d.lookup(tagStruct, "no_such"); off != 0 {
		t.Errorf("a structure that is not there is at 0x%x", off)
	}
}

// TestDefinitionsStripped: an index that was kept of a file with DWARF is of no use for the same file
// without: it has no types.
func TestDefinitionsStripped(t *testing.T) {
	dir := t.TempDir()
	full, bare := filepath.Join(dir, "full"), filepath.Join(dir, "bare")
	cmd := exec.Command("gcc", "-g", "-c", "-x", "c", "-o", full+".o", "-")
	cmd.Stdin = strings.NewReader("struct pcpu { int x; } p; int main(void) { return p.x; }")
	for _, c := range []*exec.Cmd{cmd,
		exec.Command("gcc", "-Wl,--build-id", "-nostartfiles", "-static", "-Wl,-e,main", "-o", full, full+".o"),
		exec.Command("objcopy", "--strip-debug", full, bare)} {
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, out)
		}
	}
	if _, ok := openStructure(t, full, dir); !ok {
		t.Error("the full file has no struct pcpu")
	}
	if typ, ok := openStructure(t, bare, dir); ok {
		t.Errorf("the stripped file has struct pcpu: %v", typ)
	}
}

func openStructure(t *testing.T, path, cache string) (*ctypes.Type, bool) {
	t.Helper()
	img, err := kernel.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	return New(img, cache, "").Tagged(ctypes.Struct, "pcpu")
}
