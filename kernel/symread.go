package kernel

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"math"
	"strings"
)

const symSize = 24 // bytes of an Elf64_Sym

// An entry is a symbol that is wanted, before its size is filled in.
type entry struct {
	addr, size uint64
	name       uint32 // where it begins in the string table

	fixed bool // a per-CPU offset or an absolute value: it does not slide
	code  bool // Symbol.Func
	// indirect: the name stands for another function, which this one chooses.
	indirect bool
	// The others are those of a Symbol.
	global, weak, init, label bool
}

// elfSymbols is a symbol table as a file has it (ELF gABI, figure 4-15).
type elfSymbols struct {
	raw    []byte
	strs   string
	kinds  []sectionKind
	module bool
	file   uint64 // bytes of the file
}

// read fills entries. It keeps one copy of the string table, and nothing else of the file:
// debug/elf's Symbols would take several times the memory.
func (t *Symtab) read() (err error) {
	defer Recover(&err)
	sec := t.img.elf.SectionByType(elf.SHT_SYMTAB)
	if sec == nil || t.img.data == nil {
		return nil
	}
	if int(sec.Link) >= len(t.img.elf.Sections) {
		return errors.New("damaged: the symbol table has no string table")
	}
	t.strs = string(t.img.bytes(t.img.elf.Sections[sec.Link]))
	e := elfSymbols{raw: t.img.bytes(sec), strs: t.strs, kinds: kinds(t.img.elf), module: t.img.module != "", file: uint64(len(t.img.data))}
	t.entries, t.span.lo = make([]entry, 0, len(e.raw)/symSize), math.MaxUint64
	for ; len(e.raw) >= symSize; e.raw = e.raw[symSize:] {
		if !e.wanted() {
			continue
		}
		s := e.entry()
		t.entries = append(t.entries, s)
		t.hasIndirect = t.hasIndirect || s.indirect
		if s.code {
			t.span.lo, t.span.hi = min(t.span.lo, s.addr), max(t.span.hi, s.addr+max(s.size, 1))
		}
	}
	t.demangle()
	return nil
}

// wanted reports whether the first symbol of raw is taken.
func (e *elfSymbols) wanted() bool {
	le, typ := binary.LittleEndian, elf.ST_TYPE(e.raw[4])
	name := uint64(le.Uint32(e.raw))
	switch {
	case elf.SectionIndex(le.Uint16(e.raw[symShndx:])) == elf.SHN_UNDEF || name >= uint64(len(e.strs)):
		return false
	case typ == elf.STT_SECTION || typ == elf.STT_FILE || typ == elf.STT_TLS:
		return false
	}
	// "$x", "$d" and the like mark code and data for disassemblers.
	return e.strs[name] != 0 && e.strs[name] != '$'
}

// entry is what the first symbol of raw, which is wanted, comes to.
func (e *elfSymbols) entry() entry {
	le := binary.LittleEndian
	bind, typ := elf.ST_BIND(e.raw[4]), elf.ST_TYPE(e.raw[4])
	s := entry{
		name: le.Uint32(e.raw), addr: le.Uint64(e.raw[symValue:]), size: le.Uint64(e.raw[16:]),
		global: bind == elf.STB_GLOBAL, weak: bind == elf.STB_WEAK, indirect: typ == elf.STT_GNU_IFUNC,
	}
	if e.module && entryPoint(stringAt(e.strs, s.name)) {
		s.global, s.weak = false, true
	}
	if s.size > math.MaxUint64-s.addr {
		s.size = 0 // damaged: it would wrap
	}
	kind := e.kind(elf.SectionIndex(le.Uint16(e.raw[symShndx:])))
	if s.fixed = !kind.slides(s.addr); !s.fixed {
		s.init = kind.init
		s.label = kind.code && s.size == 0
		if kind.code && s.size > e.file {
			s.size = 0 // damaged: it has room nowhere
		}
		s.code = kind.code && (typ == elf.STT_FUNC || typ == elf.STT_NOTYPE && !(s.label && isBound(stringAt(e.strs, s.name))))
	}
	return s
}

func (e *elfSymbols) kind(shndx elf.SectionIndex) sectionKind {
	if int(shndx) < len(e.kinds) {
		return e.kinds[shndx]
	}
	return sectionKind{}
}

// entryPoint reports whether a name is the loader's second name for a function of a module.
func entryPoint(name string) bool { return name == "init_module" || name == "cleanup_module" }

// isBound reports whether a name is a linker script's mark of where a range begins or ends (_stext,
// __entry_text_start, __end_rodata), not an assembler's label. Neither has a type or a size.
func isBound(name string) bool {
	if !strings.HasPrefix(name, "_") {
		return false
	}
	for _, suffix := range []string{"_start", "_end", "text"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return strings.HasPrefix(name, "__start_") || strings.HasPrefix(name, "__stop_") ||
		strings.HasPrefix(name, "__end_") || name == "_end"
}

func stringAt(strs string, off uint32) string {
	if uint64(off) >= uint64(len(strs)) {
		return ""
	}
	s := strs[off:min(uint64(off)+maxName, uint64(len(strs)))]
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

// slides reports whether a symbol of the section moves with the kernel. __per_cpu_load
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
		if s := img.elf.Sections[i]; k.code && (s.Type != elf.SHT_NOBITS || img.joined[s] != nil) && s.Addr+s.Size >= s.Addr {
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

// EachSymbol calls yield for the symbols of the file's symbol table that have a name and are defined in
// it, in the file's order. A damaged table has none.
func (img *Image) EachSymbol(yield func(name string, s elf.Symbol)) {
	if img.data == nil {
		return
	}
	all, err := img.elf.Symbols()
	if err != nil {
		return
	}
	for _, s := range all {
		if s.Name != "" && s.Section != elf.SHN_UNDEF {
			yield(s.Name, s)
		}
	}
}
