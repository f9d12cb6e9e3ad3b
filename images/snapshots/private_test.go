package snapshots

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"trapline/internal/hostile"
	"trapline/owned"
)

func TestForeign(t *testing.T) {
	hostile.Foreign(t, func(t *testing.T, change func(name string) error) {
		c := Cache{Dir: filepath.Join(t.TempDir(), "cache")}
		if err := c.Create("a", put("mine")); err != nil {
			t.Fatal(err)
		}
		if err := change(c.path("a")); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Open("a"); !errors.Is(err, owned.ErrForeign) {
			t.Errorf("opening the file: %v", err)
		}
		if err := c.Create("a", put("anew")); err != nil || c.read(t, "a") != "anew" {
			t.Errorf("making it anew: %v", err)
		}
		if err := change(c.Dir); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Open("a"); !errors.Is(err, owned.ErrForeign) {
			t.Errorf("opening a file of the directory: %v", err)
		}
		if err := c.Create("b", put("x")); !errors.Is(err, owned.ErrForeign) {
			t.Errorf("making one there: %v", err)
		}
		if files, _ := os.ReadDir(c.Dir); len(files) != 1 {
			t.Errorf("%d files", len(files))
		}
	})
}

// A name in the cache that is not of a regular file: no link is followed, and nothing is waited for.
func TestNoFile(t *testing.T) {
	c := Cache{Dir: t.TempDir()}
	secret := filepath.Join(t.TempDir(), "elsewhere")
	if err := errors.Join(os.WriteFile(secret, nil, 0o600), os.Symlink(secret, c.path("link")),
		syscall.Mkfifo(c.path("fifo"), 0o600), os.Mkdir(c.path("dir"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"link", "fifo", "dir"} {
		if f, err := c.Open(key); err == nil {
			t.Errorf("%s: %s has been opened", key, f.Name())
		}
	}
}

func TestKey(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	var keys [8][]byte
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			var err error
			if keys[i], err = Key(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, k := range keys {
		if !bytes.Equal(k, keys[0]) || len(k) != KeySize || bytes.Equal(k, make([]byte, KeySize)) {
			t.Errorf("key %x, another process has %x", k, keys[0])
		}
	}
	file := filepath.Join(dir, "trapline", "key")
	info, err := os.Stat(file)
	if files, _ := os.ReadDir(filepath.Dir(file)); err != nil || info.Mode() != 0o600 || len(files) != 1 {
		t.Errorf("mode %v, %v; %d files", info.Mode(), err, len(files))
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if other, err := Key(); err != nil || bytes.Equal(other, keys[0]) {
		t.Errorf("elsewhere: %v, %x", err, other)
	}
}

func TestKeyRefused(t *testing.T) {
	for name, change := range map[string]func(file string) error{
		"readable":  func(file string) error { return os.Chmod(file, 0o640) },
		"directory": func(file string) error { return os.Chmod(filepath.Dir(file), 0o777) },
		"short":     func(file string) error { return os.Truncate(file, 31) },
		"long":      func(file string) error { return os.WriteFile(file, make([]byte, 33), 0o600) },
		"link": func(file string) error {
			return errors.Join(os.Rename(file, file+"2"), os.Symlink(file+"2", file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("XDG_STATE_HOME", dir)
			if _, err := Key(); err != nil {
				t.Fatal(err)
			}
			if err := change(filepath.Join(dir, "trapline", "key")); err != nil {
				t.Fatal(err)
			}
			if k, err := Key(); err == nil {
				t.Errorf("key %x", k)
			}
		})
	}
}

// Without a home there is no key.
func TestKeyNowhere(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "relative")
	t.Setenv("HOME", "")
	if _, err := Key(); err == nil {
		t.Error("there is a key")
	}
	t.Setenv("HOME", "/proc/nowhere")
	if _, err := Key(); err == nil {
		t.Error("there is a key where none can be made")
	}
}
