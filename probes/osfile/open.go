package osfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
	"trapline/kernel/guestos"
	"trapline/probes/d/check"
	"trapline/probes/d/code"
	"trapline/probes/d/compile"
	"trapline/probes/d/option"
	"trapline/probes/d/syntax"
	"trapline/probes/d/vm"
)

// Config is what a System is made of.
type Config struct {
	File    string // name of the file, for messages
	Text    []byte // its content
	Arch    *arch.Arch
	Symbols Symbols
	Types   check.Types // of the kernel; nil: nothing is known of them
	// Base is what is known of the kernel without the file: its stacks, and how far it has moved.
	Base guestos.OS
}

// Symbols find what the kernel has by its name. *kernel.Symtab are some.
type Symbols interface {
	Lookup(name string) []kernel.Symbol
}

// The names with a meaning: parts of a thread, then constants.
const (
	curthread  = "curthread"
	threadID   = "thread_id"
	pid        = "pid"
	tid        = "tid"
	ppid       = "ppid"
	uid        = "uid"
	gid        = "gid"
	execname   = "execname"
	sysArg     = "syscall_arg"
	sysTable   = "syscall_table"
	sysPrefix  = "syscall_prefix"
	switchFunc = "switch_function"
	panicLine  = "panic_line"
)

var (
	numbers   = []string{curthread, threadID, pid, tid, ppid, uid, gid}
	constants = []string{sysTable, sysPrefix, switchFunc, panicLine}
)

// maxArgs is how many arguments a system call has at most.
const maxArgs = 6

// New compiles the file and checks it against the kernel. An error names the file, and the line where
// it has one.
func New(c Config) (guestos.OS, error) {
	b := &builder{Config: c, funcs: map[string]*code.Func{}}
	sys, err := b.build()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	return sys, nil
}

// A builder makes a described kernel.
type builder struct {
	Config
	defined []string // names that the file defines
	tag     string   // of the structure that curthread points to
	funcs   map[string]*code.Func
	machine *vm.Machine
}

func (b *builder) build() (guestos.OS, error) {
	tree, err := b.parse()
	if err != nil {
		return nil, err
	}
	if !b.has(curthread) {
		return nil, errors.New("it does not say what curthread is: inline struct TAG *curthread = ...;")
	}
	if err := b.compile(tree); err != nil {
		return nil, err
	}
	k := &described{
		OS: b.Base, file: b.File, machine: b.machine, funcs: b.funcs,
		readsPC: b.readsPC(), view: view{args: b.Arch.Args}, names: map[string]string{},
	}
	return k, b.describe(k)
}

func (b *builder) has(name string) bool { return slices.Contains(b.defined, name) }

// parse reads the file, and notes what it defines.
func (b *builder) parse() (*syntax.Program, error) {
	tree, err := syntax.Parse(b.File, b.Text, syntax.Options{IsType: b.isType})
	if err != nil {
		return nil, err
	}
	for _, it := range tree.Items {
		switch it := it.(type) {
		case *syntax.Inline:
			b.defined = append(b.defined, it.Name.Name)
		case *syntax.Clause:
			return nil, fmt.Errorf("line %d: it has a clause: such a file has declarations alone", it.Line)
		}
	}
	return tree, nil
}

func (b *builder) isType(name string) bool {
	if b.Types == nil {
		return false
	}
	_, ok := b.Types.Typedef(name)
	return ok
}

// compile makes a function of each name that is defined. They are the arguments of an action each.
func (b *builder) compile(tree *syntax.Program) error {
	if err := b.extend(tree); err != nil {
		return err
	}
	if err := check.Check(tree, b.env()); err != nil {
		return err
	}
	b.tag = threadTag(tree)
	prog, err := compile.Compile(tree)
	if err != nil {
		return err
	}
	at := 0
	for _, name := range b.asked() {
		fn := prog.Clauses[at].Actions[0].Args[0]
		at++
		if err := suits(name, fn); err != nil {
			return err
		}
		b.funcs[name] = fn
	}
	limits := option.DefaultLimits()
	limits.CPUs, limits.NSpec = 0, 0 // it records nothing
	b.machine, err = vm.New(prog, limits)
	return err
}

// asked are the expressions that are compiled.
func (b *builder) asked() (all []string) {
	for _, name := range slices.Concat(numbers, []string{execname}, constants) {
		if b.has(name) {
			all = append(all, name)
		}
	}
	for i := 0; i < maxArgs && b.has(sysArg); i++ {
		all = append(all, argName(i))
	}
	return all
}

func argName(i int) string { return fmt.Sprintf("%s[%d]", sysArg, i) }

// extend adds a clause for each of them to the program.
func (b *builder) extend(tree *syntax.Program) error {
	var text strings.Builder
	for _, name := range b.asked() {
		fmt.Fprintf(&text, "BEGIN { trace(%s); }\n", name)
	}
	more, err := syntax.Parse(b.File, []byte(text.String()), syntax.Options{})
	if err == nil {
		tree.Items = append(tree.Items, more.Items...)
	}
	return err
}

func (b *builder) env() check.Env {
	return check.Env{
		Regs: b.Arch.Numbers(), Symbol: b.symbol, Types: b.Types, MacroArgs: []string{b.File},
		Options: check.Options{Builtins: true, ArgRef: true},
	}
}

func (b *builder) symbol(module, name string) (addr, size uint64, ok bool) {
	if module != "" && !b.Base.System().Module.Means(module, b.Base.System().Module.Name) {
		return 0, 0, false
	}
	for _, s := range b.Symbols.Lookup(name) {
		return s.Addr, s.Size, true
	}
	return 0, 0, false
}

// readsPC reports whether an expression reads the program counter.
func (b *builder) readsPC() bool {
	for _, fn := range b.funcs {
		for _, in := range fn.Code {
			if in.Op == code.OpReg && arch.Reg(in.Imm) == b.Arch.PC {
				return true
			}
		}
	}
	return false
}

// threadTag is the tag of the structure that curthread points to, "" if it is not a pointer to one. Its
// clause is the first.
func threadTag(tree *syntax.Program) string {
	for _, it := range tree.Items {
		if cl, ok := it.(*syntax.Clause); ok {
			arg := cl.Body[0].(*syntax.ExprStmt).X.(*syntax.Call).Args[0]
			if t := arg.Info().Type.Base(); t.Kind == ctypes.Pointer && t.Elem.Base().Kind == ctypes.Struct {
				return t.Elem.Base().Name
			}
			break
		}
	}
	return ""
}
