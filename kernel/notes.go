package kernel

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"iter"
)

// noteBuildID is NT_GNU_BUILD_ID of the name "GNU".
const noteBuildID = 3

type note struct {
	name string
	kind uint32
	desc []byte
}

// BuildID is the image's GNU build ID in hex, "" if it has none. A debug file belongs to
// a kernel when these are equal.
func (img *Image) BuildID() string {
	for _, s := range img.elf.Sections {
		if s.Type != elf.SHT_NOTE {
			continue
		}
		for n := range notes(img.bytes(s)) {
			if n.name == "GNU" && n.kind == noteBuildID {
				return hex.EncodeToString(n.desc)
			}
		}
	}
	return ""
}

// notes goes through a note section (ELF gABI, figure 2-3), fields aligned to 4 bytes,
// up to its end or the first note that does not fit.
func notes(b []byte) iter.Seq[note] {
	align := func(n uint64) uint64 { return (n + 3) &^ 3 }
	return func(yield func(note) bool) {
		le := binary.LittleEndian
		for len(b) >= 12 {
			nameLen, descLen := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:]))
			desc := 12 + align(nameLen)
			if desc+descLen > uint64(len(b)) {
				return
			}
			name := string(bytes.TrimRight(b[12:12+nameLen], "\x00"))
			if !yield(note{name, le.Uint32(b[8:]), b[desc : desc+descLen]}) {
				return
			}
			b = b[min(desc+align(descLen), uint64(len(b))):]
		}
	}
}

// Banner is the text that a symbol names, as the file has it, up to the end of its first line; ""
// if there is no such symbol.
func (img *Image) Banner(symbol string) string {
	for _, s := range img.Symtab().Lookup(symbol) {
		buf := make([]byte, 1024)
		buf = buf[:img.copyFrom(s.Addr-img.slide, buf)]
		line, _, _ := bytes.Cut(buf, []byte{0})
		line, _, _ = bytes.Cut(line, []byte{'\n'})
		return string(line)
	}
	return ""
}
