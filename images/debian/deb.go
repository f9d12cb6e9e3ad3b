package debian

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"
)

// Limits of what a package can ask for. Those of Debian's kernels have 7 GB and a dictionary
// of 8 MiB.
const (
	maxPackage    = 32 << 30 // bytes that it unpacks to
	maxDictionary = 64 << 20 // bytes that its decompressor keeps
)

// A Package is the files of a package, read as a stream.
type Package struct {
	tar   *tar.Reader
	total int64 // bytes of the files so far
	close func()
}

// Next goes on to the next file and returns its header; io.EOF after the last one.
func (p *Package) Next() (*tar.Header, error) {
	hdr, err := p.tar.Next()
	if err != nil {
		return nil, err
	}
	// A file with holes is longer than what it is unpacked from.
	if hdr.Size > maxPackage-p.total {
		return nil, errTooLong
	}
	p.total += hdr.Size
	return hdr, nil
}

// Read reads the file that Next has come to.
func (p *Package) Read(b []byte) (int, error) { return p.tar.Read(b) }

// Close gives back what reading takes.
func (p *Package) Close() { p.close() }

var errTooLong = fmt.Errorf("it unpacks to more than %d bytes", int64(maxPackage))

// OpenPackage reads a .deb file of that many bytes (deb(5)). Files can be read from the
// package as from a tar archive. What is damaged, ends too early or unpacks to too much is an
// error of OpenPackage, Next or Read.
func OpenPackage(deb io.ReaderAt, size int64) (*Package, error) {
	name, data, err := findData(deb, size)
	if err != nil {
		return nil, err
	}
	r, closer, err := decompress(name, bufio.NewReaderSize(data, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, endOfFile(err))
	}
	return &Package{tar: tar.NewReader(&limited{r, maxPackage}), close: closer}, nil
}

// Sizes and marks of an ar archive (deb(5)).
const (
	arMagic      = "!<arch>\n"
	arHeaderSize = 60
	arHeaderEnd  = "`\n"
)

// findData finds the member with the files. The members before it are few: version and control.
func findData(deb io.ReaderAt, size int64) (string, *io.SectionReader, error) {
	magic := make([]byte, len(arMagic))
	if _, err := deb.ReadAt(magic, 0); err != nil && err != io.EOF || string(magic) != arMagic {
		return "", nil, errors.Join(notEOF(err), errors.New("it is not a Debian package"))
	}
	for at := int64(len(arMagic)); ; {
		name, length, err := arHeader(deb, at)
		if err != nil {
			return "", nil, err
		}
		at += arHeaderSize
		if length > size-at {
			return "", nil, fmt.Errorf("%s has %d bytes where the package has %d left: %w", name, length, size-at, io.ErrUnexpectedEOF)
		}
		if name == "data.tar" || strings.HasPrefix(name, "data.tar.") {
			return name, io.NewSectionReader(deb, at, length), nil
		}
		at += length + length%2
	}
}

// arHeader reads the header of a member: its name and size.
func arHeader(deb io.ReaderAt, at int64) (name string, size int64, err error) {
	raw := make([]byte, arHeaderSize)
	if n, err := deb.ReadAt(raw, at); n < len(raw) {
		if n == 0 && err == io.EOF {
			return "", 0, errors.New("the package has no data.tar")
		}
		return "", 0, endOfFile(err)
	}
	name = strings.TrimRight(strings.TrimRight(string(raw[:16]), " "), "/")
	size, err = strconv.ParseInt(strings.TrimRight(string(raw[48:58]), " "), 10, 64)
	if err != nil || size < 0 || string(raw[58:]) != arHeaderEnd {
		return "", 0, fmt.Errorf("the package has a damaged header at byte %d", at)
	}
	return name, size, nil
}

// decompress unpacks a member by the end of its name.
func decompress(name string, r io.Reader) (io.Reader, func(), error) {
	nothing := func() {}
	switch strings.TrimPrefix(name, "data.tar") {
	case "":
		return r, nothing, nil
	case ".gz":
		z, err := gzip.NewReader(r)
		return z, nothing, err
	case ".xz":
		z, err := xz.NewReader(r, maxDictionary)
		return z, nothing, err
	case ".zst":
		z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxDictionary), zstd.WithDecoderMaxMemory(maxPackage))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return nil, nil, errors.New("it is compressed in a way that trapline does not know (want xz, zst, gz)")
}

// endOfFile makes the end of a file in the middle of something an error.
func endOfFile(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func notEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// A limited reader fails when there is more than it may read.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errTooLong
	}
	return n, err
}
