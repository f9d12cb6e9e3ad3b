package boot

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// The protocol of FreeBSD's loader(8) on amd64. The kernel is entered at the address that it is linked
// for, in long mode, with the first GiB mapped at 0 and at the kernel's base, and finds on its stack
// where the loader's list of facts is and where free memory begins:
//
//	kernel | symbols | environment | memory disk | list of facts | free
//
// All of it is below 1 GiB. The list is made of records: a type, a length, and so many bytes, padded
// to eight. A module begins with its name; what follows is of that module.

// herring is what the kernel's ELF file names as its interpreter. No other has it.
const herring = "/red/herring"

// Types of records in the list of facts.
const (
	factName    = 1
	factKind    = 2
	factAddress = 3
	factSize    = 4

	factEnvironment = 0x8006
	factSymbols     = 0x8003
	factSymbolsEnd  = 0x8004
	factFlags       = 0x8007
	factFree        = 0x8008
	factMemory      = 0x9001
	factList        = 0x9006
)

const (
	loaderWindow  = 1 << 30 // bytes that are mapped
	loaderFlags   = 0x1000  // the console is a serial line, as well
	loaderCmdLine = 16 << 10

	loaderPML4  = tablesAt
	loaderLow   = tablesAt + pageSize
	loaderPages = tablesAt + 2*pageSize
	loaderStack = tablesAt + 3*pageSize // return address, list, free memory: 4 bytes each

	kernelBase = 0xffffffff80000000
)

// loaded is a kernel that loader(8) loads.
type loaded struct {
	entry   uint64 // virtual
	symbols []byte // the symbol table and its strings, each with its size before it
	slides  bool   // free memory is counted from the start of the kernel
}

// wantsLoader reports whether the kernel is one that loader(8) loads.
func wantsLoader(f *elf.File) bool {
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP && p.Filesz == uint64(len(herring)+1) {
			name, err := io.ReadAll(p.Open())
			return err == nil && string(name) == herring+"\x00"
		}
	}
	return false
}

// parseLoaded reads the kernel's symbols. A kernel without any boots as well.
func parseLoaded(f *elf.File, file File) (*loaded, error) {
	l := &loaded{entry: f.Entry}
	table := f.SectionByType(elf.SHT_SYMTAB)
	if table == nil || int(table.Link) >= len(f.Sections) {
		return l, nil
	}
	for _, s := range []*elf.Section{table, f.Sections[table.Link]} {
		if s.Offset > uint64(file.Size()) || s.FileSize > uint64(file.Size())-s.Offset {
			return nil, fmt.Errorf("reading the kernel's symbols: %w", errTruncated)
		}
		data := make([]byte, s.FileSize)
		if err := readAt(file, data, int64(s.Offset)); err != nil {
			return nil, fmt.Errorf("reading the kernel's symbols: %w", err)
		}
		l.symbols = append(binary.LittleEndian.AppendUint64(l.symbols, s.FileSize), data...)
	}
	l.slides = bytes.Contains(l.symbols, []byte("\x00kernphys\x00")) // it can lie anywhere
	l.symbols = pad(l.symbols, 8)
	return l, nil
}

// A bundle is what the loader puts behind the kernel, piece by piece.
type bundle struct {
	ram  []byte
	free uint64 // physical
	err  error
}

// add puts data on pages of its own.
func (b *bundle) add(data []byte) (at uint64) {
	at = (b.free + pageSize - 1) &^ (pageSize - 1)
	if size, room := uint64(len(data)), min(uint64(len(b.ram)), loaderWindow); at > room || size > room-at {
		b.err = fmt.Errorf("kernel, symbols and initrd do not fit in %d MiB of RAM: they need %d MiB", mib(room), mib(at+size))
		return 0
	}
	b.free = at + uint64(copy(b.ram[at:], data))
	return at
}

// handOver puts everything behind the kernel. It returns how the kernel is entered, and where the
// memory disk is.
func (l *loaded) handOver(c Config, needs Range) (entry Entry, initrd Range, err error) {
	b := &bundle{ram: c.RAM, free: needs.End()}
	facts := facts{kernel: needs, memory: memoryMap(uint64(len(c.RAM)))}
	facts.symbols = Range{b.add(l.symbols), uint64(len(l.symbols))}
	facts.environment = b.add(environment(c.CommandLine))
	if len(c.Initrd) > 0 {
		facts.disk = Range{b.add(c.Initrd), uint64(len(c.Initrd))}
	}
	facts.at = b.add(facts.list())
	facts.free = (b.free + pageSize - 1) &^ (pageSize - 1)
	if b.err != nil {
		return Entry{}, Range{}, b.err
	}
	copy(c.RAM[facts.at:], facts.list()) // now that it is known where it is
	l.writeTables(c.RAM, facts)

	entry = newEntry(l.entry)
	entry.RSI, entry.RSP = 0, loaderStack
	return entry, facts.disk, nil
}

// environment is the kernel's environment: the words of the command line, each ended by a zero byte,
// and another.
func environment(line string) []byte {
	var b []byte
	for _, word := range strings.Fields(line) {
		b = append(append(b, word...), 0)
	}
	return append(b, 0)
}

// facts are what the list says.
type facts struct {
	kernel, symbols, disk Range
	environment, at, free uint64
	memory                []e820
}

func (f facts) list() []byte {
	var l []byte
	put := func(kind uint32, data []byte) {
		l = binary.LittleEndian.AppendUint32(l, kind)
		l = binary.LittleEndian.AppendUint32(l, uint32(len(data)))
		l = pad(append(l, data...), 8)
	}
	number := func(kind uint32, v uint64) { put(kind, binary.LittleEndian.AppendUint64(nil, v)) }
	module := func(name, kind string, at Range) {
		put(factName, append([]byte(name), 0))
		put(factKind, append([]byte(kind), 0))
		number(factAddress, at.Base)
		number(factSize, at.Size)
	}
	module("/boot/kernel/kernel", "elf kernel", f.kernel)
	if f.symbols.Size > 0 {
		number(factSymbols, f.symbols.Base)
		number(factSymbolsEnd, f.symbols.End())
	}
	put(factFlags, binary.LittleEndian.AppendUint32(nil, loaderFlags))
	number(factEnvironment, f.environment)
	number(factFree, f.free)
	put(factMemory, e820Bytes(f.memory))
	number(factList, f.at)
	if f.disk.Size > 0 {
		module("/mfsroot", "md_image", f.disk)
	}
	return append(l, make([]byte, 8)...)
}

// writeTables makes the GDT, page tables for the window, and the stack on which the kernel finds the
// list.
func (l *loaded) writeTables(ram []byte, f facts) {
	writeTables(ram)
	put := binary.LittleEndian.PutUint64
	clear(ram[loaderPML4 : loaderStack+pageSize])
	for _, virtual := range []uint64{0, kernelBase} {
		put(ram[loaderPML4+virtual>>39%512*8:], loaderLow|ptePresent|pteWrite)
		put(ram[loaderLow+virtual>>30%512*8:], loaderPages|ptePresent|pteWrite)
	}
	for i := range uint64(loaderWindow >> 21) {
		put(ram[loaderPages+8*i:], i<<21|ptePresent|pteWrite|pteLarge)
	}
	free := f.free
	if l.slides {
		free -= f.kernel.Base
	}
	binary.LittleEndian.PutUint32(ram[loaderStack+4:], uint32(f.at))
	binary.LittleEndian.PutUint32(ram[loaderStack+8:], uint32(free))
}

// pad appends zero bytes up to a multiple of n.
func pad(b []byte, n int) []byte { return append(b, make([]byte, -len(b)&(n-1))...) }
