package kernel

import (
	"debug/elf"
	"encoding/binary"
	"sync"

	"trapline/kernel/arch"
)

// A kernel can choose some of its functions when it boots, by the CPU that it finds (STT_GNU_IFUNC). Such
// a name is of the function that chooses; the address of the chosen one is in the words that the
// kernel relocates then:
//
//	symbol memcpy, STT_GNU_IFUNC --relocations of it--> words of text and data --Resolve, in the guest--> memcpy_std

// indirect is the names of an image that stand for functions that the kernel chooses.
type indirect struct {
	words map[string][]word // by name

	sync.Mutex
	chosen map[string]Symbol // at link-time addresses, under that name
	asked  map[string]bool   // that have been asked for and are not chosen yet
}

// A word is a place that the kernel relocates.
type word struct {
	at     uint64 // link-time address
	addend uint64
	slot   slot
}

// A slot is how a relocation keeps an address.
type slot struct {
	size     int  // bytes
	relative bool // to the place, in so many bytes with a sign
}

// slots has the relocations that can refer to a function that the kernel chooses on each architecture.
var slots arch.Table[map[uint32]slot]

var (
	slot64    = slot{8, false}
	slot32    = slot{4, false}
	slotRel32 = slot{4, true}
)

// target is the address that a word has from some bytes.
func (w word) target(data []byte) uint64 {
	if w.slot.size == 8 {
		return binary.LittleEndian.Uint64(data)
	}
	v := uint64(int64(int32(binary.LittleEndian.Uint32(data))))
	if w.slot.relative {
		return v + w.at - w.addend
	}
	return v
}

// findIndirect finds the names, and a few words of each.
func (img *Image) findIndirect() (names map[string][]word) {
	all, err := img.elf.Symbols()
	if err != nil {
		return nil
	}
	names, byAddr := map[string][]word{}, map[uint64][]string{}
	for _, s := range all {
		if elf.ST_TYPE(s.Info) == elf.STT_GNU_IFUNC && s.Section != elf.SHN_UNDEF {
			names[s.Name] = nil
			byAddr[s.Value] = append(byAddr[s.Value], s.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	kinds, _ := slots.Of(img.arch)
	for _, s := range img.elf.Sections {
		if s.Type == elf.SHT_RELA || s.Type == elf.SHT_NOBITS && s.Entsize == relaSize {
			img.indirectWords(s, kinds, names, byAddr)
		}
	}
	return names
}

// indirectWords adds the words of a table of relocations. One of no symbol has the address of the function
// that chooses for its addend (R_*_IRELATIVE).
func (img *Image) indirectWords(s *elf.Section, kinds map[uint32]slot, names map[string][]word, byAddr map[uint64][]string) {
	const few = 4 // the first may be in text that the kernel has replaced
	le, table := binary.LittleEndian, img.bytes(s)
	symbols := img.dynamic(s)
	for ; len(table) >= relaSize; table = table[relaSize:] {
		at, info, addend := le.Uint64(table), le.Uint64(table[8:]), le.Uint64(table[16:])
		kind, known := kinds[uint32(info)]
		if !known {
			continue
		}
		resolver, w := addend, word{at, 0, kind}
		if sym := info >> 32; sym != 0 {
			if sym >= uint64(len(symbols))/symSize {
				continue
			}
			resolver, w.addend = le.Uint64(symbols[sym*symSize+symValue:]), addend
		}
		for _, name := range byAddr[resolver] {
			if len(names[name]) < few {
				names[name] = append(names[name], w)
			}
		}
	}
}

// dynamic is the symbol table that a table of relocations refers to.
func (img *Image) dynamic(s *elf.Section) []byte {
	if int(s.Link) >= len(img.elf.Sections) {
		return nil
	}
	return img.bytes(img.elf.Sections[s.Link])
}

// Undecided reports whether a name has been asked for of which it is not known yet which function it
// stands for. Resolve may find out, once the kernel has decided.
func (t *Symtab) Undecided() bool {
	if !t.hasIndirect {
		return false
	}
	x := t.indirect()
	x.Lock()
	defer x.Unlock()
	return len(x.asked) > 0
}

// Resolve finds out which functions the kernel has chosen for the names that have been asked for, from
// the guest's memory. It reports whether all are decided.
func (t *Symtab) Resolve(read func(addr uint64, p []byte) error) bool {
	x := t.indirect()
	x.Lock()
	defer x.Unlock()
	for name := range x.asked {
		for _, w := range x.words[name] {
			if s, ok := t.chosenBy(w, read); ok {
				s.Name = name
				x.chosen[name] = s
				delete(x.asked, name)
				break
			}
		}
	}
	return len(x.asked) == 0
}

// chosenBy is the function at which a word has come to point since the file was made.
func (t *Symtab) chosenBy(w word, read func(addr uint64, p []byte) error) (Symbol, bool) {
	now, before := make([]byte, w.slot.size), make([]byte, w.slot.size)
	at, _ := t.img.Run(w.at)
	if read(at, now) != nil || t.img.TextLink(w.at, before) == nil && string(now) == string(before) {
		return Symbol{}, false
	}
	s, ok := t.AtLink(w.target(now) - t.img.slide)
	return s, ok && s.Func && !s.Label && s.Addr == w.target(now)
}

// indirectly is the function that the kernel has chosen for a name. It notes a name that is not decided.
// One that the kernel uses nowhere cannot be.
func (t *Symtab) indirectly(name string) (Symbol, bool) {
	x := t.indirect()
	x.Lock()
	defer x.Unlock()
	if s, ok := x.chosen[name]; ok {
		return t.running(s)
	}
	if len(x.words[name]) > 0 {
		x.asked[name] = true
	}
	return Symbol{}, false
}
