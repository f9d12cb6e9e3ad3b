// Command sdtnops makes no-operations of the calls of static probes in a kernel that was
// linked with --emit-relocs. Of the relocations of code it leaves those of the calls, by which
// a tracer finds them.
package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"

	"trapline/kernel/callsite"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "sdtnops: say KERNEL")
		os.Exit(2)
	}
	if err := change(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "sdtnops: %v\n", err)
		os.Exit(1)
	}
}

// change rewrites the file.
func change(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	sites, err := callsite.Find(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, s := range sites {
		section := f.Sections[s.Section]
		copy(data[s.Addr-section.Addr+section.Offset:], callsite.Nops(f.Machine))
	}
	for i, s := range f.Sections {
		if s.Type == elf.SHT_RELA && f.Sections[s.Info].Flags&elf.SHF_EXECINSTR != 0 {
			keep(data, i, s, sites)
		}
	}
	return os.WriteFile(name, data, 0o755)
}

// Of the structures of ELF files with 64 bits: the size of a relocation, and where a
// section header is and has its size.
const (
	relaSize   = 24
	headersAt  = 40
	headerSize = 64
	sizeAt     = 32
)

// keep makes section i, which is rela, hold the relocations inside of sites alone.
func keep(data []byte, i int, rela *elf.Section, sites []callsite.Site) {
	all := data[rela.Offset : rela.Offset+rela.Size]
	kept := all[:0]
	for ; len(all) >= relaSize; all = all[relaSize:] {
		off := binary.LittleEndian.Uint64(all)
		for _, s := range sites {
			if uint32(s.Section) == rela.Info && off-s.Addr < uint64(s.Len) {
				kept = append(kept, all[:relaSize]...)
			}
		}
	}
	header := binary.LittleEndian.Uint64(data[headersAt:]) + uint64(i)*headerSize
	binary.LittleEndian.PutUint64(data[header+sizeAt:], uint64(len(kept)))
}
