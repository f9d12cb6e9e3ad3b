package boot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Entry is the state in which a CPU enters an amd64 kernel (Linux, Documentation/arch/x86/boot.rst,
// "64-bit boot protocol"): long mode with paging, the first 4 GiB mapped to themselves,
// interrupts off. Registers that are not here are zero.
type Entry struct {
	RIP    uint64 // mapped
	RSP    uint64 // of a small stack; the protocol does not ask for one
	RSI    uint64 // address of the zero page, Linux's struct boot_params
	RFLAGS uint64

	CR0, CR3, CR4, EFER uint64

	GDTBase  uint64
	GDTLimit uint16  // bytes less one; there is no IDT: its limit is 0
	Code     Segment // for CS
	Data     Segment // for DS, ES, SS, FS and GS
}

// A Segment is a selector and the descriptor that it selects in the GDT.
type Segment struct {
	Selector   uint16
	Descriptor uint64
}

// The memory below 640 KiB that is used until the kernel has made its own tables. The
// rest of it is left alone.
const (
	stackTop   = 0x7000 // grows down
	zeroPageAt = 0x7000
	cmdLineAt  = 0x8000
	cmdLineEnd = 0x10000
	tablesAt   = 0x10000 // PML4, PDPT, four page directories
	gdtAt      = 0x18000
	lowEnd     = 0x9fc00  // the memory map reserves what is between here
	highStart  = 0x100000 // and here for a BIOS
)

const (
	pageSize = 0x1000
	minRAM   = 2 << 20 // bytes
	maxRAM   = 4 << 30
)

// kernel is what a kernel file comes to, of either kind.
type kernel struct {
	kind    Kind
	entry   uint64 // physical
	needs   Range  // memory for the kernel to load and start
	loads   []load
	image   *Image
	header  zeroPage // its setup header, in place
	cmdLine int      // longest command line in bytes
	initrd  uint64   // last address that an initrd may occupy
	loader  *loaded  // what loader(8) knows of it, if it wants that
}

// A load is a part of the file that goes to memory.
type load struct {
	phys         uint64
	offset       int64
	size, memory uint64 // bytes of the file, and of memory; the rest is zero
}

// AMD64 places c.Kernel, a 64-bit x86 kernel, in c.RAM. On error RAM is in an undefined
// state. The errors are one line and say what does not fit.
func AMD64(c Config) (*Placed, error) {
	k, err := parseAMD64(c.Kernel)
	if err != nil {
		return nil, err
	}
	if err := k.check(c); err != nil {
		return nil, err
	}
	for _, l := range k.loads {
		if err := l.into(c.RAM, c.Kernel); err != nil {
			return nil, fmt.Errorf("loading the kernel: %w", err)
		}
	}
	entry, initrd, err := k.handOver(c)
	if err != nil {
		return nil, err
	}
	if c.hasACPI() {
		writeACPI(c.RAM, max(c.CPUs, 1), c.IOAPIC)
	}
	return &Placed{Kind: k.kind, Entry: entry, Kernel: k.needs, Initrd: initrd, Image: k.image}, nil
}

// handOver puts what a boot loader tells the kernel in its place. It returns how the kernel is
// entered, and where the initrd is.
func (k *kernel) handOver(c Config) (Entry, Range, error) {
	if k.loader != nil {
		return k.loader.handOver(c, k.needs)
	}
	initrd, err := k.placeInitrd(c)
	if err != nil {
		return Entry{}, Range{}, err
	}
	k.writeZeroPage(c, initrd)
	writeTables(c.RAM)
	return newEntry(k.entry), initrd, nil
}

func parseAMD64(file File) (*kernel, error) {
	kind, err := Identify(file)
	if err != nil {
		return nil, err
	}
	switch kind {
	case ELF:
		return parseELF(file)
	case BzImage:
		return parseBzImage(file)
	}
	return nil, fmt.Errorf("the kernel is for the wrong machine: an %s, want a bzImage or an ELF file for x86-64", kind)
}

// check sees whether the kernel and its command line fit.
func (k *kernel) check(c Config) error {
	ram := uint64(len(c.RAM))
	switch {
	case ram < minRAM || ram > maxRAM || ram%pageSize != 0:
		return fmt.Errorf("%d bytes of RAM: want whole pages, %d MiB to %d MiB", ram, mib(minRAM), mib(maxRAM))
	case k.needs.End() > ram:
		return fmt.Errorf("the kernel does not fit in %d MiB of RAM: it needs %d MiB", mib(ram), mib(k.needs.End()))
	case len(c.CommandLine) > k.cmdLine:
		return fmt.Errorf("the kernel command line of %d bytes is too long: this kernel takes %d", len(c.CommandLine), k.cmdLine)
	case strings.ContainsRune(c.CommandLine, 0):
		return errors.New("the kernel command line has a NUL byte in it")
	}
	return nil
}

// placeInitrd puts the initrd on whole pages as high as it may be.
func (k *kernel) placeInitrd(c Config) (Range, error) {
	size := uint64(len(c.Initrd))
	if size == 0 {
		return Range{}, nil
	}
	end := min(uint64(len(c.RAM)), k.initrd+1)
	base := (end - size) &^ (pageSize - 1)
	if size > end || base < k.needs.End() {
		return Range{}, fmt.Errorf("the initrd of %d MiB does not fit in %d MiB of RAM: the kernel takes the first %d MiB, the initrd must end by %d MiB",
			mib(size), mib(uint64(len(c.RAM))), mib(k.needs.End()), mib(end))
	}
	copy(c.RAM[base:], c.Initrd)
	return Range{base, size}, nil
}

// into reads the part into its place.
func (l load) into(ram []byte, file File) error {
	if err := readAt(file, ram[l.phys:l.phys+l.size], l.offset); err != nil {
		return err
	}
	clear(ram[l.phys+l.size : l.phys+l.memory])
	return nil
}

// Descriptors of flat segments: 64-bit code to read and execute, data to read and
// write (SDM vol. 3, 3.4.5), both marked as accessed so that the CPU need not write them.
var (
	codeSegment = Segment{0x10, 0x00af9b000000ffff}
	dataSegment = Segment{0x18, 0x00cf93000000ffff}
)

const gdtSize = 0x20

// Bits of control registers and page tables.
const (
	cr0PE, cr0ET, cr0PG = 1 << 0, 1 << 4, 1 << 31
	cr4PAE              = 1 << 5
	eferLME, eferLMA    = 1 << 8, 1 << 10
	rflagsFixed         = 1 << 1

	ptePresent, pteWrite, pteLarge = 1 << 0, 1 << 1, 1 << 7
)

func newEntry(rip uint64) Entry {
	return Entry{
		RIP: rip, RSP: stackTop, RSI: zeroPageAt, RFLAGS: rflagsFixed,
		CR0: cr0PE | cr0ET | cr0PG, CR3: tablesAt, CR4: cr4PAE, EFER: eferLME | eferLMA,
		GDTBase: gdtAt, GDTLimit: gdtSize - 1,
		Code: codeSegment, Data: dataSegment,
	}
}

// writeTables makes the GDT, and page tables that map 4 GiB to itself in pages of 2 MiB.
func writeTables(ram []byte) {
	put := binary.LittleEndian.PutUint64

	gdt := ram[gdtAt : gdtAt+gdtSize]
	clear(gdt)
	put(gdt[codeSegment.Selector:], codeSegment.Descriptor)
	put(gdt[dataSegment.Selector:], dataSegment.Descriptor)

	const pdpt, directories = tablesAt + pageSize, tablesAt + 2*pageSize
	clear(ram[tablesAt:directories])
	put(ram[tablesAt:], pdpt|ptePresent|pteWrite)
	for i := range uint64(4) {
		put(ram[pdpt+8*i:], directories+i*pageSize|ptePresent|pteWrite)
	}
	for i := range uint64(4 * 512) {
		put(ram[directories+8*i:], i<<21|ptePresent|pteWrite|pteLarge)
	}
}
