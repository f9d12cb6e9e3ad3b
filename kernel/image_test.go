package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"trapline/kernel/arch"
)

const fixture = "testdata/kernel-amd64.elf"

func open(t testing.TB) *Image {
	t.Helper()
	img, err := Open(fixture)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	return img
}

func TestImage(t *testing.T) {
	img := open(t)
	if img.Arch() != arch.AMD64 || img.Name() != fixture || img.Entry() != 0x1000000 {
		t.Errorf("arch %v, name %s, entry %#x", img.Arch(), img.Name(), img.Entry())
	}
	// readelf -n
	if got, want := img.BuildID(), "0a3e4a358b9896d23851d164484163f0e44ef47d"; got != want {
		t.Errorf("build ID %s, want %s", got, want)
	}
	if got, want := img.Banner("linux_banner"), "Linux version 6.1.0-test (someone@example.org) #1"; got != want {
		t.Errorf("version %q, want %q", got, want)
	}
}

func TestSegments(t *testing.T) {
	segs := open(t).Segments()
	// readelf -l
	want := []struct{ vaddr, paddr, memsz, filesz uint64 }{
		{0xffffffff81000000, 0x1000000, 0xb8, 0xb8},
		{0xffffffff81001000, 0x1001000, 0x120, 0x10},
		{0, 0x1002000, 8, 8},
		{0xffffffff81002008, 0x1002008, 0xb, 0xb},
	}
	if len(segs) != len(want) {
		t.Fatalf("%d segments, want %d", len(segs), len(want))
	}
	for i, w := range want {
		s := segs[i]
		if s.Vaddr != w.vaddr || s.Paddr != w.paddr || s.Memsz != w.memsz || uint64(len(s.Data)) != w.filesz {
			t.Errorf("segment %d: %#x %#x %#x %#x, want %#x", i, s.Vaddr, s.Paddr, s.Memsz, len(s.Data), w)
		}
	}
}

func TestSection(t *testing.T) {
	img := open(t)
	data, addr, ok := img.Section(".data")
	if !ok || addr != 0xffffffff81001000 || !bytes.Equal(data[:8], []byte{1, 0, 0, 0, 2, 0, 0, 0}) {
		t.Errorf(".data: %x at %#x, %v", data, addr, ok)
	}
	if data, addr, ok := img.Section(".bss"); !ok || data != nil || addr != 0xffffffff81001020 {
		t.Errorf(".bss: %x at %#x, %v", data, addr, ok)
	}
	if _, _, ok := img.Section(".none"); ok {
		t.Error("found a section .none")
	}
}

func TestText(t *testing.T) {
	const slide = 0x1d000000
	for _, tt := range []struct {
		name  string
		addr  uint64
		slide uint64
		want  []byte // nil: an error
	}{
		{"function", 0xffffffff81000023, 0, []byte{0x8d, 0x47, 0x01, 0xc3}},
		{"slid", 0xffffffff81000023 + slide, slide, []byte{0x8d, 0x47, 0x01, 0xc3}},
		{"not slid", 0xffffffff81000023, slide, nil},
		{"data into bss", 0xffffffff8100100c, 0, []byte{4, 0, 0, 0, 0, 0, 0, 0}},
		{"end of a segment", 0xffffffff810000b6, 0, nil},
		{"nowhere", 0x1000, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			img := open(t)
			img.SetSlide(tt.slide)
			got := make([]byte, max(len(tt.want), 4))
			err := img.Text(tt.addr, got)
			if (err != nil) != (tt.want == nil) || err == nil && !bytes.Equal(got, tt.want) {
				t.Errorf("Text = %x, %v; want %x", got, err, tt.want)
			}
		})
	}
}

// Every bad file gets one line that says what is wrong.
func TestOpenErrors(t *testing.T) {
	good, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		make func([]byte) []byte
		want string
	}{
		{"empty", func([]byte) []byte { return nil }, "not an ELF file: it is empty"},
		{"text", func([]byte) []byte { return []byte("#!/bin/sh\n") }, "not an ELF file"},
		{"bzimage", bzImage, "this is a compressed kernel (bzImage); symbols come from the vmlinux with --debug-file"},
		{"short", func(b []byte) []byte { return b[:20] }, "truncated: the file has 20 bytes, an ELF header 64"},
		{"half", func(b []byte) []byte { return b[:len(b)/2] }, "truncated: the section header table ends at byte 13968, the file at 6984"},
		{"class", set8(4, 1), "a 32-bit ELF file; only 64-bit kernels can be traced"},
		{"endian", set8(5, 2), "a big-endian ELF file; only little-endian kernels can be traced"},
		{"machine", set16(18, 8), "no support for EM_MIPS kernels (supported: amd64, arm64, riscv64)"},
		{"module", set16(16, 1), "a relocatable object (a kernel module?), not a kernel image"},
		{"core", set16(16, 4), "an ELF file of type ET_CORE, not a kernel image"},
		{"segment", set64(64+32, 0x100000), "truncated: the segment 0 ends at byte 1052672, the file at 13968"},
		{"overflow", set64(64+32, ^uint64(0)), "damaged: "},
		{"symtab", set64(0x33d0+8*64+32, 0x100000), "truncated: the section .symtab ends at byte 1060888, the file at 13968"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "vmlinux")
			if err := os.WriteFile(path, tt.make(bytes.Clone(good)), 0o666); err != nil {
				t.Fatal(err)
			}
			_, err := Open(path)
			if err == nil {
				t.Fatal("no error")
			}
			want := "kernel image " + path + ": " + tt.want
			if got := err.Error(); !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func bzImage([]byte) []byte {
	b := make([]byte, 0x1000)
	copy(b, "MZ")
	copy(b[0x202:], "HdrS")
	return b
}

func set8(off int, v byte) func([]byte) []byte {
	return func(b []byte) []byte { b[off] = v; return b }
}

func set16(off int, v uint16) func([]byte) []byte {
	return func(b []byte) []byte { binary.LittleEndian.PutUint16(b[off:], v); return b }
}

func set64(off int, v uint64) func([]byte) []byte {
	return func(b []byte) []byte { binary.LittleEndian.PutUint64(b[off:], v); return b }
}

func TestOpenSentinels(t *testing.T) {
	if _, err := New(bytes.NewReader(bzImage(nil)), 0x1000, "vmlinuz"); !errors.Is(err, ErrCompressed) {
		t.Errorf("bzImage: %v", err)
	}
	if _, err := New(strings.NewReader("x"), 1, "x"); !errors.Is(err, ErrNotELF) {
		t.Errorf("text: %v", err)
	}
	if _, err := New(strings.NewReader("x"), 2, "x"); err == nil {
		t.Error("a reader shorter than its size gave no error")
	}
	if _, err := Open("testdata/none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Open("testdata"); err == nil {
		t.Error("a directory gave no error")
	}
}

// A stripped image opens, and says that it has no symbols.
func TestStripped(t *testing.T) {
	data, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	data[0x33d0+8*64+4] = 1 // the symbol table becomes a section like any other
	img, err := New(bytes.NewReader(data), int64(len(data)), "vmlinux")
	if err != nil {
		t.Fatal(err)
	}
	tab := img.Symtab()
	if err := tab.Err(); !errors.Is(err, ErrNoSymbols) || err.Error() != "kernel image vmlinux: no symbols (the image is stripped)" {
		t.Errorf("Err = %v", err)
	}
	if _, ok := tab.At(0xffffffff81000023); ok || tab.Lookup("one") != nil || len(tab.Funcs()) > 0 || tab.Nearest("one", 1) != nil {
		t.Error("a stripped image has symbols")
	}
}

func TestClose(t *testing.T) {
	img, err := Open(fixture)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(img.Close(), img.Close()); err != nil {
		t.Fatal(err)
	}
	if err := img.Text(0xffffffff81000023, make([]byte, 1)); err == nil {
		t.Error("Text of a closed image gave no error")
	}
	if img.Symtab().Err() == nil {
		t.Error("Symtab of a closed image gave no error")
	}
}

func FuzzNew(f *testing.F) {
	good, err := os.ReadFile(fixture)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:64])
	f.Add(bzImage(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		img, err := New(bytes.NewReader(data), int64(len(data)), "fuzz")
		if err != nil {
			return
		}
		tab := img.Symtab()
		for _, s := range tab.Funcs() {
			at, ok := tab.At(s.Addr)
			if s.Size > 0 && (!ok || at.Addr+at.Size <= s.Addr) {
				t.Errorf("At(%#x) = %+v, %v", s.Addr, at, ok)
			}
			tab.Aliases(s.Addr)
		}
		tab.Lookup("one")
		tab.Glob("*")
		tab.Nearest("tow", 3)
		img.BuildID()
		img.Banner("linux_banner")
		for _, s := range img.elf.Sections {
			img.Section(s.Name)
		}
		img.Text(img.Entry(), make([]byte, 64))
	})
}
