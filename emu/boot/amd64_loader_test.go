package boot

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newLoaded is a kernel as loader(8) wants them, with a symbol of that name.
func newLoaded(symbol string) elfKernel {
	k := newELF()
	k.header.Entry = 0xffffffff80200010
	k.interpreter = herring
	k.strings = "\x00" + symbol + "\x00"
	k.symbols = make([]byte, 24, 48)
	k.symbols = binary.LittleEndian.AppendUint32(k.symbols, 1)
	k.symbols = append(k.symbols, make([]byte, 20)...)
	return k
}

// seen reads the guest's memory as the kernel sees it, by the tables that it is entered with.
func seen(t *testing.T, ram []byte, cr3, virtual uint64, n int) []byte {
	t.Helper()
	table := cr3
	for shift := 39; shift > 21; shift -= 9 {
		entry := binary.LittleEndian.Uint64(ram[table+virtual>>shift%512*8:])
		if entry&ptePresent == 0 {
			t.Fatalf("%#x is not mapped", virtual)
		}
		table = entry &^ (pageSize - 1)
	}
	page := binary.LittleEndian.Uint64(ram[table+virtual>>21%512*8:])
	at := page&^(1<<21-1) + virtual%(1<<21)
	return ram[at : at+uint64(n)]
}

// listed writes the list of facts as lines; numbers differ by their size.
func listed(ram []byte, at uint64) (lines []string) {
	for {
		kind, size := binary.LittleEndian.Uint32(ram[at:]), binary.LittleEndian.Uint32(ram[at+4:])
		data := ram[at+8 : at+8+uint64(size)]
		switch {
		case kind == 0:
			return lines
		case kind == factName || kind == factKind:
			lines = append(lines, fmt.Sprintf("%#x %s", kind, bytes.TrimSuffix(data, []byte{0})))
		case size == 8:
			lines = append(lines, fmt.Sprintf("%#x %#x", kind, binary.LittleEndian.Uint64(data)))
		default:
			lines = append(lines, fmt.Sprintf("%#x %x", kind, data))
		}
		at += 8 + uint64(size+7)&^7
	}
}

func TestLoader(t *testing.T) {
	ram := bytes.Repeat([]byte{0xcc}, testRAM)
	p := place(t, Config{Kernel: bytes.NewReader(newLoaded("kernphys").bytes()), CommandLine: "a=1  b", Initrd: []byte("disk"), RAM: ram})
	if p.Entry.RIP != 0xffffffff80200010 || p.Entry.CR3 != loaderPML4 {
		t.Errorf("entered at %#x with the tables at %#x", p.Entry.RIP, p.Entry.CR3)
	}
	for _, at := range []uint64{0x200000, kernelBase + 0x200000} {
		if have := string(seen(t, ram, p.Entry.CR3, at, 4)); have != "text" {
			t.Errorf("at %#x: %q", at, have)
		}
	}
	stack := ram[p.Entry.RSP:]
	list, free := uint64(binary.LittleEndian.Uint32(stack[4:])), uint64(binary.LittleEndian.Uint32(stack[8:]))
	want := []string{
		"0x1 /boot/kernel/kernel", "0x2 elf kernel", "0x3 0x200000", "0x4 0x5000",
		"0x8003 0x205000", "0x8004 0x205050", "0x8007 00100000", "0x8006 0x206000", "0x8008 0x209000",
		"0x9001 0000000000000000" + "00fc090000000000" + "01000000" +
			"00fc090000000000" + "0004060000000000" + "02000000" + "0000100000000000" + "0000f00000000000" + "01000000",
		"0x9006 0x208000", "0x1 /mfsroot", "0x2 md_image", "0x3 0x207000", "0x4 0x4",
	}
	if diff := cmp.Diff(want, listed(ram, list)); diff != "" {
		t.Error(diff)
	}
	if free != 0x9000 {
		t.Errorf("free memory begins %#x behind the kernel's start", free)
	}
	if have := string(ram[0x206000:0x206008]); have != "a=1\x00b\x00\x00\xcc" {
		t.Errorf("the environment is %q", have)
	}
	if have := string(ram[0x207000:0x207005]); have != "disk\xcc" || p.Initrd != (Range{0x207000, 4}) {
		t.Errorf("the memory disk is %q, %v", have, p.Initrd)
	}
	symbols := "\x30\x00\x00\x00\x00\x00\x00\x00" + string(newLoaded("kernphys").symbols) + "\x0a\x00\x00\x00\x00\x00\x00\x00\x00kernphys\x00"
	if have := string(ram[0x205000 : 0x205000+len(symbols)]); have != symbols {
		t.Errorf("the symbols are %q, want %q", have, symbols)
	}
}

// A kernel that cannot lie elsewhere is given the address at which free memory begins.
func TestLoaderFixed(t *testing.T) {
	ram := newRAM(t, testRAM)
	p := place(t, Config{Kernel: bytes.NewReader(newLoaded("other").bytes()), RAM: ram})
	if free := binary.LittleEndian.Uint32(ram[p.Entry.RSP+8:]); free != 0x208000 {
		t.Errorf("free memory begins at %#x", free)
	}
}

func TestLoaderErrors(t *testing.T) {
	damaged := newLoaded("kernphys").bytes()
	for _, tt := range []struct {
		name   string
		config Config
		want   string
	}{
		{"too large", Config{Initrd: make([]byte, testRAM)}, "kernel, symbols and initrd do not fit in 16 MiB of RAM: they need 19 MiB"},
		{"truncated", Config{Kernel: bytes.NewReader(damaged[:len(damaged)-2])}, "reading the kernel's symbols: the file is truncated"},
		{"long", Config{CommandLine: strings.Repeat("x", loaderCmdLine+1)}, "the kernel command line of 16385 bytes is too long: this kernel takes 16384"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.config.Kernel == nil {
				tt.config.Kernel = bytes.NewReader(damaged)
			}
			tt.config.RAM = newRAM(t, testRAM)
			if _, err := AMD64(tt.config); err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

// Where there is no loader, a machine may enter such a kernel at the start of its text.
func TestLoaderAtText(t *testing.T) {
	for _, at := range []bool{false, true} {
		k := newLoaded("x")
		k.header.Machine = uint16(elf.EM_RISCV)
		v := board
		v.ELF, v.Base, v.AtText = elf.EM_RISCV, 0, at
		p, err := Virt(Config{Kernel: bytes.NewReader(k.bytes()), RAM: newRAM(t, testRAM)}, v)
		if err != nil {
			t.Fatal(err)
		}
		want := map[bool]uint64{false: 0x200010, true: 0x200000}[at]
		if p.PC != want {
			t.Errorf("at text %v: entered at %#x, want %#x", at, p.PC, want)
		}
	}
}
