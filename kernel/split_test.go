package kernel

import (
	"bytes"
	"errors"
	"os"
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

// TestSharedModule: a shared object with what says that it is a module has its names where the guest has
// put it; another one is not a module.
func TestSharedModule(t *testing.T) {
	dir := t.TempDir()
	build := func(name, section string) string {
		source, path := filepath.Join(dir, name+".c"), filepath.Join(dir, name+".ko")
		text := "int entry(int x) { return x + 1; }\n__attribute__((section(\"" + section + "\"))) int about = 1;\n"
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("gcc", "-shared", "-fPIC", "-nostdlib", "-o", path, source).CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, out)
		}
		return path
	}
	img, err := OpenModule(build("if_tap", metadata))
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	if img.Module() != "if_tap" {
		t.Errorf("the module is %s", img.Module())
	}
	link, _ := img.Symtab().Value("entry")
	const base = 0xffffffff82000000
	img.SetBase(base)
	s := img.Symtab().Lookup("entry")
	if len(s) != 1 || s[0].Addr != base+link {
		t.Fatalf("entry: %+v, want it at %#x", s, base+link)
	}
	if at, ok := img.Symtab().At(base + link + 1); !ok || at.Name != "entry" {
		t.Errorf("at entry+1: %+v, %t", at, ok)
	}
	if err := img.Text(base+link, make([]byte, s[0].Size)); err != nil {
		t.Error(err)
	}
	if img.SetPlaces(nil); len(img.Symtab().Lookup("entry")) != 0 {
		t.Error("a module that is not loaded has functions")
	}
	if _, err := OpenModule(build("library", "other")); !errors.Is(err, ErrNotModule) {
		t.Errorf("a library: %v", err)
	}
}
