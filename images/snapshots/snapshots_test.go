package snapshots

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func put(text string) func(*os.File) error {
	return func(f *os.File) error { _, err := f.WriteString(text); return err }
}

func (c Cache) read(t *testing.T, key string) string {
	t.Helper()
	f, err := c.Open(key)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func keys(t *testing.T, c Cache) string {
	t.Helper()
	all, err := c.List()
	if err != nil {
		t.Fatal(err)
	}
	var s []string
	for _, e := range all {
		s = append(s, e.Key)
	}
	return strings.Join(s, " ")
}

func TestCreate(t *testing.T) {
	c := Cache{Dir: filepath.Join(t.TempDir(), "not", "yet")}
	if _, err := c.Open("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening what is not there: %v", err)
	}
	for _, text := range []string{"one", "two"} {
		if err := c.Create("a", put(text)); err != nil {
			t.Fatal(err)
		}
		if got := c.read(t, "a"); got != text {
			t.Errorf("read %q, want %q", got, text)
		}
	}
	if err := c.Remove("a"); err != nil || keys(t, c) != "" {
		t.Errorf("after Remove: %v, %s", err, keys(t, c))
	}
}

// A write that fails leaves the old snapshot and nothing else.
func TestCreateFails(t *testing.T) {
	c := Cache{Dir: t.TempDir()}
	if err := c.Create("a", put("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space")
	if err := c.Create("a", func(f *os.File) error { f.WriteString("half"); return full }); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	files, _ := os.ReadDir(c.Dir)
	if got := c.read(t, "a"); got != "old" || len(files) != 1 {
		t.Errorf("%q and %d files", got, len(files))
	}
}

func TestTwoAtOnce(t *testing.T) {
	c := Cache{Dir: t.TempDir()}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := c.Create("a", put("same")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := c.read(t, "a"); got != "same" || keys(t, c) != "a" {
		t.Errorf("%q in %s", got, keys(t, c))
	}
}

// Over the limit the least recently used go, the new one never.
func TestLimit(t *testing.T) {
	c := Cache{Dir: t.TempDir(), Limit: 100 << 10}
	text := strings.Repeat("x", 40<<10)
	for i, key := range []string{"a", "b"} {
		if err := c.Create(key, put(text)); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(c.path(key), old, old); err != nil {
			t.Fatal(err)
		}
	}
	c.read(t, "a")
	if err := c.Create("c", put(text)); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, c); strings.Contains(got, "b") || len(got) != 3 {
		t.Errorf("left: %s, want a and c", got)
	}
	c.Limit = 1
	if err := c.Create("d", put(text)); err != nil {
		t.Fatal(err)
	}
	if got := keys(t, c); got != "d" {
		t.Errorf("left: %s, want d", got)
	}
}
