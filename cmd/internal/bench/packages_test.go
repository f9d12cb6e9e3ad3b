package main

import (
	"archive/tar"
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/u-root/u-root/pkg/cpio"
)

func TestPackageNames(t *testing.T) {
	const out = `bpftrace
  Depends: libbpf1
    libbpf1:i386
  Depends: <awk>
libbpf1
<awk>
  mawk
mawk
`
	if got, want := packageNames(out), []string{"bpftrace", "libbpf1", "mawk"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPackTar(t *testing.T) {
	var tarball, archive bytes.Buffer
	tw := tar.NewWriter(&tarball)
	for _, h := range []tar.Header{
		{Name: "./", Typeflag: tar.TypeDir},
		{Name: "./usr/", Typeflag: tar.TypeDir},
		{Name: "./usr/p", Typeflag: tar.TypeReg, Size: 3, Mode: 0o755},
		{Name: "./usr/share/doc", Typeflag: tar.TypeReg},
		{Name: "./usr/l", Typeflag: tar.TypeSymlink, Linkname: "p"},
	} {
		if err := tw.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write(bytes.Repeat([]byte{'x'}, int(h.Size))); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	ino := uint64(1)
	if err := packTar(cpio.Newc.Writer(&archive), &tarball, &ino); err != nil {
		t.Fatal(err)
	}
	rs, err := cpio.ReadAllRecords(cpio.Newc.Reader(bytes.NewReader(archive.Bytes())))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rs {
		got = append(got, r.String())
	}
	want := []string{"usr", "usr/p", "usr/l"}
	if len(rs) != len(want) {
		t.Fatalf("%q", got)
	}
	for i, r := range rs {
		if r.Name != want[i] || r.Ino != uint64(i)+1 {
			t.Errorf("%q", got)
		}
	}
	if rs[1].Mode != cpio.S_IFREG|0o755 || rs[1].FileSize != 3 || rs[2].Mode&cpio.S_IFLNK != cpio.S_IFLNK {
		t.Errorf("%q", got)
	}
	device := tar.Header{Name: "./dev/null", Typeflag: tar.TypeChar}
	if _, _, err := record(&device, strings.NewReader("")); err == nil {
		t.Error("a device was taken")
	}
}
