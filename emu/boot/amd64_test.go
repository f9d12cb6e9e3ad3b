package boot

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testRAM = 16 << 20

// newRAM makes memory that takes room only where it is touched.
func newRAM(t *testing.T, size int) []byte {
	t.Helper()
	ram, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(ram) })
	return ram
}

func place(t *testing.T, c Config) *Placed {
	t.Helper()
	p, err := AMD64(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAMD64ELF(t *testing.T) {
	ram := bytes.Repeat([]byte{0xcc}, testRAM)
	p := place(t, Config{Kernel: bytes.NewReader(newELF().bytes()), CommandLine: "a b", Initrd: []byte("initrd"), RAM: ram})
	want := &Placed{
		Kind:   ELF,
		Entry:  newEntry(0x200010),
		Kernel: Range{0x200000, 0x5000},
		Initrd: Range{testRAM - 0x1000, 6},
		Image:  &Image{0xffffffff80200000, 0x200000, 0x5000},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	for _, tt := range []struct {
		at   int
		want string
	}{
		{0x200000, "text of the kernel\x00\x00"},
		{0x201000, "per-CPU\x00"},
		{0x202000, "data\x00"},
		{0x204fff, "\x00\xcc"}, // the bss ends there
		{testRAM - 0x1000, "initrd\xcc"},
		{cmdLineAt, "a b\x00\x00"},
	} {
		if have := string(ram[tt.at : tt.at+len(tt.want)]); have != tt.want {
			t.Errorf("at %#x: %q, want %q", tt.at, have, tt.want)
		}
	}
}

func TestAMD64BzImage(t *testing.T) {
	for _, tt := range []struct {
		name        string
		relocatable byte
		want        Range
		entry       uint64
	}{
		{"relocatable", 1, Range{0x200000, 0x10000}, 0x200200},
		{"fixed", 0, Range{0x100000, 0x110000}, 0x100200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := newBzImage("compressed")
			file[hdrRelocatable] = tt.relocatable
			ram := make([]byte, testRAM)
			p := place(t, Config{Kernel: bytes.NewReader(file), RAM: ram})
			want := &Placed{Kind: BzImage, Entry: newEntry(tt.entry), Kernel: tt.want}
			if diff := cmp.Diff(want, p); diff != "" {
				t.Error(diff)
			}
			if have := string(ram[tt.want.Base : tt.want.Base+10]); have != "compressed" {
				t.Errorf("loaded %q", have)
			}
			if bytes.Contains(ram, []byte("signature")) {
				t.Error("what follows the kernel is loaded as well")
			}
		})
	}
}

// The zero page as a kernel reads it.
func TestAMD64ZeroPage(t *testing.T) {
	for _, tt := range []struct {
		name string
		file []byte
		max  uint32 // of the command line
	}{
		{"ELF", newELF().bytes(), 2047},
		{"bzImage", newBzImage(""), 255},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ram := make([]byte, testRAM)
			p := place(t, Config{Kernel: bytes.NewReader(tt.file), Initrd: make([]byte, 5000), RAM: ram})
			z := zeroPage(ram[p.Entry.RSI:][:pageSize])
			for _, f := range []struct {
				name       string
				have, want uint64
			}{
				{"boot flag", uint64(z.u16(0x1fe)), 0xaa55},
				{"magic", uint64(z.u32(0x202)), 0x53726448},
				{"version", uint64(z.u16(0x206)), 0x20f},
				{"loader", uint64(z[0x210]), 0xff},
				{"load flags", uint64(z[0x211]), 0x01},
				{"code32", uint64(z.u32(0x214)), 0x200000},
				{"ramdisk", uint64(z.u32(0x218)), testRAM - 0x2000},
				{"ramdisk size", uint64(z.u32(0x21c)), 5000},
				{"command line", uint64(z.u32(0x228)), cmdLineAt},
				{"initrd max", uint64(z.u32(0x22c)), 0x7fffffff},
				{"alignment", uint64(z.u32(0x230)), 0x200000},
				{"64-bit entry", uint64(z.u16(0x236) & 1), 1},
				{"command line max", uint64(z.u32(0x238)), uint64(tt.max)},
				{"setup data", z.u64(0x250), 0},
				{"preferred address", z.u64(0x258), 0x200000},
				{"sentinel", uint64(z[0x1ef]), 0}, // not zero: the kernel distrusts the page
				{"memory map", uint64(z[0x1e8]), 3},
			} {
				if f.have != f.want {
					t.Errorf("%s: %#x, want %#x", f.name, f.have, f.want)
				}
			}
		})
	}
}

func TestAMD64MemoryMap(t *testing.T) {
	for _, size := range []int{64 << 20, 256 << 20, 4 << 30} {
		ram := newRAM(t, size)
		place(t, Config{Kernel: bytes.NewReader(newELF().bytes()), RAM: ram})
		var have string
		for i := range 3 {
			e := ram[zeroPageAt+0x2d0+20*i:]
			have += fmt.Sprintf("%x+%x:%d ", binary.LittleEndian.Uint64(e), binary.LittleEndian.Uint64(e[8:]), binary.LittleEndian.Uint32(e[16:]))
		}
		if want := fmt.Sprintf("0+9fc00:1 9fc00+60400:2 100000+%x:1 ", size-0x100000); have != want {
			t.Errorf("have %s, want %s", have, want)
		}
	}
}

// The page tables, walked as the CPU does, map each of the first 4 GiB to itself.
func TestAMD64PageTables(t *testing.T) {
	ram := make([]byte, testRAM)
	p := place(t, Config{Kernel: bytes.NewReader(newELF().bytes()), RAM: ram})
	entry := func(table, index uint64) uint64 {
		return binary.LittleEndian.Uint64(ram[table&^0xfff+8*index:])
	}
	for va := uint64(0x1234); va < 4<<30; va += 2 << 20 {
		e := p.Entry.CR3
		for shift := 39; shift >= 21; shift -= 9 {
			if e = entry(e, va>>shift&511); e&3 != 3 {
				t.Fatalf("%#x is not mapped to be written", va)
			}
		}
		if pa := e&^0x1fffff | va&0x1fffff; e&0x80 == 0 || pa != va {
			t.Fatalf("%#x is mapped to %#x, entry %#x", va, pa, e)
		}
	}
	if entry(p.Entry.CR3, 1) != 0 || entry(entry(p.Entry.CR3, 0), 4) != 0 {
		t.Error("more than 4 GiB is mapped")
	}
}

func TestAMD64Entry(t *testing.T) {
	ram := make([]byte, testRAM)
	e := place(t, Config{Kernel: bytes.NewReader(newELF().bytes()), RAM: ram}).Entry
	if e.Code.Selector != 0x10 || e.Data.Selector != 0x18 {
		t.Errorf("selectors %#x, %#x; the protocol has 0x10, 0x18", e.Code.Selector, e.Data.Selector)
	}
	for _, s := range []Segment{e.Code, e.Data} {
		if have := binary.LittleEndian.Uint64(ram[e.GDTBase+uint64(s.Selector):]); have != s.Descriptor {
			t.Errorf("descriptor %#x is %#x, want %#x", s.Selector, have, s.Descriptor)
		}
		if s.Selector+7 > e.GDTLimit {
			t.Errorf("selector %#x is past the limit %#x", s.Selector, e.GDTLimit)
		}
	}
	if e.RFLAGS&(1<<9) != 0 || e.EFER != 0x500 || e.CR0 != 0x80000011 || e.CR4 != 0x20 {
		t.Errorf("registers %+v", e)
	}
}

func TestAMD64InitrdPlace(t *testing.T) {
	low := newBzImage("")
	zeroPage(low).put32(hdrInitrdMax, 0x37ffff)
	for _, tt := range []struct {
		name string
		file []byte
		ram  int
		size int
		want uint64
	}{
		{"top of RAM", newELF().bytes(), testRAM, 0x1000, testRAM - 0x1000},
		{"page aligned", newELF().bytes(), testRAM, 0x1001, testRAM - 0x2000},
		{"below 2 GiB", newELF().bytes(), 4 << 30, 0x1000, 0x7ffff000},
		{"2 GiB", newELF().bytes(), 2 << 30, 0x1001, 0x7fffe000},
		{"below the header's limit", low, testRAM, 0x1000, 0x37f000},
		{"just above the kernel", newELF().bytes(), 0x206000, 0x1000, 0x205000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ram := newRAM(t, tt.ram)
			p := place(t, Config{Kernel: bytes.NewReader(tt.file), Initrd: bytes.Repeat([]byte{'i'}, tt.size), RAM: ram})
			if want := (Range{tt.want, uint64(tt.size)}); p.Initrd != want {
				t.Errorf("initrd at %#x, want %#x", p.Initrd, want)
			}
			if ram[tt.want-1] != 0 || ram[tt.want] != 'i' || ram[p.Initrd.End()-1] != 'i' {
				t.Error("the initrd is not where it is said to be")
			}
		})
	}
}

func TestAMD64VirtualEntry(t *testing.T) {
	k := newELF()
	k.header.Entry = 0xffffffff80200010
	p := place(t, Config{Kernel: bytes.NewReader(k.bytes()), RAM: make([]byte, testRAM)})
	if p.Entry.RIP != 0x200010 {
		t.Errorf("enters at %#x, want 0x200010", p.Entry.RIP)
	}
}

// A start-up segment that runs at its physical address is not part of the image.
func TestAMD64Image(t *testing.T) {
	k := newELF()
	k.segments = append(k.segments, segment{0x100000, 0x100000, 0x800, elf.PF_R | elf.PF_X, "start"})
	p := place(t, Config{Kernel: bytes.NewReader(k.bytes()), RAM: make([]byte, testRAM)})
	if diff := cmp.Diff(&Image{0xffffffff80200000, 0x200000, 0x5000}, p.Image); diff != "" {
		t.Error(diff)
	}
	if want := (Range{0x100000, 0x105000}); p.Kernel != want {
		t.Errorf("kernel at %#x, want %#x", p.Kernel, want)
	}
}

func TestAMD64Errors(t *testing.T) {
	elfWith := func(change func(*elfKernel)) []byte {
		k := newELF()
		change(&k)
		return k.bytes()
	}
	bzWith := func(change func(zeroPage)) []byte {
		b := newBzImage("")
		change(b)
		return b
	}
	good := newELF().bytes()
	for _, tt := range []struct {
		name string
		c    Config // Kernel is file, RAM testRAM unless given
		file []byte
		want string
	}{
		{"not a kernel", Config{}, []byte("#!/bin/sh"), "not a kernel: neither"},
		{"ELF header cut", Config{}, good[:40], "reading the ELF headers of the kernel: the file is truncated"},
		{"ELF programs cut", Config{}, good[:100], "reading the ELF headers of the kernel: the file is truncated"},
		{"ELF segment cut", Config{}, good[:len(good)-1], "reading the kernel's segment at 0x202000: the file is truncated"},
		{"machine", Config{}, elfWith(func(k *elfKernel) { k.header.Machine = uint16(elf.EM_AARCH64) }),
			"the kernel is for the wrong machine: EM_AARCH64, want EM_X86_64"},
		{"big endian", Config{}, elfWith(func(k *elfKernel) { k.header.Ident[elf.EI_DATA] = byte(elf.ELFDATA2MSB) }), "reading the ELF headers"},
		{"module", Config{}, elfWith(func(k *elfKernel) { k.header.Type = uint16(elf.ET_REL) }), "not a kernel: its ELF file is ET_REL, want ET_EXEC"},
		{"no segments", Config{}, elfWith(func(k *elfKernel) { k.segments = nil }), "not a kernel: the ELF file has nothing to load"},
		{"low segment", Config{}, elfWith(func(k *elfKernel) { k.segments[0].paddr = 0x8000 }),
			"the kernel has a segment at 0x8000, below 1 MiB, where the boot loader's tables are"},
		{"high segment", Config{}, elfWith(func(k *elfKernel) { k.segments[0].paddr = 1 << 40 }), "the kernel has a segment of 1 MiB at 0x10000000000, beyond 4096 MiB"},
		{"small memory", Config{}, elfWith(func(k *elfKernel) { k.segments[0].memsz = 1 }), "the ELF file is damaged"},
		{"entry", Config{}, elfWith(func(k *elfKernel) { k.header.Entry = 0x900000 }), "the kernel's entry point 0x900000 is outside its segments"},
		{"ELF too large", Config{}, elfWith(func(k *elfKernel) { k.segments[2].memsz = testRAM }), "the kernel does not fit in 16 MiB of RAM: it needs 19 MiB"},
		{"bzImage header cut", Config{}, newBzImage("")[:0x210], "reading the bzImage header: the file is truncated"},
		{"bzImage cut", Config{}, newBzImage("")[:0x700], "reading the bzImage: the file is truncated: 1792 bytes, want 2560"},
		{"old protocol", Config{}, bzWith(func(z zeroPage) { z.put16(hdrVersion, 0x20a) }), "the bzImage has no 64-bit entry: its boot protocol is 2.10, want 2.12"},
		{"32 bit", Config{}, bzWith(func(z zeroPage) { z.put16(hdrXLoadFlags, 0) }), "the bzImage has no 64-bit entry: a 32-bit kernel"},
		{"bzImage too large", Config{}, bzWith(func(z zeroPage) { z.put32(hdrInitSize, testRAM) }), "the kernel does not fit in 16 MiB of RAM: it needs 18 MiB"},
		{"preferred address", Config{}, bzWith(func(z zeroPage) { z.put64(hdrPrefAddress, 1<<63) }), "the bzImage header is damaged"},
		{"command line", Config{CommandLine: strings.Repeat("x", 2048)}, good, "the kernel command line of 2048 bytes is too long: this kernel takes 2047"},
		{"bzImage command line", Config{CommandLine: strings.Repeat("x", 256)}, newBzImage(""), "the kernel command line of 256 bytes is too long: this kernel takes 255"},
		{"NUL", Config{CommandLine: "a\x00b"}, good, "the kernel command line has a NUL byte in it"},
		{"initrd", Config{Initrd: make([]byte, 15<<20)}, good,
			"the initrd of 15 MiB does not fit in 16 MiB of RAM: the kernel takes the first 3 MiB, the initrd must end by 16 MiB"},
		{"initrd over RAM", Config{Initrd: make([]byte, 17<<20)}, good, "the initrd of 17 MiB does not fit in 16 MiB of RAM"},
		{"little RAM", Config{RAM: make([]byte, 1<<20)}, good, "1048576 bytes of RAM: want whole pages, 2 MiB to 4096 MiB"},
		{"odd RAM", Config{RAM: make([]byte, testRAM+1)}, good, "16777217 bytes of RAM: want whole pages"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.Kernel = bytes.NewReader(tt.file)
			if tt.c.RAM == nil {
				tt.c.RAM = make([]byte, testRAM)
			}
			if _, err := AMD64(tt.c); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("have %q, want %q", errText(err), tt.want)
			}
		})
	}
}

func ExampleAMD64() {
	p, err := AMD64(Config{
		Kernel:      bytes.NewReader(newELF().bytes()),
		CommandLine: "console=ttyS0",
		Initrd:      make([]byte, 10000),
		RAM:         make([]byte, 64<<20),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v kernel at %#x, initrd at %#x\n", p.Kind, p.Kernel.Base, p.Initrd.Base)
	fmt.Printf("enter at %#x with RSI %#x\n", p.Entry.RIP, p.Entry.RSI)
	_, err = AMD64(Config{Kernel: strings.NewReader("#!/bin/sh\n")})
	fmt.Println(err)
	// Output:
	// ELF kernel at 0x200000, initrd at 0x3ffd000
	// enter at 0x200010 with RSI 0x7000
	// not a kernel: neither an ELF file nor a Linux bzImage or Image
}
