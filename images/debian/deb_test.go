package debian

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"trapline/images/debian/debiantest"
)

// readPackage reads all files of a package.
func readPackage(deb []byte) (map[string]string, error) {
	p, err := OpenPackage(bytes.NewReader(deb), int64(len(deb)))
	if err != nil {
		return nil, err
	}
	defer p.Close()
	files := map[string]string{}
	for {
		hdr, err := p.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return files, err
		}
		data, err := io.ReadAll(p)
		if err != nil {
			return files, err
		}
		files[hdr.Name] = string(data)
	}
}

var compressions = []string{"", ".gz", ".xz", ".zst"}

// TestPackage reads packages in every compression; none that is cut is read to its end.
func TestPackage(t *testing.T) {
	large := strings.Repeat("large ", 20_000)
	for _, compression := range compressions {
		deb := debiantest.Deb(t, compression, map[string][]byte{"a/b": []byte("b"), "large": []byte(large)})
		files, err := readPackage(deb)
		if err != nil || len(files) != 2 || files["./a/b"] != "b" || files["./large"] != large {
			t.Errorf("%s: %d files, %v", compression, len(files), err)
		}
		for n := 0; n < len(deb)-1; n += 1 + n/100 {
			if _, err := readPackage(deb[:n]); err == nil || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%s: %d of %d bytes: error %v", compression, n, len(deb), err)
			}
		}
	}
}

// TestPackageDpkg has dpkg-deb say what is in the packages that we make, where the host has it.
func TestPackageDpkg(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		return // not a Debian: the other tests read what our own writer makes
	}
	deb := filepath.Join(t.TempDir(), "x.deb")
	for _, compression := range compressions {
		if err := os.WriteFile(deb, debiantest.Deb(t, compression, map[string][]byte{"a/b": []byte("b")}), 0o644); err != nil {
			t.Fatal(err)
		}
		tarfile, err := exec.Command("dpkg-deb", "--fsys-tarfile", deb).Output()
		if err != nil || !bytes.Contains(tarfile, []byte("./a/b")) {
			t.Errorf("%s: %v", compression, err)
		}
	}
}

func TestPackageErrors(t *testing.T) {
	version := debiantest.Member{Name: "debian-binary", Data: []byte("2.0\n")}
	whole := debiantest.Ar(version, debiantest.Member{Name: "data.tar", Data: debiantest.Tar(t, nil, nil)})
	patch := func(at int, text string) []byte {
		deb := bytes.Clone(whole)
		copy(deb[at:], text)
		return deb
	}
	data := func(name, content string) []byte {
		return debiantest.Ar(version, debiantest.Member{Name: name, Data: []byte(content)})
	}
	const second = 8 + 60 + 4 // the header of data.tar
	for _, test := range []struct {
		name string
		deb  []byte
		want string
		is   error
	}{
		{"empty", nil, "it is not a Debian package", nil},
		{"another file", []byte("\x7fELF and more"), "it is not a Debian package", nil},
		{"no data", debiantest.Ar(version), "the package has no data.tar", nil},
		{"absurd size", patch(second+48, "9999999999"), "data.tar has 9999999999 bytes where the package has 1024 left", io.ErrUnexpectedEOF},
		{"absurd size before it", patch(8+48, "9999999999"), "debian-binary has 9999999999 bytes", io.ErrUnexpectedEOF},
		{"negative size", patch(second+48, "-1        "), "the package has a damaged header at byte 72", nil},
		{"no size", patch(second+48, "          "), "the package has a damaged header at byte 72", nil},
		{"no end", patch(second+58, "  "), "the package has a damaged header at byte 72", nil},
		{"size in the middle", patch(second+48, "3         "), "unexpected EOF", nil},
		{"compression", data("data.tar.lzma", "x"), "data.tar.lzma: it is compressed in a way that trapline does not know", nil},
		{"not xz", data("data.tar.xz", "this is no xz file at all"), "data.tar.xz: ", nil},
		{"nothing of xz", data("data.tar.xz", ""), "data.tar.xz: xz: data is truncated or corrupt", nil},
		{"not gz", data("data.tar.gz", "no"), "data.tar.gz: unexpected EOF", io.ErrUnexpectedEOF},
		{"not zstd", data("data.tar.zst", "this is no zstd file"), "magic number mismatch", nil},
		{"not tar", data("data.tar", strings.Repeat("x", 1024)), "invalid tar header", nil},
		{"holes", data("data.tar", string(sparse())), "it unpacks to more than 34359738368 bytes", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := readPackage(test.deb)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %v is not %v", err, test.is)
			}
		})
	}
}

// sparse is a tar archive with a file of 64 GB that is one hole (the old format of GNU tar).
func sparse() []byte {
	h := make([]byte, 512)
	copy(h, "hole")
	copy(h[100:], "0000644\x000000000\x000000000\x0000000000000\x0000000000000\x00")
	h[156] = 'S'
	copy(h[257:], "ustar  \x00")
	copy(h[386:], "00000000000\x0000000000000\x00")
	h[483] = 0x80 // base 256
	h[483+12-5] = 16
	copy(h[148:], "        ")
	var sum int
	for _, b := range h {
		sum += int(b)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return append(h, make([]byte, 1024)...)
}

// A stream that unpacks to more than it may ends with an error.
func TestLimited(t *testing.T) {
	n, err := io.Copy(io.Discard, &limited{strings.NewReader(strings.Repeat("x", 100)), 50})
	if err != errTooLong {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n, err := io.Copy(io.Discard, &limited{strings.NewReader("x"), 1}); n != 1 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestExtract(t *testing.T) {
	headers := []tar.Header{
		{Name: "./", Typeflag: tar.TypeDir, Mode: 0o700},
		{Name: "./l", Typeflag: tar.TypeSymlink, Linkname: "d/f"},
		{Name: "./d/f", Typeflag: tar.TypeReg, Mode: 0o755, Size: 1},
		{Name: "./e/h", Typeflag: tar.TypeLink, Linkname: "./d/f"},
		{Name: "./empty/", Typeflag: tar.TypeDir},
	}
	dir := t.TempDir()
	x := NewExtractor(dir)
	if err := extractAll(t, x, headers); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"d/f", "l", "e/h"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != "x" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if st, err := os.Stat(filepath.Join(dir, "d/f")); err != nil || st.Mode().Perm()&0o100 == 0 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	if st, err := os.Stat(filepath.Join(dir, "empty")); err != nil || !st.IsDir() {
		t.Errorf("no directory: %v", err)
	}
}

func extractAll(t *testing.T, x *Extractor, headers []tar.Header) error {
	t.Helper()
	data := debiantest.Tar(t, headers, func(tar.Header) []byte { return []byte("x") })
	if err := x.Extract(t.Context(), tar.NewReader(bytes.NewReader(data)), SameName); err != nil {
		return err
	}
	return x.Finish()
}

// TestExtractOutside: nothing is written outside of the directory, and nothing through a link.
func TestExtractOutside(t *testing.T) {
	file := func(name string) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: 1}
	}
	link := func(name, to string, kind byte) tar.Header {
		return tar.Header{Name: name, Typeflag: kind, Linkname: to}
	}
	for _, test := range []struct {
		name    string
		headers []tar.Header
	}{
		{"up", []tar.Header{file("../victim")}},
		{"up from below", []tar.Header{file("a/../../victim")}},
		{"absolute", []tar.Header{file("/victim")}},
		{"through a link", []tar.Header{link("a", "..", tar.TypeSymlink), file("a/victim")}},
		{"link through a link", []tar.Header{link("a", "..", tar.TypeSymlink), link("a/victim", "x", tar.TypeSymlink)}},
		{"over a link", []tar.Header{link("a", "../victim", tar.TypeSymlink), link("a", "../victim", tar.TypeSymlink)}},
		{"hard link", []tar.Header{link("a", "../secret", tar.TypeLink)}},
		{"device", []tar.Header{{Name: "a", Typeflag: tar.TypeChar}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "dir")
			for name, make := range map[string]func(string) error{
				"dir":    func(p string) error { return os.Mkdir(p, 0o755) },
				"secret": func(p string) error { return os.WriteFile(p, nil, 0o644) },
			} {
				if err := make(filepath.Join(parent, name)); err != nil {
					t.Fatal(err)
				}
			}
			if err := extractAll(t, NewExtractor(dir), test.headers); err == nil {
				t.Error("no error")
			}
			if _, err := os.Lstat(filepath.Join(parent, "victim")); err == nil {
				t.Error("written outside")
			}
		})
	}
}

func FuzzPackage(f *testing.F) {
	for _, compression := range compressions {
		f.Add(debiantest.Deb(f, compression, map[string][]byte{"a": []byte("b")}))
	}
	f.Fuzz(func(t *testing.T, deb []byte) {
		p, err := OpenPackage(bytes.NewReader(deb), int64(len(deb)))
		if err != nil {
			return
		}
		defer p.Close()
		for range 100 {
			if _, err := p.Next(); err != nil {
				return
			}
			io.CopyN(io.Discard, p, 1<<20)
		}
	})
}
