package kernel

import (
	"bytes"
	"compress/gzip"
	"debug/dwarf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// compilers are those that make modules for each architecture.
var compilers = map[string]string{"amd64": "gcc", "arm64": "aarch64-linux-gnu-gcc-12", "riscv64": "riscv64-linux-gnu-gcc-12"}

func compileModule(t *testing.T, arch string) string {
	t.Helper()
	cc, err := exec.LookPath(compilers[arch])
	if err != nil {
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "test-module.ko")
	cmd := exec.Command(cc, "-g", "-O1", "-ffreestanding", "-fno-pie", "-c", "-o", path, "testdata/module.c")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, text)
	}
	return path
}

func openModule(t *testing.T, path string) *Image {
	t.Helper()
	img, err := OpenModule(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	return img
}

func TestModule(t *testing.T) {
	for arch := range compilers {
		t.Run(arch, func(t *testing.T) {
			img := openModule(t, compileModule(t, arch))
			if img.Module() != "test_module" || img.VersionMagic() != "6.1.0 SMP" || img.Arch().Name != arch {
				t.Errorf("module %s, %q, for %s", img.Module(), img.VersionMagic(), img.Arch())
			}
			tab := img.Symtab()
			lookup := func(name string) Symbol {
				t.Helper()
				found := tab.Lookup(name)
				if len(found) != 1 {
					t.Fatalf("%d symbols %s", len(found), name)
				}
				return found[0]
			}
			checkModuleDWARF(t, img)
			var word [8]byte
			if err := img.Text(lookup("pointer").Addr, word[:]); err != nil {
				t.Fatal(err)
			}
			if le64(word[:]) != lookup("value").Addr {
				t.Errorf("pointer is %#x, value at %#x", le64(word[:]), lookup("value").Addr)
			}
			if s, _ := tab.At(lookup("start").Addr); s.Name != "start" {
				t.Errorf("the init function is %s", s.Name)
			}

			const text, init = 0xffffffffc0100000, 0xffffffffc0300000
			link := lookup("work")
			img.SetPlaces(map[string]uint64{".text": text, ".init.text": init, "none": 1})
			work := lookup("work")
			if work.Addr-text >= 0x1000 || work.Size != link.Size {
				t.Errorf("work at %#x", work.Addr)
			}
			if at, ok := img.Link(work.Addr); !ok || at != link.Addr {
				t.Errorf("link-time address %#x, %v; want %#x", at, ok, link.Addr)
			}
			if s, ok := tab.At(work.Addr + 1); !ok || s != work {
				t.Errorf("%+v, %v", s, ok)
			}
			if lookup("start").Addr != init || len(tab.Lookup("value")) != 0 || len(tab.Funcs()) != 3 {
				t.Errorf("functions %v", tab.Funcs())
			}
			if gone := img.DropInit(); len(gone) != 1 || gone[0].Addr != init {
				t.Errorf("gone: %v", gone)
			}
			if len(tab.Lookup("start")) != 0 || len(tab.Glob("*")) != 2 || len(tab.Funcs()) != 2 {
				t.Errorf("functions %v after init", tab.Funcs())
			}
			if _, ok := tab.At(init); ok || img.Text(init, word[:]) == nil {
				t.Error("init is still there")
			}
		})
	}
}

func le64(b []byte) (v uint64) {
	for i := range 8 {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

// checkModuleDWARF compares the functions of the debug information with the symbols.
func checkModuleDWARF(t *testing.T, img *Image) {
	t.Helper()
	data, err := img.elf.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for r := data.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		low, ok := e.Val(dwarf.AttrLowpc).(uint64)
		name, _ := e.Val(dwarf.AttrName).(string)
		if e.Tag != dwarf.TagSubprogram || !ok {
			continue
		}
		found++
		if s := img.Symtab().Lookup(name); len(s) != 1 || s[0].Addr != low {
			t.Errorf("%s at %#x, the symbol: %v", name, low, s)
		}
	}
	if found != 3 {
		t.Errorf("%d functions have debug information", found)
	}
}

func TestModuleErrors(t *testing.T) {
	whole, err := os.ReadFile(compileModule(t, "amd64"))
	if err != nil {
		t.Fatal(err)
	}
	change := func(f func(b []byte)) []byte {
		b := bytes.Clone(whole)
		f(b)
		return b
	}
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "not an ELF file: it is empty"},
		{"text", []byte("#!/bin/sh\n"), "not an ELF file"},
		{"cut in the header", whole[:40], "truncated: the file has 40 bytes"},
		{"cut", whole[:len(whole)/2], "truncated: the section header table ends"},
		{"linked", change(func(b []byte) { b[16] = 2 }), "not a loadable module but a linked file"},
		{"foreign", change(func(b []byte) { b[18] = 8 }), "EM_MIPS"},
		{"no module", bytes.ReplaceAll(whole, []byte(".gnu.linkonce.this_module"), []byte(".gnu.linkonce.that_module")),
			"not a loadable module: it has neither section .gnu.linkonce.this_module nor set_modmetadata_set"},
		{"gzip", append(bytes.Clone(magicGzip), 1, 2, 3), "damaged"},
		{"xz", append(bytes.Clone(magicXZ), 1, 2, 3), "damaged"},
		{"zstd", append(bytes.Clone(magicZstd), 1, 2, 3), "damaged"},
	} {
		path := filepath.Join(t.TempDir(), "m.ko")
		if err := os.WriteFile(path, tt.data, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenModule(path); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := OpenModule("testdata/nowhere.ko"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestModuleCompressed(t *testing.T) {
	whole, err := os.ReadFile(compileModule(t, "amd64"))
	if err != nil {
		t.Fatal(err)
	}
	var gz, x, z bytes.Buffer
	gw := gzip.NewWriter(&gz)
	xw, err := xz.NewWriter(&x)
	if err != nil {
		t.Fatal(err)
	}
	zw, err := zstd.NewWriter(&z)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []interface {
		Write([]byte) (int, error)
		Close() error
	}{gw, xw, zw} {
		w.Write(whole)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for suffix, data := range map[string][]byte{".gz": gz.Bytes(), ".xz": x.Bytes(), ".zst": z.Bytes()} {
		path := filepath.Join(t.TempDir(), "m.ko"+suffix)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if img := openModule(t, path); len(img.Symtab().Lookup("work")) != 1 {
			t.Errorf("%s: no symbols", suffix)
		}
	}
}

// FuzzModule: a damaged file is an error, or a module with fewer symbols.
func FuzzModule(f *testing.F) {
	if cc, err := exec.LookPath("gcc"); err == nil {
		path := filepath.Join(f.TempDir(), "m.ko")
		if exec.Command(cc, "-O1", "-fno-pie", "-c", "-o", path, "testdata/module.c").Run() == nil {
			data, _ := os.ReadFile(path)
			f.Add(data, uint16(40), byte(0xff))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint16, with byte) {
		if int(at) < len(data) {
			data[at] = with
		}
		img, err := NewModule(data, "m.ko")
		if err != nil {
			return
		}
		img.SetPlaces(map[string]uint64{".text": 1 << 63})
		for _, s := range img.Symtab().Funcs() {
			img.Text(s.Addr, make([]byte, min(s.Size, 64)))
			img.Symtab().At(s.Addr)
		}
		img.DropInit()
	})
}

// TestModuleExternal: a call of a function of elsewhere names it.
func TestModuleExternal(t *testing.T) {
	img := openModule(t, compileModule(t, "amd64"))
	work := img.Symtab().Lookup("work")[0]
	text := make([]byte, work.Size)
	if err := img.TextLink(work.Addr, text); err != nil {
		t.Fatal(err)
	}
	var called []string
	for i, op := range text[:len(text)-4] {
		next := work.Addr + uint64(i) + 5
		if name, ok := img.External(next + uint64(int32(le64(append(text[i+1:i+5:i+5], 0, 0, 0, 0))))); ok && op == 0xe8 {
			called = append(called, name)
		}
	}
	if len(called) != 1 || called[0] != "outside" {
		t.Errorf("calls of %v, want of outside", called)
	}
	if name, ok := img.External(work.Addr); ok {
		t.Errorf("work is %s, of elsewhere", name)
	}
}
