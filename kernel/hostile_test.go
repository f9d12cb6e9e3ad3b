package kernel

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// compress writes n bytes of zeros, and what is to come before them, in a format of modules.
func compress(t testing.TB, format string, before []byte, n int64) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch format {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "xz":
		w, err = xz.NewWriter(&out)
	case "zstd":
		w, err = zstd.NewWriter(&out)
	}
	if err == nil {
		_, err = w.Write(before)
	}
	for zeros := make([]byte, 1<<20); n > 0 && err == nil; n -= 1 << 20 {
		_, err = w.Write(zeros)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestModuleBomb: a small file does not become as much memory as it likes.
func TestModuleBomb(t *testing.T) {
	for _, format := range []string{"gzip", "xz", "zstd"} {
		data := compress(t, format, []byte(elf.ELFMAG), 72<<20)
		path := filepath.Join(t.TempDir(), "bomb.ko")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := OpenModule(path)
		want := fmt.Sprintf("module %s: its %d bytes decompress to more than %d MiB, the limit for as many", path, len(data), limitOf(len(data))>>20)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", format, err, want)
		}
	}
}

// TestXZDictionary: no block of an xz file gets a dictionary that is too large.
func TestXZDictionary(t *testing.T) {
	var out bytes.Buffer
	w, err := xz.WriterConfig{BlockSize: 1 << 18, DictCap: 1 << 23}.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 5<<18)
	for i, x := 0, uint32(1); i < len(noise)/2; i++ { // one half can be compressed
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	w.Write(noise)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	good := out.Bytes()
	if plain, err := decompress(good); err != nil || !bytes.Equal(plain, noise) {
		t.Errorf("%d blocks do not decompress: %v", 5, err)
	}
	// The property of the filter, in the header of each block: 40 is 4 GiB - 1.
	blocks := 0
	for at := 12; at < len(good); at++ {
		filter := []byte{0x21, 1, 22}
		if !bytes.HasPrefix(good[at:], filter) {
			continue
		}
		blocks++
		bad := bytes.Clone(good)
		bad[at+2] = 40
		header := bad[at-2:][:4*int(good[at-2])]
		binary.LittleEndian.PutUint32(bad[at-2+len(header):], crc32.ChecksumIEEE(header))
		if _, err := decompress(bad); err == nil || !strings.Contains(err.Error(), "a dictionary of more than 64 MiB, the limit") {
			t.Errorf("block %d: %v", blocks, err)
		}
	}
	if blocks != 5 {
		t.Errorf("%d blocks, want 5", blocks)
	}
}

func FuzzDecompress(f *testing.F) {
	for _, format := range []string{"gzip", "xz", "zstd"} {
		f.Add(compress(f, format, []byte("a module"), 1<<16), uint16(20), byte(0xff))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint16, xor byte) {
		if int(at) < len(data) {
			data[at] ^= xor
		}
		plain, err := decompress(data)
		if int64(len(plain)) > limitOf(len(data)) {
			t.Errorf("%d bytes of %d", len(plain), len(data))
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Error(err)
		}
	})
}

// claim makes the first section of debug information of the teaching kernel compressed, with a claim.
func claim(t *testing.T, size uint64, payload []byte) []byte {
	t.Helper()
	data, err := os.ReadFile("../images/tiny/tiny-amd64.elf")
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	for i, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 || s.Type != elf.SHT_PROGBITS {
			continue
		}
		header := data[le.Uint64(data[40:])+uint64(i)*sectionSize:]
		le.PutUint64(header[8:], uint64(elf.SHF_COMPRESSED))
		le.PutUint64(header[24:], uint64(len(data)))
		le.PutUint64(header[32:], uint64(24+len(payload)))
		chdr := le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, uint64(elf.COMPRESS_ZSTD)), size), 1)
		return append(append(data, chdr...), payload...)
	}
	t.Fatal("there is no section to compress")
	return nil
}

// TestCompressedSection: what a section claims to decompress to has a limit; a section that has less
// is not there.
func TestCompressedSection(t *testing.T) {
	payload := compress(t, "zstd", nil, 1<<20)
	for _, test := range []struct {
		size uint64
		want string
	}{
		{1 << 20, ""},
		{1 << 19, ""}, // what is behind the claim is not looked at
		{1 << 21, "not there"},
		{1 << 40, "to 1099511627776, more than 64 MiB, the limit for as many"},
		{1<<64 - 1, "to 18446744073709551615, more than 64 MiB, the limit for as many"},
	} {
		data := claim(t, test.size, payload)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		img, err := New(bytes.NewReader(data), int64(len(data)), "claim")
		have := ""
		if err != nil {
			have = err.Error()
		} else {
			for _, s := range img.elf.Sections {
				if s.Flags&elf.SHF_COMPRESSED == 0 {
					continue
				}
				if data, _, ok := img.Section(s.Name); !ok {
					have = "not there"
				} else if uint64(len(data)) != test.size {
					t.Errorf("%d bytes, want %d", len(data), test.size)
				}
			}
		}
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 96<<20 {
			t.Errorf("%d: %d MiB are taken", test.size, (after.TotalAlloc-before.TotalAlloc)>>20)
		}
		if !strings.Contains(have, test.want) || strings.Contains(have, "\n") || (have == "") != (test.want == "") {
			t.Errorf("a claim of %d: %q, want %q", test.size, have, test.want)
		}
	}
}

// TestSymbolSize: no function has more bytes than the file.
func TestSymbolSize(t *testing.T) {
	data, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	table := f.SectionByType(elf.SHT_SYMTAB)
	for at := table.Offset; at < table.Offset+table.Size; at += symSize {
		binary.LittleEndian.PutUint64(data[at+16:], 1<<24)
	}
	img, err := New(bytes.NewReader(data), int64(len(data)), "sizes")
	if err != nil {
		t.Fatal(err)
	}
	funcs := img.Symtab().Funcs()
	for _, s := range funcs {
		if s.Size > uint64(len(data)) {
			t.Errorf("%s has %d bytes", s.Name, s.Size)
		}
	}
	if len(funcs) == 0 {
		t.Error("there are no functions")
	}
}

// TestLongNames: a name that many have is not read for each.
func TestLongNames(t *testing.T) {
	data, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	strndx := uint64(le.Uint16(data[62:]))
	header := data[le.Uint64(data[40:])+strndx*sectionSize:]
	le.PutUint64(header[24:], uint64(len(data)))
	le.PutUint64(header[32:], 1<<20+1)
	data = append(append(data, bytes.Repeat([]byte{0x78}, 1<<20)...), 0)
	if _, err := New(bytes.NewReader(data), int64(len(data)), "names"); err == nil ||
		!strings.HasSuffix(err.Error(), "damaged: the name of section 0 has more than 4096 bytes") {
		t.Error(err)
	}
	if name := stringAt(strings.Repeat("x", 1<<20), 5); name != "" {
		t.Errorf("a name of %d bytes", len(name))
	}
}

// TestRecover: a panic is an error of one line.
func TestRecover(t *testing.T) {
	err := func() (err error) {
		defer Recover(&err)
		var none []byte
		none[len(none)] = 1
		return nil
	}()
	if err == nil || err.Error() != "damaged: runtime error: index out of range [0] with length 0" {
		t.Error(err)
	}
}
