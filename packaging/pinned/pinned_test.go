package main

import (
	"bytes"
	"debug/elf"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A library that creates a thread needs a version of that function, and afterwards the oldest.
func TestRelax(t *testing.T) {
	dir := t.TempDir()
	source, lib := filepath.Join(dir, "thread.c"), filepath.Join(dir, "thread.so")
	text := `#include <pthread.h>
		#include <math.h>
		#include <stdio.h>
		double thread(pthread_t *t, void *(*f)(void *), double x) { printf("%d", pthread_create(t, 0, f, 0)); return pow(x, x); }`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", lib, source, "-lm", "-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(lib)
	if err != nil {
		t.Fatal(err)
	}
	before := versions(t, data)
	if err := relax(data); err != nil {
		t.Fatal(err)
	}
	for name, version := range versions(t, data) {
		want := before[name]
		if renewed[want] {
			want = "GLIBC_2.2.5"
		}
		if version != want {
			t.Errorf("%s needs %s (want %s; before: %s)", name, version, want, before[name])
		}
	}
	if !renewed[before["pthread_create"]] || !renewed[before["pow"]] {
		t.Errorf("the test's library needs nothing that was renewed: %v", before)
	}
	if err := os.WriteFile(lib, data, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("readelf", "--version-info", lib).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("GLIBC_2.34")) || !bytes.Contains(out, []byte("GLIBC_2.2.5")) {
		t.Errorf("readelf: %v\n%s", err, out)
	}
}

// versions returns those of the symbols that a library needs, by their names.
func versions(t *testing.T, lib []byte) map[string]string {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(lib))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.ImportedSymbols()
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{}
	for _, s := range symbols {
		of[s.Name] = s.Version
	}
	return of
}

func TestRelaxRefuses(t *testing.T) {
	for _, lib := range []string{"", "no library", "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 57)} {
		if err := relax([]byte(lib)); err == nil {
			t.Errorf("%q: no error", lib)
		}
	}
}

// A site that lacks the package, or has another one, is passed over.
func TestFetch(t *testing.T) {
	good := server(t, "the package")
	p := pin{path: "pool/a.deb", sha256: sum(t, "the package")}
	file, err := fetch(t.TempDir(), []string{server(t, ""), server(t, "another"), good}, p)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "the package" {
		t.Errorf("%q, %v", text, err)
	}
	_, err = fetch(t.TempDir(), []string{server(t, ""), server(t, "another")}, p)
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "404") || !strings.Contains(err.Error(), "want "+p.sha256) {
		t.Errorf("%v", err)
	}
}

// server returns the address of a site with one package; with none, if it is empty.
func server(t *testing.T, text string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text == "" || r.URL.Path != "/pool/a.deb" {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func sum(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sha256sum", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out[:64])
}

func TestPinsOf(t *testing.T) {
	for _, set := range []struct {
		arch, name string
		n          int
	}{{"amd64", "library", 2}, {"arm64", "library", 2}, {"amd64", "sysroot", 3}, {"arm64", "sysroot", 0}, {"riscv64", "library", 0}} {
		pins := pinsOf(packages, set.arch, set.name)
		if len(pins) != set.n {
			t.Errorf("%s for %s: %d packages (want %d)", set.name, set.arch, len(pins), set.n)
		}
		for _, p := range pins {
			if len(p.sha256) != 64 || !strings.HasPrefix(p.path, "pool/") || !strings.HasSuffix(p.path, "_"+set.arch+".deb") {
				t.Errorf("%+v", p)
			}
		}
	}
}
