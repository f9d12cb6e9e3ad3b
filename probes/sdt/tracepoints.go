package sdt

import (
	"encoding/binary"
	"slices"
	"strings"

	"trapline/kernel/callsite"
	"trapline/kernel/ctypes"
	"trapline/probes"
	"trapline/probes/ktext"
)

// Types are those of the kernel. *debuginfo.Types are some.
type Types interface {
	Function(name string) (*ctypes.Type, bool)
	Tagged(kind ctypes.Kind, tag string) (*ctypes.Type, bool)
}

// Tracepoints are the tracepoints of a Linux kernel. A tracepoint's key guards each place
// where the kernel would call it:
//
//	site:     nop                 or, while the tracepoint is on, a jump to
//	target:   get ready, preempt_disable, funcs = tracepoint.funcs, if there are any
//	          call __traceiter_NAME(funcs->data, arguments)
//
// The sites and their targets are in the jump table. While the tracepoint is off, nothing
// has its arguments: they are found out by walking from the target to the call.
type Tracepoints struct {
	// Current is the address of what the kernel keeps of the thread that a CPU is in, 0 if it is
	// not known.
	Current func(cpu probes.CPU) uint64

	module  string // the kernel proper
	symbols ktext.Symbols
	types   Types // nil: nothing is known of them
	read    func(addr uint64, p []byte) error
	walk    *walker
	sites   map[uint64][]jump // by key
}

// A jump is an entry of the jump table.
type jump struct{ site, target, key uint64 }

// jumpSize is the bytes of an entry with relative addresses: struct jump_entry of
// include/linux/jump_label.h.
const jumpSize = 16

// Table is the symbol at the start of a Linux kernel's jump table.
const Table = "__start___jump_table"

// Names of symbols.
const (
	tableEnd  = "__stop___jump_table"
	pointMark = "__tracepoint_"
	iterMark  = "__traceiter_"
	callMark  = "__SCT__tp_func_"
)

// keyAt is where struct tracepoint has its key: behind its name.
const keyAt = 8

// places are those of a provider.
func (t *Tracepoints) places(provider string) []Place {
	if provider == callsite.DefaultProvider {
		return t.find()
	}
	return t.known(provider)
}

// has reports whether there could be a probe of that name.
func (t *Tracepoints) has(provider, name string) bool {
	if provider == callsite.DefaultProvider {
		return t.address(iterMark+name) != 0
	}
	return slices.ContainsFunc(knownProbes, func(k known) bool { return k.provider == provider && k.name == name })
}

// find are the places of all tracepoints that have any, by address.
func (t *Tracepoints) find() []Place {
	jumps := t.jumps()
	if len(jumps) == 0 {
		return nil
	}
	names := t.names()
	t.sites = map[uint64][]jump{}
	var out []Place
	for _, j := range jumps {
		name, ok := names[j.key]
		if !ok {
			continue
		}
		t.sites[j.key] = append(t.sites[j.key], j)
		out = append(out, Place{Module: t.module, Name: name, Addr: j.site, Args: t.point(name, j)})
	}
	return out
}

// names are the tracepoints, by the addresses of their keys.
func (t *Tracepoints) names() map[uint64]string {
	out := map[uint64]string{}
	for _, s := range t.symbols.Glob(iterMark + "*") {
		name := strings.TrimPrefix(s.Name, iterMark)
		for _, point := range t.symbols.Lookup(pointMark + name) {
			out[point.Addr+keyAt] = name
		}
	}
	return out
}

// maxTable is the bytes of a jump table, at most: those of kernels have some hundred thousand. Where it
// ends is what the image's symbols say.
const maxTable = 1 << 24

// jumps reads the jump table, none if it is not there, too long, or cannot be read. Of the key's low
// bits one is the branch's sense, one says that the code goes away after boot.
func (t *Tracepoints) jumps() []jump {
	start, end := t.address(Table), t.address(tableEnd)
	if start == 0 || end <= start || end-start > maxTable {
		return nil
	}
	table := make([]byte, end-start)
	if t.read(start, table) != nil {
		return nil
	}
	var out []jump
	for at := start; len(table) >= jumpSize; at, table = at+jumpSize, table[jumpSize:] {
		near := func(off uint64) uint64 {
			return at + off + uint64(int64(int32(binary.LittleEndian.Uint32(table[off:]))))
		}
		out = append(out, jump{near(0), near(4), (at + 8 + binary.LittleEndian.Uint64(table[8:])) &^ 3})
	}
	slices.SortFunc(out, func(a, b jump) int { return int(int64(a.site - b.site)) })
	return out
}

// address is that of a symbol, 0 if there is none.
func (t *Tracepoints) address(name string) uint64 {
	for _, s := range t.symbols.Lookup(name) {
		return s.Addr
	}
	return 0
}
