package callsite

import (
	"debug/elf"
	"fmt"
)

// Stub makes the calls of all sites of a relocatable file no-operations: in data, the bytes
// of the file that f is, their bytes and their relocations change. It returns the number of
// sites.
func Stub(f *elf.File, data []byte) (int, error) {
	sites, err := Find(f)
	if err != nil {
		return 0, err
	}
	how, _ := callOf(f.Machine) // there is one, or there would be no sites
	at := map[elf.SectionIndex]map[uint64]bool{}
	for _, s := range sites {
		section := f.Sections[s.Section]
		if s.Addr >= section.FileSize || s.Addr+uint64(s.Len) > section.FileSize || section.Offset+s.Addr+uint64(s.Len) > uint64(len(data)) {
			return 0, fmt.Errorf("static probes: the call at %#x is not in its section %s", s.Addr, section.Name)
		}
		copy(data[section.Offset+s.Addr:], how.nops)
		if at[s.Section] == nil {
			at[s.Section] = map[uint64]bool{}
		}
		at[s.Section][s.Addr+how.before] = true
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA || at[elf.SectionIndex(s.Info)] == nil || s.Offset+s.FileSize > uint64(len(data)) {
			continue
		}
		table := data[s.Offset : s.Offset+s.FileSize]
		for ; len(table) >= relaSize; table = table[relaSize:] {
			if at[elf.SectionIndex(s.Info)][f.ByteOrder.Uint64(table)] {
				f.ByteOrder.PutUint64(table[8:], uint64(how.none))
			}
		}
	}
	return len(sites), nil
}
