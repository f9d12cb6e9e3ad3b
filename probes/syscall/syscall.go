// Package syscall provides the probes of a kernel's system calls, by their names.
//
//	syscall:<module>:read:entry    arg0 to arg5 are what the caller passed
//	syscall:<module>:read:return   arg0 and arg1 are what it gets: a result, or an error number negated
//
// They are the boundaries of the functions that the kernel calls for them, as fbt has them
// under the names that the kernel's programmers gave these: __x64_sys_read, sys_read. So
// one that does not return, such as exit, has no return, and in the child of fork nothing
// returns. If the configuration says how to await returns, those of a function that ends in a jump
// to another are where that returns to.
package syscall

import (
	"encoding/binary"
	"slices"
	"strings"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/probes"
	"trapline/probes/fbt"
	"trapline/probes/ktext"
)

// Name is the provider's name.
const Name = "syscall"

// New makes the provider. The configuration is fbt's of the same kernel.
func New(c fbt.Config) (*fbt.Provider, error) {
	v := view{symbols: c.Text.Symbols, read: c.Text.Set.Read}
	text := *c.Text
	text.Symbols = &v
	c.Name, c.Text, c.Types = Name, &text, nil
	args := arguments{target: c.Target, frame: frames[c.Target.Arch().Name], view: &v}
	c.Args = args.arg
	return fbt.New(c)
}

// prefixes begin the names of functions that take the caller's registers in memory.
var prefixes = []string{"__x64_sys_", "__arm64_sys_", "__riscv_sys_"}

// plain begins the names of functions that are in a table; tables are the names of those.
// One of Linux has functions that take the arguments themselves.
const (
	plain      = "sys_"
	linuxTable = "sys_call_table"
	tinyTable  = "calls"
	maxCalls   = 1024
)

// A view is a symbol table of system calls alone.
type view struct {
	symbols ktext.Symbols
	read    func(addr uint64, p []byte) error
	known   bool
	calls   []kernel.Symbol // by address
	direct  bool            // functions take the arguments themselves
}

// all finds the system calls, once.
func (v *view) all() []kernel.Symbol {
	if v.known {
		return v.calls
	}
	v.known = true
	for _, prefix := range prefixes {
		for _, s := range v.symbols.Glob(prefix + "*") {
			v.add(s, prefix)
		}
	}
	if len(v.calls) == 0 {
		v.direct = len(v.symbols.Lookup(linuxTable)) > 0
		v.addTable()
	}
	return v.calls
}

func (v *view) add(s kernel.Symbol, prefix string) {
	if !s.Label {
		s.Name = strings.TrimPrefix(s.Name, prefix)
		v.calls = append(v.calls, s)
	}
}

// addTable adds the functions that are in the table.
func (v *view) addTable() {
	tabled := map[uint64]bool{}
	for _, table := range append(v.symbols.Lookup(linuxTable), v.symbols.Lookup(tinyTable)...) {
		entries := make([]byte, min(table.Size, 8*maxCalls))
		if v.read(table.Addr, entries) != nil {
			continue
		}
		for ; len(entries) >= 8; entries = entries[8:] {
			tabled[binary.LittleEndian.Uint64(entries)] = true
		}
	}
	for _, s := range v.symbols.Glob(plain + "*") {
		if tabled[s.Addr] {
			v.add(s, plain)
		}
	}
}

func (v *view) find(ok func(s kernel.Symbol) bool) []kernel.Symbol {
	return slices.DeleteFunc(slices.Clone(v.all()), func(s kernel.Symbol) bool { return !ok(s) })
}

// Lookup implements ktext.Symbols. The kernel's own name of a call's function finds it too: a
// piece of one has the name of the whole in it.
func (v *view) Lookup(name string) []kernel.Symbol {
	if found := v.find(func(s kernel.Symbol) bool { return s.Name == name }); len(found) > 0 {
		return found
	}
	for _, prefix := range append(prefixes, plain) {
		if strings.HasPrefix(name, prefix) {
			return v.symbols.Lookup(name)
		}
	}
	return nil
}

// Glob implements ktext.Symbols.
func (v *view) Glob(pattern string) []kernel.Symbol {
	return v.find(func(s kernel.Symbol) bool { return kernel.Match(pattern, s.Name) })
}

// Nearest implements ktext.Symbols.
func (v *view) Nearest(name string, n int) []string {
	var names []string
	for _, s := range v.all() {
		names = append(names, s.Name)
	}
	return kernel.Nearest(names, name, n)
}

// At implements ktext.Symbols, for all of the kernel.
func (v *view) At(addr uint64) (kernel.Symbol, bool) { return v.symbols.At(addr) }

// frames are where the caller's registers with arguments are, in bytes: struct pt_regs of
// Linux, struct trapframe of tiny.
var frames = map[string][]uint64{
	arch.AMD64.Name:   {112, 104, 96, 56, 72, 64},
	arch.ARM64.Name:   {0, 8, 16, 24, 32, 40},
	arch.RISCV64.Name: {80, 88, 96, 104, 112, 120},
}

// arguments reads those of system calls.
type arguments struct {
	target probes.Target
	frame  []uint64
	view   *view
}

// arg is an argument of an entry, or of a return.
func (a arguments) arg(f *probes.Firing, i int, entry bool) uint64 {
	regs := a.target.Arch().Args
	switch {
	case !entry && i < 2:
		return f.Args[1]
	case !entry || i >= len(a.frame):
		return 0
	case a.view.direct:
		return f.CPU.Reg(regs[i])
	}
	var word [8]byte
	if a.target.ReadMem(f.CPU.Reg(regs[0])+a.frame[i], word[:]) != nil {
		return 0
	}
	return binary.LittleEndian.Uint64(word[:])
}
