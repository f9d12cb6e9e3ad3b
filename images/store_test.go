package images

import (
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	states := map[string]State{}
	for _, spec := range s.List() {
		states[spec.Name] = spec.State
		if spec.Arch == "" || spec.OS == "" || spec.Description == "" || spec.Memory == 0 {
			t.Errorf("%s: not described: %+v", spec.Name, spec)
		}
	}
	want := map[string]State{
		"debian/amd64": NotFetched, "debian/arm64": NotFetched,
		"debian13/amd64": NotFetched, "debian13/arm64": NotFetched,
		"linux/riscv64": NotBuilt, "linux/riscv64-full": NotBuilt,
		"freebsd/amd64": NotFetched, "freebsd/arm64": NotFetched, "freebsd/riscv64": NotFetched,
		"tiny/amd64": Embedded, "tiny/arm64": Embedded, "tiny/riscv64": Embedded, "tiny/riscv64-m": Embedded,
	}
	if !reflect.DeepEqual(states, want) {
		t.Errorf("states %v, want %v", states, want)
	}
}

func TestLookupErrors(t *testing.T) {
	dir := t.TempDir()
	s := Store{Dir: dir}
	for name, want := range map[string]string{
		"debian/amd46":   `unknown image "debian/amd46": there are debian/amd64, debian/arm64, debian13/amd64, debian13/arm64, linux/riscv64, linux/riscv64-full, freebsd/amd64, freebsd/arm64, freebsd/riscv64, tiny/amd64, tiny/arm64, tiny/riscv64, tiny/riscv64-m, or give the path of a kernel`,
		"":               `unknown image ""`,
		dir:              "it is not a regular file",
		"./vmlinux":      "unknown image: stat ./vmlinux: no such file or directory",
		dir + "/vmlinux": "no such file or directory",
	} {
		for what, f := range map[string]func(string) error{
			"Lookup": func(n string) error { _, err := s.Lookup(n); return err },
			"Open":   func(n string) error { _, err := s.Open(n); return err },
			"Get":    func(n string) error { return s.Get(t.Context(), n, NoProgress{}) },
		} {
			if err := f(name); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %q: error %v, want %q", what, name, err, want)
			}
		}
	}
}

func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, path := range []string{"vmlinux", "./tiny/amd64", filepath.Join(dir, "vmlinux")} {
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte("kernel"), 0o644); err != nil {
			t.Fatal(err)
		}
		spec, err := Store{Dir: dir}.Open(path)
		want := Spec{Name: path, State: File, Kernel: path, Memory: 256 << 20}
		if err != nil || !reflect.DeepEqual(spec, want) {
			t.Errorf("%s: %+v, %v", path, spec, err)
		}
		if err := (Store{Dir: dir}).Get(t.Context(), path, NoProgress{}); err != nil {
			t.Errorf("Get %s: %v", path, err)
		}
	}
	if spec, err := (Store{Dir: dir}).Lookup("tiny/amd64"); err != nil || spec.State != Embedded {
		t.Errorf("a file hides an image: %+v, %v", spec, err)
	}
}

func TestOpenNotFetched(t *testing.T) {
	_, err := Store{Dir: t.TempDir()}.Open("debian/amd64")
	want := "image debian/amd64 is not fetched: run 'trapline image get debian/amd64'"
	if !errors.Is(err, ErrNotFetched) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestPath(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	for xdg, want := range map[string]string{"": "/home/u/.cache/trapline", "/c": "/c/trapline"} {
		t.Setenv("XDG_CACHE_HOME", xdg)
		if got, err := (Store{}).Path(); err != nil || got != want {
			t.Errorf("XDG_CACHE_HOME=%q: %s, %v", xdg, got, err)
		}
	}
	t.Chdir(t.TempDir())
	os.WriteFile(manifestName, []byte("not ours"), 0o644)
	// Without a home there is no cache, but what is embedded works.
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	if _, err := (Store{}).Path(); err == nil {
		t.Error("a cache without a home")
	}
	if err := (Store{}).Get(t.Context(), "debian/amd64", NoProgress{}); err == nil {
		t.Error("fetched without a home")
	}
	if spec, err := (Store{}).Lookup("debian/amd64"); err != nil || spec.State != NotFetched {
		t.Errorf("%+v, %v", spec, err)
	}
	if _, err := (Store{}).Open("tiny/amd64"); err != nil {
		t.Error(err)
	}
}

// TestEmbedded looks at the programs that are committed as binaries.
func TestEmbedded(t *testing.T) {
	spec, err := Store{Dir: t.TempDir()}.Open("tiny/amd64")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"init": initAMD64, spec.Name: spec.KernelData} {
		f, err := elf.NewFile(strings.NewReader(string(data)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if f.Machine != elf.EM_X86_64 || f.Type != elf.ET_EXEC {
			t.Errorf("%s: %v %v", name, f.Machine, f.Type)
		}
	}
}

// TestInitSums notices a change of init that was not built. (`make -C images/init
// check` builds it and compares.)
func TestInitSums(t *testing.T) {
	sums, err := os.ReadFile("init/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		data, err := os.ReadFile(filepath.Join("init", name))
		if err != nil {
			t.Error(err)
		} else if fmt.Sprintf("%x", sha256.Sum256(data)) != sum {
			t.Errorf("init/%s has changed: run make -C images/init", name)
		}
		n++
	}
	if n != 17 {
		t.Errorf("%d sums", n)
	}
}

func ExampleStore_Lookup() {
	spec, err := Store{}.Lookup("tiny/amd64")
	fmt.Println(spec.Name, spec.State, spec.OS, err)
	_, err = Store{}.Lookup("tiny/vax")
	fmt.Println(err)
	// Output:
	// tiny/amd64 embedded tiny <nil>
	// unknown image "tiny/vax": there are debian/amd64, debian/arm64, debian13/amd64, debian13/arm64, linux/riscv64, linux/riscv64-full, freebsd/amd64, freebsd/arm64, freebsd/riscv64, tiny/amd64, tiny/arm64, tiny/riscv64, tiny/riscv64-m, or give the path of a kernel
}
