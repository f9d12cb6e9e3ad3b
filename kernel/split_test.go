package kernel

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestJoin: a file of debug information has the text, data and sizes of the file that it was split from.
func TestJoin(t *testing.T) {
	own, path := open(t), filepath.Join(t.TempDir(), "kernel.debug")
	if out, err := exec.Command("objcopy", "--only-keep-debug", fixture, path).CombinedOutput(); err != nil {
		t.Fatalf("objcopy: %v\n%s", err, out)
	}
	debug, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer debug.Close()
	if data, _, ok := debug.Section(".text"); !ok || len(data) > 0 {
		t.Fatalf(".text of the debug file: %t, %d bytes", ok, len(data))
	}
	if !debug.Join(own) {
		t.Error("nothing was lacking")
	}
	for _, name := range []string{".text", ".data", ".bss"} {
		a, at, _ := own.Section(name)
		if b, bt, ok := debug.Section(name); !ok || at != bt || !bytes.Equal(a, b) {
			t.Errorf("%s differs", name)
		}
	}
	for i, f := range own.Symtab().Funcs() {
		if g := debug.Symtab().Funcs()[i]; g != f {
			t.Errorf("function %+v, want %+v", g, f)
		}
		a, b := make([]byte, f.Size), make([]byte, f.Size)
		if err1, err2 := own.Text(f.Addr, a), debug.Text(f.Addr, b); err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("text of %s: %v, %v", f.Name, err1, err2)
		}
	}
	if own.Join(debug) {
		t.Error("a whole file lacked something")
	}
}
