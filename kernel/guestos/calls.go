package guestos

import (
	"encoding/binary"
	"strings"

	"trapline/kernel"
	"trapline/kernel/arch"
)

// Symbols find what a kernel has by its name. *kernel.Symtab are some.
type Symbols interface {
	Lookup(name string) []kernel.Symbol
	Glob(pattern string) []kernel.Symbol
}

// A Reader fills p from the guest's memory at addr.
type Reader func(addr uint64, p []byte) error

// Calls are how a system's kernels have their system calls.
type Calls struct {
	// Find finds them.
	Find func(symbols Symbols, read Reader) CallTable
	// Module is the module of their probes; empty: the kernel proper.
	Module ModuleName
	// State is where the kernel keeps the call that a thread is in, if a call's function does not
	// say it all: then it returns an error or 0, and the call's arguments are those of the
	// structure to which its second argument points.
	State *CallState
}

// A CallState are members of the kernel's structure with this tag for a thread, each by the names that
// lead to it.
type CallState struct {
	Tag    string
	Number []string // of the call
	Result []string // of one without an error
}

// A CallTable is the system calls of one kernel.
type CallTable struct {
	Functions []kernel.Symbol // that the kernel calls for them, each by the name of its call
	Prefixes  []string        // that begin the kernel's own names of functions for system calls
	Args      *CallArgs       // nil: the functions take the arguments themselves
	// Numbers are those of the calls by their names, if a function may serve several.
	Numbers map[string][]int
}

// CallArgs are arguments of system calls that lie in memory.
type CallArgs struct {
	Pointer int // which argument of the function is the address of the memory
	// Offset is where argument i lies in the memory, from 0. It is not ok if there is none.
	Offset func(a *arch.Arch, i int) (off uint64, ok bool)
	// Read, if not nil, reads argument i, from 0, at the function's first instruction instead.
	Read func(mem Mem, regs Numbered, i int) (uint64, error)
}

// TableCalls are the system calls of a kernel whose functions for them are in the table with this
// symbol. The name of a call is that of its function, without prefix if it begins with that.
func TableCalls(table, prefix string, args *CallArgs) *Calls {
	return &Calls{Find: func(symbols Symbols, read Reader) CallTable {
		t := CallTable{Args: args}
		if prefix != "" {
			t.Prefixes = []string{prefix}
		}
		t.tabled(symbols, read, table, "")
		for i := range t.Functions {
			t.Functions[i].Name = strings.TrimPrefix(t.Functions[i].Name, prefix)
		}
		return t
	}}
}

// savedArgs are the caller's registers with arguments, where the kernel has saved them: in struct
// pt_regs of Linux, struct trapframe of tiny.
var savedArgs = &CallArgs{Offset: func(a *arch.Arch, i int) (uint64, bool) {
	row, ok := isas.Of(a)
	if !ok || i >= len(row.callArgs) {
		return 0, false
	}
	return uint64(row.savedRegs(row.callArgs[i])), true
}}

// prefixed adds the functions whose names begin with prefix, and that ok accepts.
func (t *CallTable) prefixed(symbols Symbols, prefix string, ok func(kernel.Symbol) bool) {
	for _, s := range symbols.Glob(prefix + "*") {
		if !s.Label && ok(s) {
			s.Name = strings.TrimPrefix(s.Name, prefix)
			t.Functions = append(t.Functions, s)
		}
	}
}

// tabled adds the functions whose names begin with prefix, and that are in a table of addresses with
// this name.
func (t *CallTable) tabled(symbols Symbols, read Reader, table, prefix string) {
	const maxCalls = 1024
	in := map[uint64]bool{}
	for _, s := range symbols.Lookup(table) {
		entries := make([]byte, min(s.Size, 8*maxCalls))
		if read(s.Addr, entries) != nil {
			continue
		}
		for ; len(entries) >= 8; entries = entries[8:] {
			in[binary.LittleEndian.Uint64(entries)] = true
		}
	}
	t.prefixed(symbols, prefix, func(s kernel.Symbol) bool { return in[s.Addr] })
}
