package debuginfo_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"trapline/images/tiny"
	"trapline/internal/hostile"
	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
	"trapline/kernel/debuginfo"
	"trapline/kernel/source"
)

// TestMutations reads kernels, programs and modules with some bytes changed, always the
// same: each is read, or is an error of one line, within 10 s.
func TestMutations(t *testing.T) {
	files := map[string][]byte{}
	for _, arch := range []string{"amd64", "arm64", "riscv64"} {
		files[arch] = must(tiny.Kernel(arch))(t)
	}
	for _, version := range []string{"4", "5"} {
		files["dwarf"+version] = compiled(t, "testdata/inline/first.c", "-gdwarf-"+version, "-O2", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-Wl,-e,0", "testdata/inline/second.c")
		files["module"+version] = compiled(t, "../testdata/module.c", "-gdwarf-"+version, "-O1", "-fno-pie", "-c")
	}
	for name, good := range files {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(18, uint64(len(name))))
			read, failed := 0, 0
			for i := range hostile.Mutations(t, 200) {
				data := mutated(good, r)
				if within(t, fmt.Sprintf("mutation %d of %s", i, name), data, strings.HasPrefix(name, "module")) {
					read++
				} else {
					failed++
				}
			}
			t.Logf("%d files are read, %d cannot be opened", read, failed)
			if read == 0 {
				t.Error("none can be opened")
			}
		})
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func compiled(t *testing.T, flags ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	if text, err := exec.Command("gcc", append([]string{"-ffreestanding", "-o", out}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %v: %v\n%s", flags, err, text)
	}
	return must(os.ReadFile(out))(t)
}

// mutated changes up to 16 places, most of them in one section.
func mutated(good []byte, r *rand.Rand) []byte {
	data := slices.Clone(good)
	lo, n := 0, len(data)
	if f, err := elf.NewFile(bytes.NewReader(good)); err == nil && r.IntN(8) > 0 {
		var parts []*elf.Section
		for _, s := range f.Sections {
			if s.Type != elf.SHT_NOBITS && s.Size > 0 && (s.Flags&elf.SHF_ALLOC == 0 || r.IntN(4) == 0) {
				parts = append(parts, s)
			}
		}
		s := parts[r.IntN(len(parts))]
		lo, n = int(s.Offset), int(s.FileSize)
	}
	for range 1 + r.IntN(16) {
		at := lo + r.IntN(n)
		if r.IntN(50) == 0 {
			at = r.IntN(64) // the header
		}
		hostile.Change(data[at:], r)
	}
	if r.IntN(32) == 0 {
		data = data[:r.IntN(len(data))]
	}
	return data
}

// within reads a file. It reports whether it can be opened.
func within(t *testing.T, name string, data []byte, module bool) (opened bool) {
	hostile.Ends(t, name, func() {
		img, err := open(data, module)
		hostile.OneLine(t, name, err)
		if opened = err == nil; opened {
			readEverything(t, name, img)
		}
	})
	return opened
}

func open(data []byte, module bool) (*kernel.Image, error) {
	if module {
		return kernel.NewModule(data, "m.ko")
	}
	return kernel.New(bytes.NewReader(data), int64(len(data)), "vmlinux")
}

// readEverything asks for all that the command asks for.
func readEverything(t *testing.T, name string, img *kernel.Image) {
	_, err := img.StaticProbes()
	hostile.OneLine(t, name, err)
	hostile.OneLine(t, name, img.Symtab().Err())
	img.BuildID()
	img.Banner("linux_banner")
	img.VersionMagic()
	img.SetPlaces(map[string]uint64{".text": 1 << 40})
	img.DropInit()
	readTypes(t, name, img)
	readCode(t, name, img)
}

func readTypes(t *testing.T, name string, img *kernel.Image) {
	types := debuginfo.New(img, "", "thread")
	for _, tag := range []string{"thread", "counter", "trap_frame", "cpu"} {
		for _, kind := range []ctypes.Kind{ctypes.Struct, ctypes.Union, ctypes.Enum} {
			if typ, ok := types.Tagged(kind, tag); ok {
				lookAt(t, name, typ, 0)
			}
		}
	}
	for _, s := range img.Symtab().Funcs()[:min(len(img.Symtab().Funcs()), 20)] {
		if typ, ok := types.Function(s.Name); ok {
			lookAt(t, name, typ, 0)
		}
	}
	types.Variable("threads")
	types.Enumerator("nothing")
	hostile.OneLine(t, name, types.Err())
}

// lookAt looks at a type, and at those of its members.
func lookAt(t *testing.T, name string, typ *ctypes.Type, depth int) {
	if n := typ.Bytes(); n < 0 || n > ctypes.MaxBytes || len(typ.String()) > 1<<20 || typ.Align() < 1 {
		t.Errorf("%s: %s has %d bytes", name, typ, n)
	}
	typ.Member("none")
	for i, f := range typ.Base().Fields {
		unit := 8 * f.Type.Bytes()
		if f.Offset < 0 || f.Bits < 0 || f.BitOffset < 0 || f.Bits > 0 && (f.BitOffset+f.Bits > unit || unit > 64) {
			t.Errorf("%s: member %+v of %s", name, f, typ)
		}
		if depth < 3 && i < 20 {
			lookAt(t, name, f.Type, depth+1)
		}
	}
}

func readCode(t *testing.T, name string, img *kernel.Image) {
	funcs := img.Symtab().Funcs()
	info, err := source.Open(img)
	hostile.OneLine(t, name, err)
	x, err := debuginfo.OpenIndex(img, "", nil)
	hostile.OneLine(t, name, err)
	var l *debuginfo.Locals
	if err == nil {
		l = debuginfo.NewLocals(img, x, debuginfo.New(img, "", ""), img)
	}
	for i := 0; i < len(funcs); i += 1 + len(funcs)/30 {
		s := funcs[i]
		img.Text(s.Addr, make([]byte, s.Size))
		if info != nil {
			f, err := info.Function(s.Addr, s.Size)
			hostile.OneLine(t, name, err)
			if err == nil {
				f.Starts()
				f.At(s.Addr + s.Size/2)
			}
		}
		if l == nil {
			continue
		}
		for _, at := range []uint64{s.Addr, s.Addr + s.Size/2} {
			readVariables(t, name, l, at)
		}
		x.Function(s.Name)
	}
}

func readVariables(t *testing.T, name string, l *debuginfo.Locals, at uint64) {
	for _, local := range l.Names(at) {
		v, ok := l.Find(at, local)
		if !ok {
			continue
		}
		_, data, err := l.Read(v, stopped{})
		if hostile.OneLine(t, name, err); err == nil && data != nil && len(data) != v.Type.Bytes() {
			t.Errorf("%s: %s has %d bytes, its type %d", name, local, len(data), v.Type.Bytes())
		}
	}
}

// stopped is a CPU whose registers and memory all hold their own number or address.
type stopped struct{}

func (stopped) Reg(r arch.Reg) uint64 { return 0x10000 + uint64(r) }

func (stopped) Read(addr uint64, p []byte) error {
	for i := range p {
		p[i] = byte(addr + uint64(i))
	}
	return nil
}

// FuzzFile: what TestMutations looks for, of a kernel, a program and a module.
func FuzzFile(f *testing.F) {
	var files [][]byte
	for _, arch := range []string{"amd64", "riscv64"} {
		data, err := tiny.Kernel(arch)
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, data)
	}
	for _, flags := range [][]string{{"-c", "../testdata/module.c"}, {"-O2", "-nostdlib", "-static", "-fno-pie", "-no-pie", "testdata/inline/first.c", "testdata/inline/second.c"}} {
		out := filepath.Join(f.TempDir(), "out")
		if exec.Command("gcc", append([]string{"-g", "-ffreestanding", "-fno-pie", "-o", out}, flags...)...).Run() == nil {
			data, _ := os.ReadFile(out)
			files = append(files, data)
		}
	}
	f.Add(uint8(0), uint64(1), uint32(0), []byte("\xff\xff\xff\xff\xff\xff\xff\xff\x7f"))
	f.Add(uint8(2), uint64(2), uint32(77), []byte("\x00"))
	f.Add(uint8(3), uint64(3), uint32(200), []byte("\x93\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, which uint8, seed uint64, at uint32, with []byte) {
		i := int(which) % len(files)
		data := mutated(files[i], rand.New(rand.NewPCG(seed, 1)))
		if len(data) > 0 {
			copy(data[int(at)%len(data):], with)
		}
		within(t, "file", data, i == 2)
	})
}
