package images

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// old makes the last change of a file seem long ago to the store: its ctime cannot be set,
// so the test waits for it to be old enough.
func old(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(info.ModTime().Add(settled + 100*time.Millisecond)))
}

func digest(t *testing.T, s Store, path string) [sha256.Size]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, err := s.Digest(f)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestDigest(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	path := filepath.Join(t.TempDir(), "vmlinux")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check := func(text string) {
		t.Helper()
		if got := digest(t, s, path); got != sha256.Sum256([]byte(text)) {
			t.Errorf("digest %x is not that of %q", got, text)
		}
	}
	memo := s.digestPath(path)

	write("one")
	check("one")
	if _, err := os.Stat(memo); err == nil {
		t.Error("the digest of a file that has just been written was remembered")
	}
	old(t, path)
	check("one")
	if _, err := os.Stat(memo); err != nil {
		t.Fatalf("the digest was not remembered: %v", err)
	}
	check("one")

	// The same size, and the old time of change put back.
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write("two")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	check("two")

	// A damaged record is no record.
	for _, text := range []string{"", "{", `{"SHA256":"00"}`} {
		if err := os.WriteFile(memo, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		check("two")
	}
}

// What is remembered is used: a record with another digest is believed.
func TestDigestRemembered(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	path := filepath.Join(t.TempDir(), "vmlinux")
	if err := os.WriteFile(path, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	state, err := stateOf(f)
	if err != nil {
		t.Fatal(err)
	}
	state.SHA256 = "0100000000000000000000000000000000000000000000000000000000000000"
	remember(s.digestPath(path), state)
	if got := digest(t, s, path); got != [sha256.Size]byte{1} {
		t.Errorf("digest %x, want the remembered one", got)
	}
}

// A digest that somebody else could have written is not believed.
func TestDigestForeign(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	path := filepath.Join(t.TempDir(), "vmlinux")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	old(t, path)
	want, memo := digest(t, s, path), s.digestPath(path)
	text, err := os.ReadFile(memo)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Replace(string(text), fmt.Sprintf("%x", want), strings.Repeat("0", 64), 1)
	for mode, believed := range map[os.FileMode]bool{0o600: true, 0o620: false, 0o602: false} {
		if err := errors.Join(os.WriteFile(memo, []byte(wrong), 0o600), os.Chmod(memo, mode)); err != nil {
			t.Fatal(err)
		}
		if got := digest(t, s, path); got == want == believed {
			t.Errorf("a record of mode %o: believed is %t, want %t", mode, got != want, believed)
		}
	}
}
