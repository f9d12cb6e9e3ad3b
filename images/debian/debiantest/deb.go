package debiantest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Deb returns a .deb file (deb(5)) with files, by their paths, compressed as the end of a name
// says: "", ".gz", ".xz", ".zst".
func Deb(t testing.TB, compression string, files map[string][]byte) []byte {
	t.Helper()
	var headers []tar.Header
	for _, path := range slices.Sorted(maps.Keys(files)) {
		headers = append(headers, tar.Header{Name: "./" + path, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(files[path]))})
	}
	data := Tar(t, headers, func(h tar.Header) []byte { return files[h.Name[2:]] })
	return Ar(
		Member{"debian-binary", []byte("2.0\n")},
		Member{"_other", []byte("odd")}, // readers skip it
		Member{"control.tar", Tar(t, nil, nil)},
		Member{"data.tar" + compression, Compress(t, compression, data)},
	)
}

// Tar returns a tar archive of files with these headers.
func Tar(t testing.TB, headers []tar.Header, content func(tar.Header) []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		must(t, w.WriteHeader(&h))
		if h.Typeflag == tar.TypeReg {
			_, err := w.Write(content(h))
			must(t, err)
		}
	}
	must(t, w.Close())
	return out.Bytes()
}

// A Member is a file of an ar archive.
type Member struct {
	Name string
	Data []byte
}

// Ar returns an ar archive.
func Ar(members ...Member) []byte {
	out := []byte("!<arch>\n")
	for _, m := range members {
		out = fmt.Appendf(out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", m.Name, 0, 0, 0, "100644", len(m.Data))
		out = append(out, m.Data...)
		if len(m.Data)%2 == 1 {
			out = append(out, '\n')
		}
	}
	return out
}

// Compress returns data compressed as the end of a file's name says.
func Compress(t testing.TB, compression string, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch compression {
	case "":
		return data
	case ".gz":
		w = gzip.NewWriter(&out)
	case ".xz":
		w, err = xz.NewWriter(&out)
	case ".zst":
		w, err = zstd.NewWriter(&out)
	default:
		t.Fatalf("no way to compress as %q", compression)
	}
	must(t, err)
	_, err = w.Write(data)
	must(t, err)
	must(t, w.Close())
	return out.Bytes()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
