package kernel

import "debug/elf"

// Join gives the image of a file of debug information the text and data of the file that it was
// split from: it has only their places (SHT_NOBITS). own must stay open as long as the image. Join
// reports whether anything was lacking.
func (img *Image) Join(own *Image) (lacked bool) {
	img.joined = map[*elf.Section][]byte{}
	for _, s := range img.elf.Sections {
		if s.Type != elf.SHT_NOBITS || !loaded(s) {
			continue
		}
		if t := own.elf.Section(s.Name); t != nil && t.Addr == s.Addr && t.Size == s.Size {
			if data := own.bytes(t); len(data) > 0 {
				img.joined[s] = data
			}
		}
	}
	if len(img.joined) == 0 {
		return false
	}
	img.segments = own.segments
	return true
}
