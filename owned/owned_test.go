package owned

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"trapline/internal/hostile"
)

// What others could have written is not read; it is written anew where they cannot interfere.
func TestForeign(t *testing.T) {
	hostile.Foreign(t, func(t *testing.T, change func(name string) error) {
		path := filepath.Join(t.TempDir(), "made", "file")
		read := func() string {
			t.Helper()
			text, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if err := WriteFile(path, []byte("mine")); err != nil || read() != "mine" {
			t.Fatal(err)
		}
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		if text, err := ReadFile(path); !errors.Is(err, ErrForeign) {
			t.Errorf("%q, error %v", text, err)
		}
		if err := WriteFile(path, []byte("anew")); err != nil || read() != "anew" {
			t.Errorf("%v", err)
		}
		if err := change(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		if text, err := ReadFile(path); !errors.Is(err, ErrForeign) {
			t.Errorf("in such a directory: %q, error %v", text, err)
		}
		if err := WriteFile(path, []byte("more")); !errors.Is(err, ErrForeign) {
			t.Errorf("writing in such a directory: %v", err)
		}
		if text, _ := os.ReadFile(path); string(text) != "anew" {
			t.Errorf("the file has %q", text)
		}
	})
}

// Nothing but a regular file is read, and nothing waited for.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	secret, path := filepath.Join(t.TempDir(), "secret"), func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(secret, nil, 0o600), os.Symlink(secret, path("link")),
		syscall.Mkfifo(path("fifo"), 0o600), os.Mkdir(path("dir"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "fifo", "dir", "none", "", "../" + filepath.Base(dir)} {
		if text, err := ReadFile(path(name)); err == nil {
			t.Errorf("%q: %q", name, text)
		}
	}
}

// Where a file cannot be written nothing is left, and what was there stays.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "file", "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	if WriteFile(filepath.Join(dir, "file"), nil) == nil {
		t.Error("a directory has been replaced")
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if WriteFile(filepath.Join(dir, "plain", "file"), nil) == nil {
		t.Error("a file has been taken for a directory")
	}
	files, err := os.ReadDir(dir)
	for _, f := range files {
		if strings.HasPrefix(f.Name(), ".") {
			t.Errorf("%s is left", f.Name())
		}
	}
	if len(files) != 2 || err != nil {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// What a killed writer has left goes with the next file that is written; what another is writing stays.
func TestStale(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	dead, busy, link := path(newPrefix+"dead"), path(newPrefix+"busy"), path(newPrefix+"link")
	other := filepath.Join(t.TempDir(), "other")
	for _, name := range []string{dead, busy, other} {
		if err := os.WriteFile(name, []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(busy)
	if err == nil {
		err = errors.Join(lock(f), os.Symlink(other, link))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := WriteFile(path("file"), []byte("whole")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{dead: false, busy: true, other: true, path("file"): true} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, !want, want)
		}
	}
}
