package tiny

import (
	"bytes"
	"crypto/sha256"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"os"
	"strings"
	"testing"
)

func open(t *testing.T, arch string) *elf.File {
	t.Helper()
	data, err := Kernel(arch)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func ExampleNames() {
	fmt.Println(Names())
	// Output: [amd64 arm64 riscv64 riscv64-m]
}

func TestKernelUnknown(t *testing.T) {
	_, err := Kernel("vax")
	if err == nil || !strings.Contains(err.Error(), "amd64") {
		t.Errorf("Kernel(vax): error %v, want one that names the known ones", err)
	}
}

func TestSums(t *testing.T) {
	sums, err := os.ReadFile("SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range Names() {
		data, _ := Kernel(arch)
		line := fmt.Sprintf("%x  tiny-%s.elf\n", sha256.Sum256(data), arch)
		if !strings.Contains(string(sums), line) {
			t.Errorf("SHA256SUMS lacks %s", line)
		}
		if disk := Disk(arch); disk != nil {
			line := fmt.Sprintf("%x  tiny-%s.img\n", sha256.Sum256(disk), arch)
			if !strings.Contains(string(sums), line) {
				t.Errorf("SHA256SUMS lacks %s", line)
			}
		}
	}
}

func TestSegments(t *testing.T) {
	for _, arch := range Names() {
		for _, p := range open(t, arch).Progs {
			if p.Type == elf.PT_LOAD && p.Flags&elf.PF_W != 0 && p.Flags&elf.PF_X != 0 {
				t.Errorf("%s: segment at %#x is writable and executable", arch, p.Vaddr)
			}
		}
	}
}

// The loader enters at a physical address, as with Linux's vmlinux: the first of
// all, since some loaders go there whatever the file says.
func TestEntry(t *testing.T) {
	above := map[string]uint64{
		"amd64":     0xffffffff80000000,
		"arm64":     0xffffffff40000000,
		"riscv64":   0xffffffff00000000,
		"riscv64-m": 0,
	}
	for _, arch := range Names() {
		f := open(t, arch)
		p := f.Progs[0]
		if p.Type != elf.PT_LOAD || f.Entry != p.Paddr {
			t.Errorf("%s: entry %#x is not the start of the text at %#x", arch, f.Entry, p.Paddr)
		}
		if p.Vaddr-p.Paddr != above[arch] {
			t.Errorf("%s: text is linked %#x above where it is loaded, want %#x", arch, p.Vaddr-p.Paddr, above[arch])
		}
	}
}

// Every function and object has a size, and functions do not overlap.
func TestSymbols(t *testing.T) {
	for _, arch := range Names() {
		symbols, err := open(t, arch).Symbols()
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, s := range symbols {
			kind := elf.ST_TYPE(s.Info)
			if kind != elf.STT_FUNC && kind != elf.STT_OBJECT {
				continue
			}
			found[s.Name] = true
			if s.Size == 0 {
				t.Errorf("%s: %s has no size", arch, s.Name)
			}
		}
		for _, name := range []string{"current", "tiny_banner", "kmain", "schedule", "syscall", "copy_user"} {
			if !found[name] {
				t.Errorf("%s: no symbol %s", arch, name)
			}
		}
	}
}

// No symbol without a type lies inside a function: it would cut it in two. (The
// assembler's marks of instructions, $x, are no symbols; its mark of data, $d, is
// not wanted in a function either.)
func TestSymbolsInside(t *testing.T) {
	for _, arch := range Names() {
		symbols, err := open(t, arch).Symbols()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range symbols {
			if elf.ST_TYPE(f.Info) != elf.STT_FUNC {
				continue
			}
			for _, s := range symbols {
				if strings.HasPrefix(s.Name, "$x") {
					continue
				}
				if s.Section == f.Section && s.Value > f.Value && s.Value < f.Value+f.Size {
					t.Errorf("%s: %s lies inside %s", arch, s.Name, f.Name)
				}
			}
		}
	}
}

// The offsets a tracer reads in struct thread, and no path of a building machine.
func TestDebugInfo(t *testing.T) {
	for _, arch := range Names() {
		info, err := open(t, arch).DWARF()
		if err != nil {
			t.Fatal(err)
		}
		checkUnits(t, info)
		checkThread(t, info)
	}
}

func checkUnits(t *testing.T, info *dwarf.Data) {
	t.Helper()
	units := 0
	for r := info.Reader(); ; r.SkipChildren() {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		units++
		name, _ := e.Val(dwarf.AttrName).(string)
		dir, _ := e.Val(dwarf.AttrCompDir).(string)
		if !strings.HasPrefix(name, "src/") || dir != "." {
			t.Errorf("unit %q in directory %q, want src/... in .", name, dir)
		}
	}
	if units < 20 {
		t.Errorf("%d compilation units, want all of them", units)
	}
}

func checkThread(t *testing.T, info *dwarf.Data) {
	t.Helper()
	want := map[string]int64{"id": 0, "pid": 8, "tid": 12, "ppid": 16, "uid": 20, "gid": 24, "name": 28}
	thread := findStruct(t, info, "thread")
	for _, field := range thread.Field {
		if offset, ok := want[field.Name]; ok && offset != field.ByteOffset {
			t.Errorf("struct thread: %s at %d, want %d", field.Name, field.ByteOffset, offset)
		}
		delete(want, field.Name)
	}
	if len(want) > 0 {
		t.Errorf("struct thread lacks %v", want)
	}
}

func findStruct(t *testing.T, info *dwarf.Data, name string) *dwarf.StructType {
	t.Helper()
	for r := info.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			t.Fatalf("no struct %s", name)
		}
		if e.Tag != dwarf.TagStructType || e.Val(dwarf.AttrName) != name || e.Val(dwarf.AttrDeclaration) != nil {
			continue
		}
		typ, err := info.Type(e.Offset)
		if err != nil {
			t.Fatal(err)
		}
		return typ.(*dwarf.StructType)
	}
}
