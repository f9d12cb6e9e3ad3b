package kernel

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"math"
	"strings"
)

const symSize = 24 // bytes of an Elf64_Sym

// elfSymbols is a symbol table as a file has it (ELF gABI, figure 4-15).
type elfSymbols struct {
	raw   []byte
	strs  string
	kinds []sectionKind

	module bool
}

// read fills syms and fixed. It keeps one copy of the string table, which all names
// share, and nothing else: debug/elf's Symbols would take several times the memory. Symbols
// are made when their places are known, each once.
func (t *Symtab) read() error {
	sec := t.img.elf.SectionByType(elf.SHT_SYMTAB)
	if sec == nil || t.img.data == nil {
		return nil
	}
	if int(sec.Link) >= len(t.img.elf.Sections) {
		return errors.New("damaged: the symbol table has no string table")
	}
	e := elfSymbols{
		raw: t.img.bytes(sec), strs: string(t.img.bytes(t.img.elf.Sections[sec.Link])), kinds: kinds(t.img.elf),
		module: t.img.module != "",
	}
	places := make([]place, 0, len(e.raw)/symSize)
	for i := range len(e.raw) / symSize {
		switch addr, slides, ok := e.place(i); {
		case slides:
			places = append(places, place{addr, int32(i)})
		case ok:
			t.fixed = append(t.fixed, e.symbol(i))
		}
	}
	t.syms = make([]Symbol, len(places))
	for i, p := range byAddress(places) {
		t.syms[i] = e.symbol(int(p.at))
	}
	sortAliases(t.syms)
	return nil
}

// place tells of an entry what it takes to put it where it belongs, if it is wanted.
func (e *elfSymbols) place(i int) (addr uint64, slides, ok bool) {
	le, raw := binary.LittleEndian, e.raw[i*symSize:]
	shndx, name := elf.SectionIndex(le.Uint16(raw[6:])), uint64(le.Uint32(raw))
	if shndx == elf.SHN_UNDEF || name >= uint64(len(e.strs)) || !wanted(e.strs[name], elf.ST_TYPE(raw[4])) {
		return 0, false, false
	}
	addr = le.Uint64(raw[8:])
	return addr, e.kind(shndx).slides(addr), true
}

func (e *elfSymbols) kind(shndx elf.SectionIndex) sectionKind {
	if int(shndx) < len(e.kinds) {
		return e.kinds[shndx]
	}
	return sectionKind{}
}

// symbol is what an entry that is wanted comes to.
func (e *elfSymbols) symbol(i int) Symbol {
	le, raw := binary.LittleEndian, e.raw[i*symSize:]
	bind, typ := elf.ST_BIND(raw[4]), elf.ST_TYPE(raw[4])
	s := Symbol{
		Name: stringAt(e.strs, le.Uint32(raw)), Addr: le.Uint64(raw[8:]), Size: le.Uint64(raw[16:]),
		Global: bind == elf.STB_GLOBAL, Weak: bind == elf.STB_WEAK,
	}
	if e.module && entryPoint(s.Name) {
		s.Global, s.Weak = false, true
	}
	if s.Size > math.MaxUint64-s.Addr {
		s.Size = 0 // damaged: it would wrap
	}
	if kind := e.kind(elf.SectionIndex(le.Uint16(raw[6:]))); kind.slides(s.Addr) {
		s.Init = kind.init
		s.Label = kind.code && s.Size == 0
		s.Func = kind.code && (typ == elf.STT_FUNC || typ == elf.STT_NOTYPE && !isBound(s))
	}
	return s
}

// entryPoint tells the loader's names for two functions of a module, which have names of
// their own besides.
func entryPoint(name string) bool { return name == "init_module" || name == "cleanup_module" }

// wanted tells by its type and the first byte of its name whether a symbol is taken.
func wanted(first byte, typ elf.SymType) bool {
	switch typ {
	case elf.STT_SECTION, elf.STT_FILE, elf.STT_TLS:
		return false
	}
	// "$x", "$d" and the like mark code and data for disassemblers.
	return first != 0 && first != '$'
}

// isBound tells a linker script's mark of where a range begins or ends (_stext,
// __entry_text_start, __end_rodata) from an assembler's label. Both have neither type
// nor size.
func isBound(s Symbol) bool {
	if s.Size != 0 || !strings.HasPrefix(s.Name, "_") {
		return false
	}
	for _, suffix := range []string{"_start", "_end", "text"} {
		if strings.HasSuffix(s.Name, suffix) {
			return true
		}
	}
	return strings.HasPrefix(s.Name, "__start_") || strings.HasPrefix(s.Name, "__stop_") ||
		strings.HasPrefix(s.Name, "__end_") || s.Name == "_end"
}

func stringAt(strs string, off uint32) string {
	if uint64(off) >= uint64(len(strs)) {
		return ""
	}
	s := strs[off:]
	if end := strings.IndexByte(s, 0); end >= 0 {
		return s[:end]
	}
	return ""
}

// sectionKind is what a symbol inherits from its section.
type sectionKind struct {
	loaded, code, init bool
	offsets            uint64 // values up to this are offsets into per-CPU areas
}

// slides tells whether a symbol of the section moves with the kernel. __per_cpu_load
// does, though Linux defines it in a section of offsets.
func (k sectionKind) slides(addr uint64) bool {
	return k.loaded && (k.offsets == 0 || addr > k.offsets)
}

func kinds(f *elf.File) []sectionKind {
	kinds := make([]sectionKind, len(f.Sections))
	for i, s := range f.Sections {
		kinds[i].loaded = s.Flags&elf.SHF_ALLOC != 0
		kinds[i].code = kinds[i].loaded && s.Flags&elf.SHF_EXECINSTR != 0
		if s.Addr == 0 { // each CPU has a copy of it elsewhere
			kinds[i].offsets = s.Size
		}
		kinds[i].init = strings.HasPrefix(s.Name, ".init") || strings.HasPrefix(s.Name, ".exit")
	}
	return kinds
}

// A span is a range of addresses [lo, hi).
type span struct{ lo, hi uint64 }

// sectionEnds are the executable sections.
func sectionEnds(img *Image) []span {
	var spans []span
	for i, k := range kinds(img.elf) {
		if s := img.elf.Sections[i]; k.code && s.Addr+s.Size >= s.Addr {
			spans = append(spans, span{s.Addr, s.Addr + s.Size})
		}
	}
	return spans
}

// endOf is the end of the span that addr is in, addr itself if in none.
func endOf(spans []span, addr uint64) uint64 {
	for _, s := range spans {
		if s.lo <= addr && addr < s.hi {
			return s.hi
		}
	}
	return addr
}
