package images

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write makes a file of n bytes, and its directories.
func write(t *testing.T, path string, n int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, n), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTrees(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	if all, err := s.Trees(); err != nil || len(all) != 0 {
		t.Fatalf("an empty cache has trees %v, %v", all, err)
	}
	root := filepath.Join(s.Dir, "trees")
	write(t, filepath.Join(root, "linux-riscv64-full@6.1.2-1", "include", "a.h"), 1000)
	write(t, filepath.Join(root, "linux-riscv64-full@6.1.2-1", "Makefile"), 24)
	write(t, filepath.Join(root, "debian-amd64@6.1.2-1", "Makefile"), 10)
	write(t, filepath.Join(root, "debian-amd64@tmp-123", "Makefile"), 10) // being made
	write(t, filepath.Join(root, "debian-amd64.lock"), 0)
	all, err := s.Trees()
	if err != nil || len(all) != 2 || all[0].Name != "debian/amd64@6.1.2-1" || all[1].Name != "linux/riscv64-full@6.1.2-1" || all[1].Size != 1024 {
		t.Fatalf("trees %v, %v", all, err)
	}
	if err := s.RemoveTree(t.Context(), "linux/riscv64-full@6.1.2-1", NoProgress{}); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveTree(t.Context(), "linux/riscv64-full@6.1.2-1", NoProgress{}); err == nil || !strings.Contains(err.Error(), "there is no tree") {
		t.Errorf("removed twice: %v", err)
	}
	if all, err := s.Trees(); err != nil || len(all) != 1 {
		t.Errorf("trees %v, %v", all, err)
	}
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{".config", "Makefile", "include/linux/fs.h", "scripts/mod/modpost", "arch/Kconfig", "arch/riscv/Makefile", "arch/x86/Makefile", "drivers/char/mem.c", "kernel/fork.c"} {
		write(t, filepath.Join(dir, path), 1)
	}
	if err := prune(dir, "riscv"); err != nil {
		t.Fatal(err)
	}
	var left []string
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			left = append(left, rel)
		}
		return err
	})
	want := []string{".config", "Makefile", "arch/Kconfig", "arch/riscv/Makefile", "include/linux/fs.h", "scripts/mod/modpost"}
	if !slices.Equal(left, want) {
		t.Errorf("left: %v, want %v", left, want)
	}
}

// TestBuildModuleErrors: what is reported before anything is fetched.
func TestBuildModuleErrors(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	dir := t.TempDir()
	build := func(image string) string {
		_, err := s.BuildModule(t.Context(), image, dir, NoProgress{})
		if err == nil {
			t.Fatalf("%s: a module is built of nothing", image)
		}
		return err.Error()
	}
	if got := build("debian/amd64"); !strings.Contains(got, "there is no Makefile for a module: one line will do, obj-m := NAME.o") {
		t.Error(got)
	}
	write(t, filepath.Join(dir, "Makefile"), 0)
	for image, want := range map[string]string{
		"debian/amd64": "not fetched", "tiny/amd64": "its kernel loads no modules", "debian/amd46": "unknown image",
	} {
		if got := build(image); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", image, got, want)
		}
	}
}

// TestTreeHeader: a tree has the header of static probes, the one of now.
func TestTreeHeader(t *testing.T) {
	tr := tree{dir: t.TempDir()}
	path := filepath.Join(tr.dir, includeDir, "dtrace_probe.h")
	write(t, path, 3)
	for range 2 {
		if err := tr.addHeader(); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "DTRACE_PROBE") {
		t.Errorf("header %q, %v", text, err)
	}
}

// TestHeaderDependency: the packages that have the rest of a kernel's headers, with a version, without one, last or
// not.
func TestHeaderDependency(t *testing.T) {
	for _, test := range []struct{ depends, want string }{
		{"linux-headers-6.1.0-56-common (= 6.1.192-2), linux-kbuild-6.1 (>= 6.1.192-2), gcc-12", "linux-headers-6.1.0-56-common linux-kbuild-6.1"},
		{"linux-headers-6.12.1+deb13-common (= 6.12.1-1), linux-kbuild-6.12.1+deb13, gcc-14", "linux-headers-6.12.1+deb13-common linux-kbuild-6.12.1+deb13"},
		{"linux-image-6.9-amd64 (= 6.9) | linux-image-6.9-amd64-unsigned, linux-kbuild-6.9:any | linux-kbuild-7-rc1(>= 7)", "linux-kbuild-6.9 linux-kbuild-7-rc1"},
		{"gcc-12, linux-kbuild-6.9", "linux-kbuild-6.9"},
		{"linux-base (>= 4)", ""},
	} {
		if have := strings.Join(headerDependency.FindAllString(test.depends, -1), " "); have != test.want {
			t.Errorf("%s: %s, want %s", test.depends, have, test.want)
		}
	}
}

// TestRunsHere: programs of a newer Debian are not fetched.
func TestRunsHere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "os-release")
	for _, test := range []struct {
		suite, host string
		want        string
	}{
		{"trixie", "ID=debian\nVERSION_CODENAME=bookworm\n", "programs of Debian trixie, which do not run on bookworm: build the module on such a host, by 'make -C /usr/src/linux-headers-6.12 M=DIR modules'"},
		{"trixie", "VERSION_CODENAME=trixie\n", ""},
		{"trixie", "VERSION_CODENAME=noble\n", ""},
		{"trixie", "ID=other\n", ""},
		{"", "VERSION_CODENAME=bookworm\n", ""},
	} {
		if err := os.WriteFile(file, []byte(test.host), 0o644); err != nil {
			t.Fatal(err)
		}
		err := (&debian{suite: test.suite}).runsHere(manifest{Release: "6.12"}, file)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%q on %q: %v", test.suite, test.host, err)
		}
	}
}
