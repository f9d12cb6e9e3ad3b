package kernel

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const indirectSource = `
static int first(int x) { return x + 1; }
static int second(int x) { return x + 2; }
int feature;
static int (*pick(void))(int) { return feature ? second : first; }
int chosen(int x) __attribute__((ifunc("pick")));
int unused(int x) __attribute__((ifunc("pick_unused")));
static int (*pick_unused(void))(int) { return first; }
int _start(void) { return chosen(1); }
`

func compileIndirect(t *testing.T, cc string) *Image {
	t.Helper()
	dir := t.TempDir()
	source, path := filepath.Join(dir, "kernel.c"), filepath.Join(dir, "kernel")
	if err := os.WriteFile(source, []byte(indirectSource), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-O1", "-static", "-nostdlib", "-fno-pie", "-no-pie", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cc, err, out)
	}
	img, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	return img
}

// TestIndirect: a name stands for the function that the kernel has chosen, once it has.
func TestIndirect(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			img := compileIndirect(t, compilers[arch])
			tab := img.Symtab()
			second := tab.Lookup("second")[0]
			asFile := func(addr uint64, p []byte) error { return img.TextLink(addr, p) }
			inGuest := func(addr uint64, p []byte) error {
				binary.LittleEndian.PutUint64(p, second.Addr)
				return nil
			}
			function := func(name string) (Symbol, bool) {
				for _, s := range tab.Lookup(name) {
					if s.Func {
						return s, true
					}
				}
				return Symbol{}, false
			}
			if tab.Undecided() {
				t.Error("undecided before anybody asks")
			}
			if _, ok := function("chosen"); ok || !tab.Undecided() {
				t.Errorf("before the boot: a function %t, undecided %t", ok, tab.Undecided())
			}
			for what, read := range map[string]func(uint64, []byte) error{
				"as in the file": asFile,
				"not mapped":     func(uint64, []byte) error { return errors.New("not mapped") },
				"no function":    func(_ uint64, p []byte) error { binary.LittleEndian.PutUint64(p, second.Addr+1); return nil },
			} {
				if tab.Resolve(read) {
					t.Errorf("%s: decided", what)
				}
			}
			if !tab.Resolve(inGuest) || tab.Undecided() {
				t.Fatal("not decided")
			}
			want := second
			want.Name = "chosen"
			if s, ok := function("chosen"); !ok || s != want {
				t.Errorf("chosen is %+v, want %+v", s, want)
			}
			if s, _ := tab.At(second.Addr); s.Name != "second" {
				t.Errorf("at second: %s", s.Name)
			}
			if _, ok := function("unused"); ok || tab.Undecided() {
				t.Error("one that nobody calls is found, or looked for")
			}
		})
	}
}
