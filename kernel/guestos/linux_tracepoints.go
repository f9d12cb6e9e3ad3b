package guestos

import (
	"encoding/binary"
	"slices"
	"strings"
)

// linuxTracepoints are Linux's. The key of a tracepoint guards each place where the kernel would call
// it: sites and the targets of their jumps are in the kernel's jump table.
var linuxTracepoints = &Tracepoints{
	Any:   func(symbols Symbols) bool { return len(symbols.Lookup(jumpTable)) > 0 },
	Needs: "CONFIG_TRACEPOINTS and CONFIG_JUMP_LABEL",
	Has:   func(symbols Symbols, name string) bool { return addressOf(symbols, iterMark+name) != 0 },
	Find:  findLinuxTracepoints,
	Known: linuxKnown,
}

// Names of symbols.
const (
	jumpTable    = "__start___jump_table"
	jumpTableEnd = "__stop___jump_table"
	pointMark    = "__tracepoint_"
	iterMark     = "__traceiter_"
	callMark     = "__SCT__tp_func_"
)

// Of struct tracepoint: where its key is, behind its name; from where on pointers are behind that, of
// which one is to its functions; and no less than their end.
const (
	keyAt     = 8
	hookAt    = keyAt + 16
	hookEndAt = 0x58
)

// A jump is an entry of the jump table.
type linuxJump struct{ site, target, key uint64 }

// jumpSize is the bytes of an entry with relative addresses: struct jump_entry of
// include/linux/jump_label.h.
const jumpSize = 16

func findLinuxTracepoints(symbols Symbols, read Reader) (all []Tracepoint) {
	jumps := readJumps(symbols, read)
	if len(jumps) == 0 {
		return nil
	}
	names := tracepointNames(symbols)
	for _, j := range jumps {
		name, ok := names[j.key]
		if !ok {
			continue
		}
		object := j.key - keyAt
		p := Tracepoint{
			Name: name, Site: j.site, Target: j.target, Key: j.key,
			Hook: [2]uint64{object + hookAt, object + hookEndAt}, Types: iterMark + name,
		}
		for _, mark := range []string{iterMark, callMark} {
			if addr := addressOf(symbols, mark+name); addr != 0 {
				p.Calls = append(p.Calls, TracepointCall{Addr: addr})
			}
		}
		all = append(all, p)
	}
	return all
}

// tracepointNames are the names of tracepoints, by the addresses of their keys.
func tracepointNames(symbols Symbols) map[uint64]string {
	out := map[uint64]string{}
	for _, s := range symbols.Glob(iterMark + "*") {
		name := strings.TrimPrefix(s.Name, iterMark)
		for _, point := range symbols.Lookup(pointMark + name) {
			out[point.Addr+keyAt] = name
		}
	}
	return out
}

// maxTable is the bytes of a jump table, at most: those of kernels have some hundred thousand. Where it
// ends is what the image's symbols say.
const maxTable = 1 << 24

// readJumps reads the jump table, none if it is not there, too long, or cannot be read. Of the key's low
// bits one is the branch's sense, one says that the code goes away after boot.
func readJumps(symbols Symbols, read Reader) []linuxJump {
	start, end := addressOf(symbols, jumpTable), addressOf(symbols, jumpTableEnd)
	if start == 0 || end <= start || end-start > maxTable {
		return nil
	}
	table := make([]byte, end-start)
	if read(start, table) != nil {
		return nil
	}
	var out []linuxJump
	for at := start; len(table) >= jumpSize; at, table = at+jumpSize, table[jumpSize:] {
		near := func(off uint64) uint64 {
			return at + off + uint64(int64(int32(binary.LittleEndian.Uint32(table[off:]))))
		}
		out = append(out, linuxJump{near(0), near(4), (at + 8 + binary.LittleEndian.Uint64(table[8:])) &^ 3})
	}
	slices.SortFunc(out, func(a, b linuxJump) int { return int(int64(a.site - b.site)) })
	return out
}

// addressOf is the address of a symbol, 0 if there is none.
func addressOf(symbols Symbols, name string) uint64 {
	for _, s := range symbols.Lookup(name) {
		return s.Addr
	}
	return 0
}
