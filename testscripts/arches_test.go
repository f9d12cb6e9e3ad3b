package testscripts

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"trapline/kernel/arch"
)

// forArch returns the script as it is run for an architecture: a file NAME.ARCH in it
// takes the place of NAME, and those of other architectures are left out.
func forArch(script *txtar.Archive, name string) *txtar.Archive {
	ran := &txtar.Archive{Comment: script.Comment}
	for _, f := range script.Files {
		if base, _ := cutArch(f.Name); base != f.Name {
			continue
		}
		if i := fileIndex(script, f.Name+"."+name); i >= 0 {
			f.Data = script.Files[i].Data
		}
		ran.Files = append(ran.Files, f)
	}
	return ran
}

// cutArch splits the name of a file that is there for one architecture.
func cutArch(file string) (base, name string) {
	for _, a := range arch.All {
		if base, ok := strings.CutSuffix(file, "."+a.Name); ok {
			return base, a.Name
		}
	}
	return file, ""
}

// merge puts the files of a script that was run for an architecture back into the script.
// The first architecture's are those without a suffix; of another only what differs is kept.
func merge(script, ran *txtar.Archive, name string) {
	for _, f := range ran.Files {
		base, own := fileIndex(script, f.Name), fileIndex(script, f.Name+"."+name)
		switch same := bytes.Equal(script.Files[base].Data, f.Data); {
		case own >= 0 && same:
			script.Files = slices.Delete(script.Files, own, own+1)
		case own >= 0:
			script.Files[own].Data = f.Data
		case same:
		case name == arch.All[0].Name:
			script.Files[base].Data = f.Data
		default:
			own := txtar.File{Name: f.Name + "." + name, Data: f.Data}
			script.Files = slices.Insert(script.Files, base+1+othersOf(script, base), own)
		}
	}
}

// othersOf counts the files behind one that stand for it on other architectures.
func othersOf(script *txtar.Archive, base int) int {
	n := 0
	for _, f := range script.Files[base+1:] {
		if b, _ := cutArch(f.Name); b != script.Files[base].Name {
			break
		}
		n++
	}
	return n
}

func fileIndex(script *txtar.Archive, name string) int {
	return slices.IndexFunc(script.Files, func(f txtar.File) bool { return f.Name == name })
}

func TestForArch(t *testing.T) {
	script := txtar.Parse([]byte("# a script\n-- want --\nx\n-- want.arm64 --\ny\n-- other --\nz\n"))
	for name, want := range map[string]string{
		"amd64": "# a script\n-- want --\nx\n-- other --\nz\n",
		"arm64": "# a script\n-- want --\ny\n-- other --\nz\n",
	} {
		if diff := cmp.Diff(want, string(txtar.Format(forArch(script, name)))); diff != "" {
			t.Errorf("%s (-want +have):\n%s", name, diff)
		}
	}
}

func TestMerge(t *testing.T) {
	for _, c := range []struct{ script, name, ran, want string }{
		{"-- want --\nx\n", "amd64", "-- want --\ny\n", "-- want --\ny\n"},
		{"-- want --\nx\n", "arm64", "-- want --\nx\n", "-- want --\nx\n"},
		{"-- want --\nx\n", "arm64", "-- want --\ny\n", "-- want --\nx\n-- want.arm64 --\ny\n"},
		{"-- want --\nx\n-- want.arm64 --\ny\n-- b --\n", "riscv64", "-- want --\nz\n-- b --\n",
			"-- want --\nx\n-- want.arm64 --\ny\n-- want.riscv64 --\nz\n-- b --\n"},
		{"-- want --\nx\n-- want.arm64 --\ny\n", "arm64", "-- want --\nz\n", "-- want --\nx\n-- want.arm64 --\nz\n"},
		{"-- want --\nx\n-- want.arm64 --\ny\n", "arm64", "-- want --\nx\n", "-- want --\nx\n"},
	} {
		script := txtar.Parse([]byte(c.script))
		merge(script, txtar.Parse([]byte(c.ran)), c.name)
		if diff := cmp.Diff(c.want, string(txtar.Format(script))); diff != "" {
			t.Errorf("%s on %q (-want +have):\n%s", c.name, c.script, diff)
		}
	}
}

// A file for one architecture differs from the one it stands for, which is there.
func TestArchFiles(t *testing.T) {
	for _, file := range glob(t, "*/*.txtar") {
		script, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range script.Files {
			base, _ := cutArch(f.Name)
			i := fileIndex(script, base)
			if i < 0 {
				t.Errorf("%s has a file %s but no %s", filepath.Base(file), f.Name, base)
			} else if base != f.Name && bytes.Equal(script.Files[i].Data, f.Data) {
				t.Errorf("%s: %s is the same as %s", filepath.Base(file), f.Name, base)
			}
		}
	}
}
