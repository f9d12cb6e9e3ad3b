package boot

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"
)

// segment is a PT_LOAD of a synthetic kernel.
type segment struct {
	vaddr, paddr, memsz uint64
	flags               elf.ProgFlag
	data                string
}

// An elfKernel is a synthetic ELF file. Tests change what they are about.
type elfKernel struct {
	interpreter string // "" for none
	symbols     []byte // a symbol table, nil for none
	strings     string
	header      elf.Header64
	segments    []segment
}

// newELF is a kernel of the shape of Linux's: text in the upper half, per-CPU data at
// virtual address 0, bss at the end.
func newELF() elfKernel {
	return elfKernel{
		header: elf.Header64{
			Ident:   [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
			Type:    uint16(elf.ET_EXEC),
			Machine: uint16(elf.EM_X86_64),
			Version: uint32(elf.EV_CURRENT),
			Entry:   0x200010,
		},
		segments: []segment{
			{0xffffffff80200000, 0x200000, 0x1000, elf.PF_R | elf.PF_X, "text of the kernel"},
			{0, 0x201000, 0x1000, elf.PF_R | elf.PF_W, "per-CPU"},
			{0xffffffff80202000, 0x202000, 0x3000, elf.PF_R | elf.PF_W, "data"},
		},
	}
}

func (k elfKernel) bytes() []byte {
	h := k.header
	n := len(k.segments)
	if k.interpreter != "" {
		n++
	}
	h.Ehsize, h.Phentsize, h.Phnum, h.Phoff = 64, 56, uint16(n), 64
	var head, body bytes.Buffer
	start := 64 + 56*n
	if k.symbols != nil { // sections: none, the table and its strings
		h.Shentsize, h.Shnum, h.Shoff = 64, 3, uint64(start)
		start += 3 * 64
	}
	binary.Write(&head, binary.LittleEndian, h)
	for _, s := range k.segments {
		binary.Write(&head, binary.LittleEndian, elf.Prog64{
			Type: uint32(elf.PT_LOAD), Flags: uint32(s.flags),
			Off: uint64(start + body.Len()), Vaddr: s.vaddr, Paddr: s.paddr,
			Filesz: uint64(len(s.data)), Memsz: s.memsz, Align: 0x1000,
		})
		body.WriteString(s.data)
	}
	if k.interpreter != "" {
		size := uint64(len(k.interpreter) + 1)
		binary.Write(&head, binary.LittleEndian, elf.Prog64{
			Type: uint32(elf.PT_INTERP), Off: uint64(start + body.Len()), Filesz: size, Memsz: size})
		body.WriteString(k.interpreter + "\x00")
	}
	if k.symbols != nil {
		table := uint64(start + body.Len())
		size := uint64(len(k.symbols))
		binary.Write(&head, binary.LittleEndian, []elf.Section64{
			{},
			{Type: uint32(elf.SHT_SYMTAB), Off: table, Size: size, Link: 2, Entsize: 24},
			{Type: uint32(elf.SHT_STRTAB), Off: table + size, Size: uint64(len(k.strings))},
		})
		body.Write(k.symbols)
		body.WriteString(k.strings)
	}
	return append(head.Bytes(), body.Bytes()...)
}

// newBzImage is a bzImage of two setup sectors and the given kernel, which wants 64 KiB
// at 2 MiB. The tests change the header that is returned in place.
func newBzImage(payload string) []byte {
	payload += strings.Repeat("\x00", max(0x400-len(payload), 0))
	z := make(zeroPage, 3*512)
	z[hdrSetupSects] = 2
	z.put32(hdrSysSize, uint32(len(payload)/16))
	z.put16(hdrBootFlag, 0xaa55)
	z[hdrJump], z[hdrJump+1] = 0xeb, 0x66
	copy(z[hdrMagic:], "HdrS")
	z.put16(hdrVersion, 0x20f)
	z[hdrLoadFlags] = loadedHigh
	z.put32(hdrInitrdMax, 0x7fffffff)
	z.put32(hdrAlignment, 0x200000)
	z[hdrRelocatable] = 1
	z.put16(hdrXLoadFlags, kernel64|1<<1)
	z.put32(hdrCmdLineSize, 255)
	z.put64(hdrPrefAddress, 0x200000)
	z.put32(hdrInitSize, 0x10000)
	return append(z, payload+"signature"...)
}

func TestIdentify(t *testing.T) {
	arm64 := make([]byte, 64)
	copy(arm64[0x38:], "ARM\x64")
	for _, tt := range []struct {
		name string
		file []byte
		want Kind
		err  string
	}{
		{"ELF", newELF().bytes(), ELF, ""},
		{"ELF, short", []byte("\x7fELF"), ELF, ""},
		{"bzImage", newBzImage(""), BzImage, ""},
		{"empty", nil, 0, "not a kernel: the file is empty"},
		{"text", []byte("hello\n"), 0, "not a kernel: neither an ELF file nor a Linux bzImage or Image"},
		{"boot sector", newBzImage("")[:0x202], 0, "not a kernel: neither an ELF file nor a Linux bzImage or Image"},
		{"gzip", []byte("\x1f\x8b\x08"), 0, "not a kernel that can be booted: this is a gzip file"},
		{"initramfs", []byte("070701000"), 0, "not a kernel that can be booted: this is an initramfs (cpio)"},
		{"arm64", arm64, RawImage, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			have, err := Identify(bytes.NewReader(tt.file))
			if have != tt.want || errText(err) != tt.err {
				t.Errorf("have %v, %q; want %v, %q", have, errText(err), tt.want, tt.err)
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Whatever a file holds, it is placed inside RAM or refused with one line.
func FuzzAMD64(f *testing.F) {
	f.Add(newELF().bytes(), 10)
	f.Add(newBzImage("kernel"), 0)
	f.Add([]byte("\x7fELF\x02\x01\x01"), 5000)
	ram, initrds := make([]byte, 4<<20), make([]byte, 5<<20)
	f.Fuzz(func(t *testing.T, file []byte, initrd int) {
		c := Config{Kernel: bytes.NewReader(file), CommandLine: "quiet", RAM: ram}
		c.Initrd = initrds[:uint(initrd)%uint(len(initrds))]
		p, err := AMD64(c)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		if !p.within(Range{highStart, uint64(len(ram)) - highStart}) {
			t.Errorf("placed outside RAM: %+v", p)
		}
	})
}

// within checks that the kernel, its entry and the initrd lie in r and apart.
func (p *Placed) within(r Range) bool {
	in := func(x Range) bool { return x.Size == 0 || r.Base <= x.Base && x.Base <= x.End() && x.End() <= r.End() }
	return in(p.Kernel) && in(p.Initrd) && (p.Initrd.Size == 0 || p.Kernel.End() <= p.Initrd.Base) &&
		p.Entry.RIP-p.Kernel.Base < p.Kernel.Size
}
