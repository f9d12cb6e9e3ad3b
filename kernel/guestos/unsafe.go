package guestos

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
	"strings"

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

// freebsdNames are the functions that FreeBSD's kinst leaves alone: what its breakpoint
// handler or the debugger may run, and the handlers of exceptions, where a breakpoint
// would come back for ever.
var freebsdNames = []struct{ pattern, reason string }{
	{"dtrace_*", "runs while DTrace handles a probe"},
	{"kinst_*", "runs while kinst handles a probe"},
	{"db_*", "a part of the kernel debugger"},
	{"kdb_*", "a part of the kernel debugger"},
	{"owner_mtx", "runs when a D program asks who owns a lock"},
	{"owner_rm", "runs when a D program asks who owns a lock"},
	{"owner_rw", "runs when a D program asks who owns a lock"},
	{"owner_sx", "runs when a D program asks who owns a lock"},
	{"trap_check", "runs at every breakpoint"},
	{"X[a-z]*", "an exception handler"},          // FreeBSD, amd64
	{"handle_el1h_sync", "an exception handler"}, // FreeBSD, arm64
	{"do_el1h_sync", "an exception handler"},
	{"cpu_exception_handler*", "an exception handler"}, // FreeBSD, riscv64
	{"do_trap_supervisor", "an exception handler"},
	{"do_trap_user", "an exception handler"},
	{"asm_exc_*", "an exception handler"}, // Linux, amd64
	{"exc_*", "an exception handler"},
	{"do_int3*", "an exception handler"},
	{"error_entry", "an exception handler"},
	{"paranoid_entry", "an exception handler"},
	{"el[01][ht]_*", "an exception handler"},     // Linux, arm64
	{"handle_exception", "an exception handler"}, // Linux, riscv64
	{"do_trap_*", "an exception handler"},
}

// FreeBSDUnsafe says why kinst on FreeBSD would leave a function of that name alone, ""
// if it would not: the list for kinstpolicy=freebsd, whatever the guest is.
func FreeBSDUnsafe(name string) string {
	if strings.HasPrefix(name, "dtrace_safe_") {
		return ""
	}
	for _, n := range freebsdNames {
		if kernel.Match(n.pattern, name) {
			return n.reason
		}
	}
	return ""
}
