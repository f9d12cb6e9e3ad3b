//go:build linuximage

package trampoline

import (
	"debug/elf"
	"os"
	"slices"
	"testing"

	"trapline/insn/insntest"
)

// A linuxImage is what these tests need of Debian's vmlinux.
type linuxImage struct {
	path  string
	text  []linuxSection
	funcs []linuxFunc

	symbols map[uint64]bool // every address that has one
}

type linuxSection struct {
	addr uint64
	data []byte
}

// A linuxFunc is a function symbol that has a size; aliases are one.
type linuxFunc struct {
	name string
	addr uint64
	code []byte
}

func openLinux(t testing.TB) *linuxImage { return openLinuxOf(t, "TRAPLINE_VMLINUX") }

// openLinuxOf opens the image that a variable of the environment names.
func openLinuxOf(t testing.TB, variable string) *linuxImage {
	t.Helper()
	img := &linuxImage{path: os.Getenv(variable)}
	f, err := elf.Open(img.path)
	if err != nil {
		t.Fatalf("%s is to name a vmlinux: %v", variable, err)
	}
	defer f.Close()
	for _, s := range f.Sections {
		if s.Type == elf.SHT_PROGBITS && s.Flags&elf.SHF_EXECINSTR != 0 {
			data, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			img.text = append(img.text, linuxSection{s.Addr, data})
		}
	}
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	img.addFuncs(syms)
	return img
}

func (img *linuxImage) addFuncs(syms []elf.Symbol) {
	img.symbols = map[uint64]bool{}
	type extent struct{ addr, size uint64 }
	seen := map[extent]bool{}
	for _, s := range syms {
		img.symbols[s.Value] = true
		e := extent{s.Value, s.Size}
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 || seen[e] {
			continue
		}
		if code := img.at(s.Value, s.Size); code != nil {
			seen[e] = true
			img.funcs = append(img.funcs, linuxFunc{s.Name, s.Value, code})
		}
	}
	slices.SortFunc(img.funcs, func(a, b linuxFunc) int {
		if a.addr != b.addr {
			return int(int64(a.addr - b.addr))
		}
		return len(a.code) - len(b.code)
	})
}

func (img *linuxImage) at(addr, size uint64) []byte {
	for _, s := range img.text {
		if off := addr - s.addr; off < uint64(len(s.data)) && size <= uint64(len(s.data))-off {
			return s.data[off : off+size]
		}
	}
	return nil
}

// bounds marks where instructions start, by address.
type bounds map[uint64][]byte // by section address; a byte for each byte of the section

func (img *linuxImage) objdumpBounds(t testing.TB) bounds {
	b := bounds{}
	for _, s := range img.text {
		b[s.addr] = make([]byte, len(s.data))
	}
	cur := img.text[0]
	insntest.Objdump(t, "objdump", func(d insntest.Line) {
		if d.Addr-cur.addr >= uint64(len(cur.data)) {
			for _, s := range img.text {
				if d.Addr-s.addr < uint64(len(s.data)) {
					cur = s
				}
			}
		}
		mark := byte(1)
		if d.Bad() {
			mark = 2
		}
		b[cur.addr][d.Addr-cur.addr] = mark
	}, "-d", "-z", img.path)
	return b
}

func (b bounds) at(addr uint64) []byte {
	for start, marks := range b {
		if off := addr - start; off < uint64(len(marks)) {
			return marks[off:]
		}
	}
	return nil
}

// TestLinuxBoundaries holds the boundaries inside every sized function of a Debian kernel
// against those of objdump, both ways. They may differ for two reasons:
//
//   - a symbol lies inside an instruction (Linux's return thunks hide one instruction in
//     another); objdump starts again at every symbol, the processor does not;
//   - objdump shows fwait and the x87 instruction that follows as one.
func TestLinuxBoundaries(t *testing.T) {
	img := openLinux(t)
	judge := img.objdumpBounds(t)
	n, size, explained := 0, 0, 0
	for _, f := range img.funcs {
		ours := make([]byte, len(f.code))
		err := AMD64.Walk(f.code, f.addr, func(off, _ int) bool {
			n++
			ours[off] = 1
			return true
		})
		size += len(f.code)
		theirs := judge.at(f.addr)[:len(f.code)]
		if err == nil && slices.Equal(ours, theirs) {
			continue
		}
		t.Logf("%s %#x: %v\nours    %v\nobjdump %v", f.name, f.addr, err, offsets(ours), offsets(theirs))
		if err != nil || !img.explained(f, ours, theirs) {
			t.Errorf("%s: the difference has no explanation", f.name)
		}
		explained++
	}
	t.Logf("%d functions, %d bytes, %d instructions; %d functions differ", len(img.funcs), size, n, explained)
}

// explained takes back every difference that has an explanation, and reports whether any is left.
func (img *linuxImage) explained(f linuxFunc, ours, theirs []byte) bool {
	theirs = slices.Clone(theirs)
	for off := 0; off < len(ours); {
		n, _ := AMD64.Length(f.code[off:])
		for i := off + 1; i < off+n; i++ {
			if img.symbols[f.addr+uint64(i)] { // objdump starts again here
				theirs[off] = 1
				clear(theirs[off+1 : off+n])
			}
		}
		if f.code[off] == 0x9b && off+1 < len(ours) {
			theirs[off+1] = 1
		}
		off += n
	}
	return slices.Equal(ours, theirs)
}

func offsets(marks []byte) (offs []int) {
	for i, m := range marks {
		if m != 0 {
			offs = append(offs, i)
		}
	}
	return offs
}
