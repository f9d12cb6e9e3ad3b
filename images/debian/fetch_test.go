package debian

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"trapline/images/debian/debiantest"
)

const poolFile = "pool/file"

// content is what is fetched: more than is sent at once.
var content = func() []byte {
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i * i >> 8)
	}
	return data
}()

// testFile is a file on a site.
func testFile(t *testing.T) (*debiantest.Archive, Archive, File) {
	t.Helper()
	site := debiantest.New(t)
	site.Put(poolFile, content)
	return site, Archive{}, File{site.URL + "/" + poolFile, int64(len(content)), fmt.Sprintf("%x", sha256.Sum256(content))}
}

// TestFetch begins with what an earlier try may have left.
func TestFetch(t *testing.T) {
	whole := "bytes=0-"
	wrong := slices.Clone(content[:1000])
	wrong[500] ^= 1
	for _, test := range []struct {
		name  string
		there []byte
		asked string // the ranges of the requests; whole stands for one without
	}{
		{"nothing", nil, whole},
		{"a part", content[:1000], "bytes=1000-"},
		{"all but one", content[:len(content)-1], fmt.Sprintf("bytes=%d-", len(content)-1)},
		{"everything", content, ""},
		{"a wrong part", wrong, "bytes=1000- " + whole},
		{"another file of that size", make([]byte, len(content)), whole},
		{"too much", append(slices.Clone(content), 0), whole},
	} {
		t.Run(test.name, func(t *testing.T) {
			site, a, f := testFile(t)
			path := filepath.Join(t.TempDir(), "part")
			if test.there != nil {
				if err := os.WriteFile(path, test.there, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var n int64
			if err := a.Fetch(t.Context(), f, path, func(d int64) { n += d }); err != nil {
				t.Fatal(err)
			}
			checkContent(t, path)
			if n != f.Size {
				t.Errorf("counted %d bytes", n)
			}
			var asked []string
			for _, r := range site.Requests() {
				_, r, ok := strings.Cut(r, " ")
				if !ok {
					r = whole
				}
				asked = append(asked, r)
			}
			if got := strings.Join(asked, " "); got != test.asked {
				t.Errorf("asked for %s, want %s", got, test.asked)
			}
		})
	}
}

func checkContent(t *testing.T, path string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || !slices.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestFetchErrors: each error says what is wrong, what has come stays, and the next try, when
// all is well again, has the file.
func TestFetchErrors(t *testing.T) {
	status := func(code int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool { w.WriteHeader(code); return true }
	}
	send := func(data []byte) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool { w.Write(data); return true }
	}
	damaged := slices.Clone(content)
	damaged[len(damaged)-1] ^= 1
	for _, test := range []struct {
		name   string
		there  int
		answer func(http.ResponseWriter, *http.Request) bool
		want   string
		left   int
	}{
		{"gone", 0, status(404), "the site answers 404 Not Found", 0},
		{"gone in the middle", 1000, status(404), "the site answers 404 Not Found", 1000},
		{"broken in the middle", 1000, status(502), "the site answers 502 Bad Gateway", 1000},
		{"broken site", 0, status(503), "the site answers 503 Service Unavailable", 0},
		{"no content", 0, status(204), "the site answers 204 No Content", 0},
		{"range that nobody asked for", 0, status(206), "the site answers 206 Partial Content", 0},
		{"another range", 1000, func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Range", "bytes 5-")
			w.WriteHeader(206)
			return true
		}, "the site answers 206 Partial Content", 0},
		{"range out of the file", 1000, status(416), "the site answers 416 Requested Range Not Satisfiable", 0},
		{"damaged", 0, send(damaged), "it was damaged on its way: 1048576 bytes with a SHA-256 that begins with ", 0},
		{"short", 0, send(content[:77]), "it was damaged on its way: 77 bytes with", 0},
		{"long", 0, send(append(slices.Clone(content), 0)), "it was damaged on its way: 1048577 bytes", 0},
		{"lost", 0, lose(5000), "was lost (unexpected EOF): the next try goes on from there", 5000},
		{"no ranges, and lost", 1000, lose(10), "was lost (unexpected EOF)", 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			site, a, f := testFile(t)
			path := filepath.Join(t.TempDir(), "part")
			if err := os.WriteFile(path, content[:test.there], 0o644); err != nil {
				t.Fatal(err)
			}
			site.Around = test.answer
			err := a.Fetch(t.Context(), f, path, nothing)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if left, err := os.ReadFile(path); err != nil || !slices.Equal(left, content[:test.left]) {
				t.Errorf("%d bytes are left, want %d: %v", len(left), test.left, err)
			}
			site.Around = nil
			if err := a.Fetch(t.Context(), f, path, nothing); err != nil {
				t.Fatal(err)
			}
			checkContent(t, path)
		})
	}
}

// lose breaks the connection after n bytes.
func lose(n int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.Write(content[:n])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// An interrupted download ends at once, and what has come stays.
func TestFetchInterrupted(t *testing.T) {
	site, a, f := testFile(t)
	path := filepath.Join(t.TempDir(), "part")
	ctx, cancel := context.WithCancel(t.Context())
	site.Around = func(w http.ResponseWriter, r *http.Request) bool {
		w.Write(content[:3000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}
	var n int64
	err := a.Fetch(ctx, f, path, func(d int64) {
		if n += d; n == 3000 {
			cancel()
		}
	})
	if err != context.Canceled {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadFile(path); err != nil || !slices.Equal(left, content[:3000]) {
		t.Errorf("%d bytes are left: %v", len(left), err)
	}
}

// A site that says nothing for too long is given up.
func TestFetchSilent(t *testing.T) {
	site, a, f := testFile(t)
	site.Around = func(w http.ResponseWriter, r *http.Request) bool {
		w.Write(content[:10])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}
	a.Patience = 50 * time.Millisecond
	err := a.Fetch(t.Context(), f, filepath.Join(t.TempDir(), "part"), nothing)
	if err == nil || !strings.Contains(err.Error(), "was lost (no byte has come for 50ms)") {
		t.Errorf("error %v", err)
	}
}

// A full disk has another error than a site that fails.
func TestFetchDiskFull(t *testing.T) {
	_, a, f := testFile(t)
	path := filepath.Join(t.TempDir(), "part")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	if err := a.Fetch(t.Context(), f, path, nothing); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
}
