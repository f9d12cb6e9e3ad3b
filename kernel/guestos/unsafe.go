package guestos

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"trapline/kernel"
)

// A block is a range of link-time addresses [lo, hi) and why no breakpoint may be in it.
type block struct {
	lo, hi uint64
	reason string
}

// unsafeCode is where Linux forbids its own kprobes. The emulator's breakpoints do not
// run through the guest's handler, so this is a choice, not a need.
type unsafeCode struct {
	areas     []block
	blacklist []block // functions, in order of address, apart from each other
}

// The areas, by the marks that Linux's linker script puts around them.
var unsafeAreas = []struct{ start, end, reason string }{
	{"__noinstr_text_start", "__noinstr_text_end",
		"in .noinstr.text: runs where Linux cannot take a breakpoint"},
	{"__entry_text_start", "__entry_text_end",
		"in .entry.text: runs while the CPU enters or leaves the kernel"},
	{"__kprobes_text_start", "__kprobes_text_end",
		"in .kprobes.text: runs while Linux handles a breakpoint"},
	{"__idmap_text_start", "__idmap_text_end", // arm64
		"in .idmap.text: runs while the MMU is off"},
	{"__hyp_text_start", "__hyp_text_end",
		"in .hyp.text: runs at EL2"},
}

const blacklisted = "on Linux's kprobe blacklist (NOKPROBE_SYMBOL)"

func findUnsafe(img *kernel.Image) *unsafeCode {
	var u unsafeCode
	for _, a := range unsafeAreas {
		if lo, hi, ok := between(img, a.start, a.end); ok && lo < hi {
			u.areas = append(u.areas, block{lo, hi, a.reason})
		}
	}
	for _, name := range []string{".noinstr.text", ".entry.text", ".kprobes.text"} {
		if data, addr, ok := img.Section(name); ok {
			u.areas = append(u.areas, block{addr, addr + uint64(len(data)), "in " + name})
		}
	}
	u.blacklist = readBlacklist(img)
	return &u
}

// between are the link-time values of two marks.
func between(img *kernel.Image, start, end string) (lo, hi uint64, ok bool) {
	lo, first := img.Symtab().Value(start)
	hi, last := img.Symtab().Value(end)
	if !first || !last {
		return 0, 0, false
	}
	return lo - img.Slide(), hi - img.Slide(), true
}

// readBlacklist reads the array of function addresses that NOKPROBE_SYMBOL makes.
func readBlacklist(img *kernel.Image) []block {
	var list []block
	for _, link := range blacklistWords(img) {
		if f, ok := img.Symtab().At(link + img.Slide()); ok {
			lo := f.Addr - img.Slide()
			list = append(list, block{lo, lo + f.Size, blacklisted})
		}
	}
	slices.SortFunc(list, func(a, b block) int { return cmp.Compare(a.lo, b.lo) })
	return slices.Compact(list)
}

func blacklistWords(img *kernel.Image) []uint64 {
	const tooMany = 1 << 20 // bytes: a damaged image
	data, _, ok := img.Section("_kprobe_blacklist")
	if lo, hi, marked := between(img, "__start_kprobe_blacklist", "__stop_kprobe_blacklist"); !ok && marked && hi-lo < tooMany {
		data = make([]byte, hi-lo)
		if img.Text(lo+img.Slide(), data) != nil {
			return nil
		}
	}
	var words []uint64
	for ; len(data) >= 8; data = data[8:] {
		words = append(words, binary.LittleEndian.Uint64(data))
	}
	return words
}

func (u *unsafeCode) reason(link uint64) string {
	for _, a := range u.areas {
		if a.lo <= link && link < a.hi {
			return a.reason
		}
	}
	i := sort.Search(len(u.blacklist), func(i int) bool { return u.blacklist[i].lo > link }) - 1
	if i >= 0 && link < u.blacklist[i].hi {
		return u.blacklist[i].reason
	}
	return ""
}
