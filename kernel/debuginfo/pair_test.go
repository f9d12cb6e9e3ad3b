package debuginfo

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"trapline/kernel"
)

// pair makes a program in dir/program whose debug information is in dir/program.debug.
func pair(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path, compile(t, "gcc", "-gdwarf-5"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--only-keep-debug", "program", "program.debug"},
		{"--strip-debug", "--add-gnu-debuglink=program.debug", "program"},
	} {
		cmd := exec.Command("objcopy", args...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatal(err, string(text))
		}
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// TestSeparate moves a debug file from one usual place to the next.
func TestSeparate(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	pair(t, dir)
	img, err := kernel.Open(filepath.Join(dir, "program"))
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	id := img.BuildID()
	at := filepath.Join(dir, "program.debug")
	for _, place := range []string{
		at, filepath.Join(dir, ".debug", "program.debug"), filepath.Join(root, dir, "program.debug"),
		filepath.Join(root, ".build-id", id[:2], id[2:]+".debug"),
	} {
		move(t, at, place)
		at = place
		debug, mismatches := Separate(img, root)
		if debug == nil || debug.Name() != place || len(mismatches) > 0 {
			t.Fatalf("%s: found %v, %v", place, debug, mismatches)
		}
		x, err := OpenIndex(debug, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if f, _ := x.Function("clamp"); len(f.Copies) < 3 {
			t.Errorf("%s: %d copies", place, len(f.Copies))
		}
		debug.Close()
	}
	move(t, at, filepath.Join(dir, "elsewhere"))
	if debug, mismatches := Separate(img, root); debug != nil || len(mismatches) > 0 {
		t.Errorf("found what is not there: %v, %v", debug, mismatches)
	}
}

// TestSeparateMismatch: another build's file is refused, by its checksum or its build ID.
func TestSeparateMismatch(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	pair(t, dir)
	img, err := kernel.Open(filepath.Join(dir, "program"))
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	file := filepath.Join(dir, "program.debug")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	id := img.BuildID()
	byID := filepath.Join(root, ".build-id", id[:2], id[2:]+".debug")
	foreign := compile(t, "gcc", "-gdwarf-5", "-O1")
	for _, c := range []struct {
		path, want string
		data       []byte
	}{
		{file, "its checksum is", bytes.Replace(data, []byte("first.c"), []byte("fIrst.c"), 1)},
		{byID, "their build IDs differ", foreign},
	} {
		move(t, file, c.path)
		if err := os.WriteFile(c.path, c.data, 0o666); err != nil {
			t.Fatal(err)
		}
		debug, mismatches := Separate(img, root)
		if debug != nil || len(mismatches) != 1 {
			t.Fatalf("found %v, %v", debug, mismatches)
		}
		text := mismatches[0].Error()
		if !strings.Contains(text, c.want) || !strings.Contains(text, c.path) || !strings.Contains(text, img.Name()) {
			t.Error(text)
		}
		file = c.path
	}
}
