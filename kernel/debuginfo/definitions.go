package debuginfo

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// definitionLetters are the tags of what has a name and a definition, in the index of those. A line of it
// is a letter, a colon, the name, a blank and where the first definition is, in hexadecimal:
//
//	s:task_struct 1a2b3c
var definitionLetters = map[uint64]string{tagStruct: "s:", tagUnion: "u:", tagEnum: "e:", tagTypedef: "t:", tagSubprogram: "f:"}

// lookup finds the first entry of a tag and name that is a definition, 0 if there is none: by an
// index if one can be kept, else by going through all of the image's DWARF.
func (d *dwarf) lookup(tag uint64, name string) (off uint64) {
	if len(d.info) == 0 { // an index may have been kept of the file that it has been moved to
		return 0
	}
	letter, ok := definitionLetters[tag]
	t := d.types.image
	if !ok || t.indexPath(".defs") == "" {
		return d.search(tag, name)
	}
	if t.defs == nil {
		t.defs = t.readIndex(".defs", d, d.definitions)
	}
	if text, ok := t.defs.find(letter + name); ok {
		off, _ = strconv.ParseUint(text, 16, 64)
	}
	return off
}

func (d *dwarf) search(tag uint64, name string) (off uint64) {
	d.top(func(_ *unit, e *die) bool {
		if e.tag == tag && !e.decl && string(e.name) == name {
			off = e.off
		}
		return off == 0
	})
	return off
}

// definitions makes the index of all of them.
func (d *dwarf) definitions() *nameIndex {
	first := make(map[string]uint64)
	var key []byte
	d.top(func(_ *unit, e *die) bool {
		letter, ok := definitionLetters[e.tag]
		if !ok || e.decl || len(e.name) == 0 || bytes.ContainsAny(e.name, " \n") {
			return true
		}
		key = append(append(key[:0], letter...), e.name...)
		if _, known := first[string(key)]; !known && d.budget.spend(nameCost+2*len(key)) {
			first[string(key)] = e.off
		}
		return true
	})
	lines := make([]string, 0, len(first))
	for name, off := range first {
		lines = append(lines, name+" "+strconv.FormatUint(off, 16))
	}
	slices.Sort(lines)
	return &nameIndex{[]byte("\n" + strings.Join(lines, "\n") + "\n")}
}
