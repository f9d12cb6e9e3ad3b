package kernel

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"trapline/kernel/arch"
)

// linkBase is the link-time address of a module's first section. Debug information says of
// what is not there that it is at 0 or near.
const linkBase = 0x10000

// Offsets in a section header and a symbol, and the size of a relocation (ELF gABI, figures
// 4-8, 4-15 and 4-19).
const (
	shAddr   = 16
	symShndx = 6
	symValue = 8
	relaSize = 24
)

// A relocation is one entry of a relocation table, looked up.
type relocation struct {
	kind  uint32
	place []byte // from where it applies to the end of the section
	at    uint64 // the link-time address of place
	value uint64 // of the symbol, plus the addend
}

// A relocator carries out one kind of relocation. It is only called with enough room.
type relocator struct {
	size  int // bytes that it needs
	apply func(r relocation)
}

// relocators has the relocations that make sense in a module by itself on each architecture.
var relocators arch.Table[map[uint32]relocator]

// link gives the loaded sections addresses, one after the other, and carries out the
// relocations that refer to them. In the file's headers it becomes a linked file, so that
// whoever reads it does not relocate again.
func (img *Image) link() error {
	end := img.layOut()
	le := binary.LittleEndian
	le.PutUint16(img.data[16:], uint16(elf.ET_DYN))
	table := img.elf.SectionByType(elf.SHT_SYMTAB)
	if table == nil {
		return errors.New("it has no symbol table")
	}
	symbols := img.bytes(table)
	img.settle(symbols)
	if int(table.Link) < len(img.elf.Sections) {
		img.settleExternal(symbols, img.elf.Sections[table.Link], end)
	}
	for _, s := range img.elf.Sections {
		if s.Type != elf.SHT_RELA || int(s.Info) >= len(img.elf.Sections) {
			continue
		}
		if err := img.relocate(img.elf.Sections[s.Info], img.bytes(s), symbols); err != nil {
			return fmt.Errorf("section %s: %w", s.Name, err)
		}
	}
	return nil
}

// layOut chooses the addresses. It returns the end of the last section.
func (img *Image) layOut() (end uint64) {
	le, next := binary.LittleEndian, uint64(linkBase)
	headers, stride := img.data[le.Uint64(img.data[40:]):], int(le.Uint16(img.data[58:]))
	for i, s := range img.elf.Sections {
		if !loaded(s) {
			continue
		}
		if align := s.Addralign; align > 1 && align&(align-1) == 0 && align <= 1<<20 {
			next = (next + align - 1) &^ (align - 1)
		}
		s.Addr = next
		le.PutUint64(headers[i*stride+shAddr:], next)
		next += s.Size
	}
	return next
}

// settle makes the symbols' values, which count from their sections, addresses.
func (img *Image) settle(symbols []byte) {
	le := binary.LittleEndian
	for ; len(symbols) >= symSize; symbols = symbols[symSize:] {
		if i := int(le.Uint16(symbols[symShndx:])); i < len(img.elf.Sections) && i > 0 {
			value := symbols[symValue:]
			le.PutUint64(value, le.Uint64(value)+img.elf.Sections[i].Addr)
		}
	}
}

// settleExternal gives the symbols that are defined elsewhere addresses behind the sections, for
// text to name: where they are is not known.
func (img *Image) settleExternal(symbols []byte, names *elf.Section, end uint64) {
	const apart = 16
	le, strs := binary.LittleEndian, string(img.bytes(names))
	img.external = map[uint64]string{}
	for next := end + apart; len(symbols) >= symSize; symbols = symbols[symSize:] {
		name := stringAt(strs, le.Uint32(symbols))
		if elf.SectionIndex(le.Uint16(symbols[symShndx:])) != elf.SHN_UNDEF || name == "" {
			continue
		}
		le.PutUint64(symbols[symValue:], next)
		img.external[next] = name
		next += apart
	}
}

// relocate carries out a table's relocations of a section. What is of a kind that is not known is
// left as it is, and so is what refers to a symbol of elsewhere but for text.
func (img *Image) relocate(s *elf.Section, table, symbols []byte) error {
	if s.Flags&elf.SHF_COMPRESSED != 0 {
		return errors.New("it is compressed, and to be relocated")
	}
	le, data := binary.LittleEndian, img.bytes(s)
	kinds, _ := relocators.Of(img.arch)
	for ; len(table) >= relaSize; table = table[relaSize:] {
		off, info, addend := le.Uint64(table), le.Uint64(table[8:]), le.Uint64(table[16:])
		at := int(info>>32) * symSize
		if at+symSize > len(symbols) {
			return fmt.Errorf("the relocation at %#x is of a symbol that is not there", off)
		}
		sym := symbols[at:]
		kind, known := kinds[uint32(info)]
		undefined := le.Uint16(sym[symShndx:]) == uint16(elf.SHN_UNDEF) && info>>32 != 0
		if !known || undefined && s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		if off > uint64(len(data)) || uint64(len(data))-off < uint64(kind.size) {
			return fmt.Errorf("the relocation at %#x is outside its section", off)
		}
		kind.apply(relocation{uint32(info), data[off:], s.Addr + off, le.Uint64(sym[symValue:]) + addend})
	}
	return nil
}

// Kinds that all architectures have, under numbers of their own.
var (
	put32 = relocator{4, func(r relocation) { binary.LittleEndian.PutUint32(r.place, uint32(r.value)) }}
	put64 = relocator{8, func(r relocation) { binary.LittleEndian.PutUint64(r.place, r.value) }}
	rel32 = relocator{4, func(r relocation) { binary.LittleEndian.PutUint32(r.place, uint32(r.value-r.at)) }}
	rel64 = relocator{8, func(r relocation) { binary.LittleEndian.PutUint64(r.place, r.value-r.at) }}
)
