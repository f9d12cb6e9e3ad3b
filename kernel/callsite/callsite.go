// Package callsite finds the static probes that dtrace_probe.h (images/tiny/src) has compiled into an
// ELF file.
//
//	DTRACE_PROVIDER_PROBE(hello, read__done, n)
//	   --> call __dtrace_probe_hello___read__done     a relocation names it
//	   --> Site: provider hello, name read-done       and the call becomes nops
//
// The relocations are there in a relocatable file, such as a module of Linux, and in a
// kernel that was linked with --emit-relocs.
package callsite

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"trapline/kernel/arch"
)

// A Site is a call that stands for a probe.
type Site struct {
	Section elf.SectionIndex // that holds it
	// Addr is where the call begins: an offset in its section in a relocatable file,
	// otherwise the address at which it was linked.
	Addr           uint64
	Len            int // bytes
	Provider, Name string
}

// DefaultProvider is the provider of a DTRACE_PROBE.
const DefaultProvider = "sdt"

// prefix begins the name of the function that a probe calls.
const prefix = "__dtrace_probe_"

// Parse reads the name of the function that a probe calls. In the name of the probe, "__"
// stands for a dash.
func Parse(symbol string) (provider, name string, ok bool) {
	rest, ok := strings.CutPrefix(symbol, prefix)
	if !ok || rest == "" {
		return "", "", false
	}
	provider, name, named := strings.Cut(rest, "___")
	if !named {
		provider, name = DefaultProvider, rest
	}
	return provider, strings.ReplaceAll(name, "__", "-"), true
}

// A call is how an architecture calls a function.
type call struct {
	before uint64   // bytes of it in front of what is relocated
	length int      // bytes
	types  []uint32 // of relocations
	nops   string   // that take its place
	// none is a relocation that changes nothing, by which one that is not wanted is replaced.
	none uint32
}

// calls has how each architecture calls a function.
var calls arch.Table[call]

func callOf(m elf.Machine) (call, bool) {
	a, err := arch.ForELF(m)
	if err != nil {
		return call{}, false
	}
	return calls.Of(a)
}

// Nops are what the call of a site becomes.
func Nops(m elf.Machine) []byte {
	how, _ := callOf(m)
	return []byte(how.nops)
}

// Find finds the sites of a file with 64 bits, by section and address. A use of a probe's
// function that is no call is an error.
func Find(f *elf.File) ([]Site, error) {
	how, ok := callOf(f.Machine)
	if !ok {
		return nil, fmt.Errorf("static probes: no support for %s", f.Machine)
	}
	if !Linked(f) {
		return nil, nil
	}
	symbols, err := symbolsOf(f)
	if err != nil {
		return nil, fmt.Errorf("static probes: %w", err)
	}
	var out []Site
	for _, s := range f.Sections {
		if !relocates(f, s) {
			continue
		}
		sites, err := how.sites(f, s, symbols)
		if err != nil {
			return nil, fmt.Errorf("static probes: %s: %w", s.Name, err)
		}
		out = append(out, sites...)
	}
	slices.SortFunc(out, func(a, b Site) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), cmp.Compare(a.Addr, b.Addr))
	})
	return out, nil
}

// Linked reports whether a file has relocations of code. Another has no sites.
func Linked(f *elf.File) bool {
	return slices.ContainsFunc(f.Sections, func(s *elf.Section) bool { return relocates(f, s) })
}

// relocates reports whether a section has relocations of code.
func relocates(f *elf.File, s *elf.Section) bool { return s.Type == elf.SHT_RELA && isCode(f, s.Info) }

// Named reports whether the names of a string table could be those of functions that probes call.
// A file without any has no sites.
func Named(names []byte) bool { return bytes.Contains(names, []byte(prefix)) }

func isCode(f *elf.File, section uint32) bool {
	return int(section) < len(f.Sections) && f.Sections[section].Flags&elf.SHF_EXECINSTR != 0
}

// relaSize is the bytes of an Elf64_Rela.
const relaSize = 24

// sites are those that one section of relocations names.
func (c call) sites(f *elf.File, rela *elf.Section, symbols symbolTable) ([]Site, error) {
	data, err := rela.Data()
	if err != nil {
		return nil, err
	}
	var out []Site
	for ; len(data) >= relaSize; data = data[relaSize:] {
		off, info := f.ByteOrder.Uint64(data), f.ByteOrder.Uint64(data[8:])
		symbol := symbols.name(f, info>>32)
		provider, name, ok := Parse(symbol)
		if !ok {
			continue
		}
		if !slices.Contains(c.types, uint32(info)) {
			return nil, fmt.Errorf("at %#x %s is used, but not called", off, symbol)
		}
		out = append(out, Site{elf.SectionIndex(rela.Info), off - c.before, c.length, provider, name})
	}
	return out, nil
}

// A symbolTable is one as a file has it. debug/elf would copy the names of all symbols, of which
// very many may end alike.
type symbolTable struct{ symbols, names []byte }

const (
	symbolSize = 24      // bytes of an Elf64_Sym
	maxName    = 1 << 12 // bytes of a name that can be that of a probe's function
)

func symbolsOf(f *elf.File) (t symbolTable, err error) {
	table := f.SectionByType(elf.SHT_SYMTAB)
	if table == nil {
		return t, elf.ErrNoSymbols
	}
	if int(table.Link) >= len(f.Sections) {
		return t, errors.New("the symbol table has no string table")
	}
	if t.symbols, err = table.Data(); err != nil {
		return t, fmt.Errorf("reading the symbol table: %w", err)
	}
	if t.names, err = f.Sections[table.Link].Data(); err != nil {
		return t, fmt.Errorf("reading the names of symbols: %w", err)
	}
	return t, nil
}

// name is that of a symbol that a probe calls, "" of another.
func (t symbolTable) name(f *elf.File, i uint64) string {
	if i >= uint64(len(t.symbols)/symbolSize) {
		return ""
	}
	at := uint64(f.ByteOrder.Uint32(t.symbols[i*symbolSize:]))
	if at >= uint64(len(t.names)) {
		return ""
	}
	name, _, ended := bytes.Cut(t.names[at:min(at+maxName, uint64(len(t.names)))], []byte{0})
	if !ended || !bytes.HasPrefix(name, []byte(prefix)) {
		return ""
	}
	return string(name)
}
