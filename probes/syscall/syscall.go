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
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/fbt"
	"trapline/probes/ktext"
)

// Name is the provider's name.
const Name = "syscall"

var about = probes.About{Stability: probes.Private, Calls: true}

// maxArgs is how many arguments a system call has at most.
const maxArgs = 6

// New makes the provider. The configuration is fbt's of the same kernel, whose system says what its calls
// are; it has none where that says nothing.
func New(c fbt.Config) (*fbt.Provider, error) {
	v := view{symbols: c.Text.Symbols, read: c.Text.Set.Read}
	if c.Text.System != nil {
		v.calls = c.Text.System.Calls
	}
	text := *c.Text
	text.Symbols = &v
	if v.calls != nil && v.calls.Module.Name != "" {
		system := *text.System
		system.Module, text.System = v.calls.Module, &system
	}
	args := arguments{target: c.Target, view: &v}
	if v.calls != nil && v.calls.State != nil {
		args.state = newState(&c, &v)
		c.Fires, c.Both, c.Errno = args.state.fires, true, args.state.errno
	}
	c.Name, c.About, c.Text, c.Types = Name, &about, &text, nil
	c.Args = args.arg
	return fbt.New(c)
}

// A view is a symbol table of system calls alone.
type view struct {
	symbols ktext.Symbols
	read    guestos.Reader
	calls   *guestos.Calls     // nil: there are none
	table   *guestos.CallTable // once asked for
}

// all finds the system calls, once.
func (v *view) all() *guestos.CallTable {
	if v.table == nil {
		v.table = new(guestos.CallTable)
		if v.calls != nil {
			*v.table = v.calls.Find(v.symbols, v.read)
		}
	}
	return v.table
}

func (v *view) find(ok func(s kernel.Symbol) bool) []kernel.Symbol {
	return slices.DeleteFunc(slices.Clone(v.all().Functions), func(s kernel.Symbol) bool { return !ok(s) })
}

// Lookup implements ktext.Symbols. The kernel's own name of a call's function finds it too: a
// piece of one has the name of the whole in it.
func (v *view) Lookup(name string) []kernel.Symbol {
	if found := v.find(func(s kernel.Symbol) bool { return s.Name == name }); len(found) > 0 {
		return found
	}
	own := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	if slices.ContainsFunc(v.all().Prefixes, own) {
		return v.symbols.Lookup(name)
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
	for _, s := range v.all().Functions {
		names = append(names, s.Name)
	}
	return kernel.Nearest(names, name, n)
}

// At implements ktext.Symbols, for all of the kernel.
func (v *view) At(addr uint64) (kernel.Symbol, bool) { return v.symbols.At(addr) }

// arguments reads those of system calls.
type arguments struct {
	target probes.Target
	view   *view
	state  *state // nil: there is none
}

// arg is an argument of an entry, or of a return.
func (a arguments) arg(f *probes.Firing, i int, entry bool) uint64 {
	guest := a.target.Arch()
	args := a.view.all().Args
	switch {
	case a.state != nil && entry:
		return a.state.arg(f, i)
	case a.state != nil && i < 2:
		return a.state.result(f)
	case !entry && i < 2:
		return f.Args[1]
	case !entry || i >= maxArgs:
		return 0
	case args == nil:
		return f.CPU.Reg(guest.Args[i])
	case args.Read != nil:
		v, _ := args.Read(a.target, f.CPU, i) // 0 where it cannot be read
		return v
	}
	off, ok := args.Offset(guest, i)
	var word [8]byte
	if !ok || a.target.ReadMem(f.CPU.Reg(guest.Args[args.Pointer])+off, word[:]) != nil {
		return 0
	}
	return binary.LittleEndian.Uint64(word[:])
}
