package kernel

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"
)

// Beginnings of compressed files.
var (
	magicGzip = []byte{0x1f, 0x8b}
	magicXZ   = []byte{0xfd, '7', 'z', 'X', 'Z', 0}
	magicZstd = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// maxWindow is how far back compressed data may refer, in bytes, which is memory that
// decompressing takes from the start: xz -9 and zstd --ultra need as much, modules a few MiB.
const maxWindow = 64 << 20

// limitOf is the bytes that n bytes may decompress to: what they hold is a part of a kernel, which
// becomes a few times as large, not a thousand times.
func limitOf(n int) int64 { return 64<<20 + 32*int64(n) }

// limited reads all that n compressed bytes decompress to, if that is not more than it may be.
func limited(r io.Reader, n int) ([]byte, error) {
	limit := limitOf(n)
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, damage(err)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("its %d bytes decompress to more than %d MiB, the limit for as many", n, limit>>20)
	}
	return data, nil
}

// Decompress gives what is in a file that is compressed by gzip, xz or zstd, and any other as it is.
// Errors say what is wrong with it.
func Decompress(data []byte) ([]byte, error) { return decompress(data) }

// Compressed reports whether a file that begins so is one that Decompress opens.
func Compressed(head []byte) bool {
	return bytes.HasPrefix(head, magicGzip) || bytes.HasPrefix(head, magicXZ) || bytes.HasPrefix(head, magicZstd)
}

// decompress gives what is in a file of a format that Linux's modules come in.
func decompress(data []byte) (plain []byte, err error) {
	defer Recover(&err)
	var r io.Reader
	switch in := bytes.NewReader(data); {
	case bytes.HasPrefix(data, magicGzip):
		r, err = gzip.NewReader(in)
	case bytes.HasPrefix(data, magicXZ):
		r, err = xz.NewReader(in, maxWindow)
	case bytes.HasPrefix(data, magicZstd):
		z, zerr := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err = zerr; err == nil {
			defer z.Close()
			r = z
		}
	default:
		return data, nil
	}
	if err != nil {
		return nil, damage(err)
	}
	return limited(r, len(data))
}

// damage says what is wrong with compressed data.
func damage(err error) error {
	if errors.Is(err, xz.ErrMemlimit) {
		return fmt.Errorf("it needs a dictionary of more than %d MiB, the limit", maxWindow>>20)
	}
	return fmt.Errorf("damaged: %w", err)
}

// decompressed is a section that is compressed. What it claims has been checked when the file was
// opened.
func (img *Image) decompressed(s *elf.Section) (data []byte, err error) {
	defer Recover(&err)
	return s.Data()
}

// oldCompressed is a section of debug information as GNU compressed it before ELF had a way: .debug_info is
// .zdebug_info, and begins with "ZLIB" and its size, with the high byte first.
func (img *Image) oldCompressed(name string) (data []byte, addr uint64, ok bool) {
	const header = 12
	debug, isDebug := strings.CutPrefix(name, ".debug_")
	if !isDebug || img.data == nil {
		return nil, 0, false
	}
	s := img.elf.Section(".zdebug_" + debug)
	if s == nil {
		return nil, 0, false
	}
	packed := img.bytes(s)
	if len(packed) < header || string(packed[:4]) != "ZLIB" {
		return nil, 0, false
	}
	z, err := zlib.NewReader(bytes.NewReader(packed[header:]))
	if err != nil {
		return nil, 0, false
	}
	data, err = limited(z, len(packed))
	return data, s.Addr, err == nil && uint64(len(data)) == binary.BigEndian.Uint64(packed[4:])
}

// checkClaim looks that a compressed section claims to be no larger than it may.
func checkClaim(s *elf.Section) error {
	if limit := limitOf(int(s.FileSize)); s.Flags&elf.SHF_COMPRESSED != 0 && s.Size > uint64(limit) {
		return fmt.Errorf("damaged: section %s claims to decompress from %d bytes to %d, more than %d MiB, the limit for as many",
			s.Name, s.FileSize, s.Size, limit>>20)
	}
	return nil
}
