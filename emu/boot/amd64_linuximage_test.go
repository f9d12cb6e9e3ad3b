//go:build linuximage

package boot

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"testing"
)

// openEnv opens the kernel that an environment variable names.
func openEnv(t *testing.T, name string) *io.SectionReader {
	t.Helper()
	path := os.Getenv(name)
	if path == "" {
		t.Fatalf("%s is not set: run make linux", name)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return io.NewSectionReader(f, 0, st.Size())
}

func TestLinuxELF(t *testing.T) {
	file := openEnv(t, "TRAPLINE_VMLINUX")
	f, err := elf.NewFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{96 << 20, 256 << 20, 2 << 30} {
		ram := newRAM(t, size)
		p := place(t, Config{Kernel: file, CommandLine: "console=ttyS0", RAM: ram})
		if p.Entry.RIP != f.Entry || p.Image == nil {
			t.Fatalf("%+v, entry %#x", p, f.Entry)
		}
		// Sections say independently of segments what is to be where.
		for _, name := range []string{".text", ".rodata", ".data", ".init.text"} {
			s := f.Section(name)
			data, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			at := s.Addr - p.Image.Virt + p.Image.Phys
			if !bytes.Equal(ram[at:at+s.Size], data) {
				t.Errorf("%s is not at %#x", name, at)
			}
		}
		if bss := f.Section(".brk"); bss.Addr+bss.Size > p.Image.Virt+p.Image.Size {
			t.Errorf("the image ends at %#x, its .brk at %#x", p.Image.Virt+p.Image.Size, bss.Addr+bss.Size)
		}
	}
}

func TestLinuxBzImage(t *testing.T) {
	file := openEnv(t, "TRAPLINE_VMLINUZ")
	head := make([]byte, 0x1000)
	if _, err := file.ReadAt(head, 0); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{256 << 20, 2 << 30} {
		ram := newRAM(t, size)
		p := place(t, Config{Kernel: file, CommandLine: "console=ttyS0", Initrd: make([]byte, 1<<20), RAM: ram})
		if want := binary.LittleEndian.Uint64(head[0x258:]); p.Kernel.Base != want || p.Entry.RIP != want+0x200 {
			t.Errorf("%+v, preferred address %#x", p, want)
		}
		start := make([]byte, 0x1000)
		if _, err := file.ReadAt(start, (int64(head[0x1f1])+1)*512); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(ram[p.Kernel.Base:p.Kernel.Base+0x1000], start) {
			t.Error("the compressed kernel is not where it should be")
		}
	}
}
