package debian

import (
	"archive/tar"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"trapline/images/debian/debiantest"
	"trapline/internal/hostile"
)

// aTar is an archive as a kernel's package has it: directories, files and links.
func aTar(t testing.TB) []byte {
	large := bytes.Repeat([]byte("large "), 5000)
	return debiantest.Tar(t, []tar.Header{
		{Name: "./boot/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "./boot/vmlinuz", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(large))},
		{Name: "./lib/" + strings.Repeat("long", 30) + "/a.ko", Typeflag: tar.TypeReg, Mode: 0o755, Size: 3},
		{Name: "./boot/link", Typeflag: tar.TypeSymlink, Linkname: "vmlinuz"},
		{Name: "./boot/hard", Typeflag: tar.TypeLink, Linkname: "./boot/vmlinuz"},
	}, func(h tar.Header) []byte { return large[:h.Size] })
}

// debOf is a package with an archive.
func debOf(t testing.TB, compression string, data []byte) []byte {
	return debiantest.Ar(debiantest.Member{Name: "debian-binary", Data: []byte("2.0\n")},
		debiantest.Member{Name: "control.tar", Data: debiantest.Tar(t, nil, nil)},
		debiantest.Member{Name: "data.tar" + compression, Data: debiantest.Compress(t, compression, data)})
}

// unpack unpacks a package into an empty directory.
func unpack(t *testing.T, dir string, deb []byte) error {
	p, err := OpenPackage(bytes.NewReader(deb), int64(len(deb)))
	if err != nil {
		return err
	}
	defer p.Close()
	x := NewExtractor(dir)
	if err := x.Extract(t.Context(), p, SameName); err != nil {
		return err
	}
	return x.Finish()
}

// TestMutations unpacks packages that somebody has changed, within their archives too: each is unpacked or
// is an error of one line, nothing is written outside of the directory, and one that nobody has changed
// is unpacked afterwards as before.
func TestMutations(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(outside, "dir")
	archive := aTar(t)
	fresh := func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tries, unpacked := hostile.Mutations(t, 160), 0
	for i := range tries {
		r := rand.New(rand.NewPCG(18, uint64(i)))
		compression := compressions[i%len(compressions)]
		inner := slices.Clone(archive)
		if i/4%2 == 0 {
			hostile.Places(inner, 0, 4, r)
		}
		deb := debOf(t, compression, inner)
		if i/4%2 == 1 {
			hostile.Places(deb, 0, 4, r)
		}
		fresh()
		name := fmt.Sprintf("mutation %d, data.tar%s", i, compression)
		hostile.Ends(t, name, func() {
			err := unpack(t, dir, deb)
			hostile.OneLine(t, name, err)
			if err == nil {
				unpacked++
			}
		})
		if left, err := os.ReadDir(outside); len(left) != 1 || err != nil {
			t.Fatalf("%s: %d files are outside, %v", name, len(left)-1, err)
		}
	}
	t.Logf("%d of %d packages are unpacked", unpacked, tries)
	if unpacked == 0 || unpacked == tries {
		t.Errorf("%d of %d packages are unpacked", unpacked, tries)
	}
	fresh()
	if err := unpack(t, dir, debOf(t, ".xz", archive)); err != nil {
		t.Error(err)
	}
}
