package kernel

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"math"
	"strings"
)

const symSize = 24 // bytes of an Elf64_Sym

// read fills syms and fixed. It keeps one copy of the string table, which all names
// share, and nothing else: debug/elf's Symbols would take several times the memory.
func (t *Symtab) read() error {
	sec := t.img.elf.SectionByType(elf.SHT_SYMTAB)
	if sec == nil || t.img.data == nil {
		return nil
	}
	if int(sec.Link) >= len(t.img.elf.Sections) {
		return errors.New("damaged: the symbol table has no string table")
	}
	strs := string(t.img.bytes(t.img.elf.Sections[sec.Link]))
	raw := t.img.bytes(sec)
	t.syms = make([]Symbol, 0, len(raw)/symSize)
	kinds := kinds(t.img.elf)
	for ; len(raw) >= symSize; raw = raw[symSize:] {
		t.add(raw, strs, kinds)
	}
	return nil
}

// add takes one entry of the table (ELF gABI, figure 4-15).
func (t *Symtab) add(raw []byte, strs string, kinds []sectionKind) {
	le := binary.LittleEndian
	info, shndx := raw[4], elf.SectionIndex(le.Uint16(raw[6:]))
	typ := elf.ST_TYPE(info)
	name := stringAt(strs, le.Uint32(raw))
	if shndx == elf.SHN_UNDEF || !wanted(name, typ) {
		return
	}
	s := Symbol{
		Name: name, Addr: le.Uint64(raw[8:]), Size: le.Uint64(raw[16:]),
		Global: elf.ST_BIND(info) == elf.STB_GLOBAL,
		Weak:   elf.ST_BIND(info) == elf.STB_WEAK,
	}
	if t.img.module != "" && entryPoint(name) {
		s.Global, s.Weak = false, true
	}
	if s.Size > math.MaxUint64-s.Addr {
		s.Size = 0 // damaged: it would wrap
	}
	var kind sectionKind
	if int(shndx) < len(kinds) {
		kind = kinds[shndx]
	}
	if !kind.slides(s.Addr) {
		t.fixed = append(t.fixed, s)
		return
	}
	s.Init = kind.init
	s.Label = kind.code && s.Size == 0
	s.Func = kind.code && (typ == elf.STT_FUNC || typ == elf.STT_NOTYPE && !isBound(s))
	t.syms = append(t.syms, s)
}

// entryPoint tells the loader's names for two functions of a module, which have names of
// their own besides.
func entryPoint(name string) bool { return name == "init_module" || name == "cleanup_module" }

func wanted(name string, typ elf.SymType) bool {
	switch typ {
	case elf.STT_SECTION, elf.STT_FILE, elf.STT_TLS:
		return false
	}
	// "$x", "$d" and the like mark code and data for disassemblers.
	return name != "" && name[0] != '$'
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
