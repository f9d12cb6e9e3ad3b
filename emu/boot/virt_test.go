package boot

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/u-root/u-root/pkg/dt"
)

// board is a machine of the tests.
var board = VirtMachine{
	ELF: elf.EM_RISCV, Base: 0x80000000, Offset: 2 << 20,
	Tree: func(ram Range) *dt.Node {
		return dt.NewNode("", dt.WithProperty(dt.PropertyU64("ram", ram.Base), dt.PropertyU64("size", ram.Size)))
	},
}

// newImage is a Linux Image for riscv64 that needs size bytes at offset.
func newImage(offset, size uint64) []byte {
	b := make([]byte, 0x40, 0x100)
	binary.LittleEndian.PutUint64(b[imageTextOffset:], offset)
	binary.LittleEndian.PutUint64(b[imageSize:], size)
	copy(b[imageMagic:], "RSC\x05")
	return append(b, "text of the kernel"...)
}

func placeVirt(t *testing.T, c Config) *Placed {
	t.Helper()
	p, err := Virt(c, board)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestVirtImage(t *testing.T) {
	ram, image := newRAM(t, 64<<20), newImage(0x200000, 0x800000)
	copy(ram[0x200100:], "what was there") // is to be zero: part of the kernel's bss
	p := placeVirt(t, Config{Kernel: bytes.NewReader(image), RAM: ram, Initrd: []byte("initrd")})
	if p.Kind != RawImage || p.PC != 0x80200000 || p.Kernel != (Range{0x80200000, 0x800000}) || p.Image != nil {
		t.Errorf("%+v", p)
	}
	if !bytes.HasPrefix(ram[0x200000:], image) || !bytes.Equal(ram[0x200100:0x200200], make([]byte, 0x100)) {
		t.Error("the kernel is not where it should be")
	}
	if got := ram[p.Initrd.Base-board.Base:][:p.Initrd.Size]; string(got) != "initrd" || p.Initrd.Base%pageSize != 0 {
		t.Errorf("initrd %q at %#x", got, p.Initrd.Base)
	}
}

// An ELF file goes where it says if there is RAM, otherwise where an Image would go; it is
// entered at the physical address of its entry.
func TestVirtELF(t *testing.T) {
	for _, tt := range []struct {
		name      string
		phys      uint64
		entry, pc uint64
		at        uint64
	}{
		{"in place", 0x80400000, 0xffffffff80000010, 0x80400010, 0x80400000},
		{"in place, physical entry", 0x80400000, 0x80400010, 0x80400010, 0x80400000},
		{"linked at zero", 0, 0xffffffff80000010, 0x80200010, 0x80200000},
		{"linked at its virtual address", 0xffffffff80000000, 0xffffffff80000010, 0x80200010, 0x80200000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newELF()
			k.header.Machine, k.header.Entry, k.header.Type = uint16(elf.EM_RISCV), tt.entry, uint16(elf.ET_DYN)
			k.segments = []segment{
				{0xffffffff80000000, tt.phys, 0x1000, elf.PF_R | elf.PF_X, "text of the kernel"},
				{0xffffffff80002000, tt.phys + 0x2000, 0x3000, elf.PF_R | elf.PF_W, "data"},
			}
			ram := newRAM(t, 16<<20)
			p := placeVirt(t, Config{Kernel: bytes.NewReader(k.bytes()), RAM: ram})
			want := Image{Virt: 0xffffffff80000000, Phys: tt.at, Size: 0x5000}
			if p.PC != tt.pc || p.Image == nil || *p.Image != want {
				t.Errorf("entry %#x, image %+v, want %#x, %+v", p.PC, p.Image, tt.pc, want)
			}
			at := tt.at - board.Base
			if !bytes.HasPrefix(ram[at:], []byte("text of the kernel")) || !bytes.HasPrefix(ram[at+0x2000:], []byte("data")) {
				t.Error("the kernel is not where it should be")
			}
		})
	}
}

// chosen boots with a command line and returns the chosen node of the device tree.
func chosen(t *testing.T, c Config) (root, chosen *dt.Node) {
	t.Helper()
	c.RAM, c.Kernel = newRAM(t, 64<<20), bytes.NewReader(newImage(0x200000, 0x800000))
	p := placeVirt(t, c)
	tree, err := dt.ReadFDT(bytes.NewReader(c.RAM[p.Tree.Base-board.Base:][:p.Tree.Size]))
	if err != nil {
		t.Fatal(err)
	}
	node, ok := tree.NodeByName("chosen")
	if !ok {
		t.Fatal("no chosen node")
	}
	if p.Tree.Base>>16 != (p.Tree.End()-1)>>16 || p.Tree.End() > board.Base+uint64(len(c.RAM)) {
		t.Errorf("the tree is at %#x, %d bytes", p.Tree.Base, p.Tree.Size)
	}
	return tree.RootNode, node
}

func TestVirtTree(t *testing.T) {
	root, node := chosen(t, Config{CommandLine: "console=ttyS0 quiet", Initrd: make([]byte, 5000)})
	if p, ok := root.LookProperty("size"); !ok {
		t.Error("the machine's own tree is missing")
	} else if size, _ := p.AsU64(); size != 64<<20 {
		t.Errorf("RAM of %d bytes", size)
	}
	if p, ok := node.LookProperty("bootargs"); !ok {
		t.Error("no command line")
	} else if s, _ := p.AsString(); s != "console=ttyS0 quiet" {
		t.Errorf("command line %q", s)
	}
	number := func(name string) uint64 {
		p, ok := node.LookProperty(name)
		if !ok {
			t.Fatalf("no %s", name)
		}
		v, err := p.AsU64()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if n := number("linux,initrd-end") - number("linux,initrd-start"); n != 5000 {
		t.Errorf("initrd of %d bytes", n)
	}
	if p, ok := node.LookProperty("rng-seed"); !ok || len(p.Value) != 64 {
		t.Error("no seed")
	}
	if _, ok := node.LookProperty("kaslr-seed"); ok {
		t.Error("a seed for KASLR that was not asked for")
	}
	if _, node := chosen(t, Config{CommandLine: "quiet kaslr"}); len(node.Properties) != 3 {
		t.Errorf("%d properties, want bootargs, rng-seed and kaslr-seed", len(node.Properties))
	}
}

func TestKASLR(t *testing.T) {
	for _, tt := range []struct {
		line, want string
		on         bool
	}{
		{"", "", false},
		{"a  b", "a  b", false},
		{"nokaslr", "nokaslr", false},
		{"kaslr", "kaslr", true},
		{"nokaslr a kaslr", "a kaslr", true},
		{"kaslr a nokaslr", "kaslr a nokaslr", false},
	} {
		if got, on := wantsKASLR(tt.line); got != tt.want || on != tt.on {
			t.Errorf("%q: %q, %v, want %q, %v", tt.line, got, on, tt.want, tt.on)
		}
	}
}

func TestVirtErrors(t *testing.T) {
	amd64, wide := newELF(), newELF() // wide has segments at both ends of the address space
	wide.header.Machine, wide.header.Entry = uint16(elf.EM_RISCV), 0xffffffff80200010
	for _, tt := range []struct {
		name string
		c    Config
		want string
	}{
		{"another machine", Config{Kernel: bytes.NewReader(amd64.bytes())}, "wrong machine: EM_X86_64, want EM_RISCV"},
		{"wide kernel", Config{Kernel: bytes.NewReader(wide.bytes())}, "too far from each other"},
		{"bzImage", Config{Kernel: bytes.NewReader(newBzImage("kernel"))}, "wrong machine: a bzImage"},
		{"no kernel", Config{Kernel: bytes.NewReader([]byte("text"))}, "not a kernel"},
		{"old Image", Config{Kernel: bytes.NewReader(newImage(0, 0))}, "too old"},
		{"damaged Image", Config{Kernel: bytes.NewReader(newImage(0, 10))}, "damaged"},
		{"large kernel", Config{Kernel: bytes.NewReader(newImage(0, 64<<20))}, "does not fit in 16 MiB"},
		{"large initrd", Config{Kernel: bytes.NewReader(newImage(0, 8<<20)), Initrd: make([]byte, 8<<20)}, "initrd of 8 MiB does not fit"},
		{"long line", Config{Kernel: bytes.NewReader(newImage(0, 8<<20)), CommandLine: strings.Repeat("x", 3000)}, "too long"},
		{"NUL", Config{Kernel: bytes.NewReader(newImage(0, 8<<20)), CommandLine: "a\x00b"}, "NUL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.RAM = newRAM(t, 16<<20)
			if _, err := Virt(tt.c, board); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func FuzzVirt(f *testing.F) {
	k := newELF()
	k.header.Machine = uint16(elf.EM_RISCV)
	f.Add(k.bytes(), []byte("initrd"))
	f.Add(newImage(0x200000, 0x10000), []byte(nil))
	f.Fuzz(func(t *testing.T, kernel, initrd []byte) {
		c := Config{Kernel: bytes.NewReader(kernel), Initrd: initrd, RAM: make([]byte, 4<<20)}
		p, err := Virt(c, board)
		if err != nil {
			return
		}
		for _, r := range []Range{p.Kernel, p.Tree, p.Initrd} {
			if r.Size > 0 && (r.Base < board.Base || r.End() > board.Base+uint64(len(c.RAM)) || r.End() < r.Base) {
				t.Errorf("%+v is outside RAM", r)
			}
		}
	})
}

func TestMachine(t *testing.T) {
	arm64 := make([]byte, 64)
	copy(arm64[imageMagic:], "ARM\x64")
	for _, tt := range []struct {
		file []byte
		want elf.Machine
	}{
		{newImage(0, 1<<20), elf.EM_RISCV}, {arm64, elf.EM_AARCH64}, {newBzImage("kernel"), elf.EM_X86_64},
	} {
		if got, err := Machine(bytes.NewReader(tt.file)); got != tt.want || err != nil {
			t.Errorf("%s, %v, want %s", got, err, tt.want)
		}
	}
}
