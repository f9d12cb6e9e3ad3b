// Package check finds out what the names and expressions of a D program mean: it resolves
// variables, builtins, functions and symbols, gives every expression its type, folds
// constants, and reports the first thing that is wrong, with a stable tag (tags.go).
//
//	tree --Check--> the same tree, with Info filled in at each expression:
//	                Type, Const and Value, and Ref, which is one of
//	                *Var, *Agg, code.Builtin, Arg, Reg, Local, Address, code.Sub, code.Act,
//	                agg.Fn, or another Expr that takes its place
//
// The program is read once, from top to bottom: a variable has the type of what is
// assigned to it first, so it must be assigned, or declared, above its first use.
package check

import (
	"fmt"

	"trapline/kernel/ctypes"
	"trapline/probes/d/agg"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
	"trapline/probes/d/syntax"
)

// An Env is what a program is checked against. The zero value is an Env that knows no
// registers and no symbols.
type Env struct {
	// Regs gives the index of a guest register by its name without R_: "RAX". Aliases
	// such as "PC" and "SP" are other names for the same index.
	Regs map[string]int
	// Symbol finds a symbol of the kernel; module is "" if the program names none. Nil:
	// there are none.
	Symbol func(module, name string) (addr, size uint64, ok bool)
	// Types are those of the kernel image. Nil: nothing is known of them.
	Types Types
	// Args gives the types of a probe's arguments, none if it has no args[]. The probe is
	// given by its description as written. Nil: there are none.
	Args func(desc string) []*ctypes.Type
	// Declared gives what the guest declares of the probes of a description, as written, nil if it
	// declares nothing. Nil: it declares none.
	Declared func(desc string) *syntax.ProbeDecl
	// Local gives the type of the local variable that locals->name is at the probes of a
	// description, as written. The error says in plain words why there is none. Nil: no
	// probe has any.
	Local func(desc, name string) (*ctypes.Type, error)
	// HasProvider reports whether there is a provider of a name. Nil: there are none.
	HasProvider func(name string) bool
	// HasModule reports whether a name is that of the kernel proper. Nil: it has none.
	HasModule func(name string) bool
	// Libraries are the D libraries that have been read, by their file's name.
	Libraries []string
	// MacroArgs are $0, the script's name, $1, and so on.
	MacroArgs []string
	// Macros are the other macro variables by name: "target", "pid".
	Macros  map[string]string
	Options Options
}

// Options are the compiler's options that matter here.
type Options struct {
	DefaultArgs bool           // defaultargs: macro arguments not given are 0 and ""
	ArgRef      bool           // argref: macro arguments need not all be used
	Empty       bool           // empty: a program may be empty
	StrSize     int            // strsize: bytes of a string with its NUL; 0: code.DefaultStrSize
	Builtins    bool           // the program says what built-in variables are: inlines may have their names
	Version     option.Version // version: of D, that the program asks for; the zero value: this one
}

// A Var is a variable that the program assigns or declares.
type Var struct {
	Name  string
	Scope code.Scope
	Type  *ctypes.Type
	Keys  []*ctypes.Type // of an associative array, otherwise nil
}

// An Agg is an aggregation.
type Agg struct {
	Name   string // without the @
	Fn     agg.Fn
	Keys   []*ctypes.Type
	Params []int64 // of lquantize and llquantize
	Type   *ctypes.Type
	Line   int
}

// What a name may stand for besides *Var, *Agg and the numbers of package code.
type (
	// Arg is argN.
	Arg int
	// Reg is regs[N]: an index into the architecture's registers.
	Reg int
	// UReg is uregs[N], the same of the process.
	UReg int
	// Local is locals->NAME.
	Local string
	// Address is where a symbol of the kernel lies.
	Address uint64
)

// A checker is the state of one Check.
type checker struct {
	names
	env    Env
	prog   *syntax.Program // the part at hand
	items  int             // of it and those before
	clause *syntax.Clause  // nil outside of one
	region string
	vars   map[varKey]*Var
	aggs   map[string]*Agg
	str    *ctypes.Type    // string of the program's strsize
	used   map[int]bool    // macro arguments
	later  map[string]bool // names of versions of D after the program's
	order  order           // of the clause's statements
	// compared is the enumeration that the expression at hand is compared with, or nil.
	compared *ctypes.Type
}

type varKey struct {
	scope code.Scope
	name  string
}

// Check checks the program and annotates its tree. Macro arguments in probe descriptions
// are replaced. The error is a *syntax.Error.
func Check(prog *syntax.Program, env Env) error {
	c := New(env, prog)
	if err := c.Part(prog, env.Options); err != nil {
		return err
	}
	return c.End(env.Options)
}

// A Checker checks a program of several parts, each once: what a part defines is known in those
// that come after it.
type Checker struct{ c *checker }

// New makes a Checker of a program that has these parts. The option strsize counts in all of them,
// wherever it stands.
func New(env Env, parts ...*syntax.Program) *Checker {
	if env.Types == nil {
		env.Types = noTypes{}
	}
	c := &checker{
		names: newNames(), env: env, vars: make(map[varKey]*Var), aggs: make(map[string]*Agg),
		used: map[int]bool{0: true},
	}
	c.strsize(parts)
	return &Checker{c}
}

// Part checks the next part and annotates its tree, as Check does. The options are those that hold
// for it.
func (c *Checker) Part(prog *syntax.Program, o Options) error {
	c.c.prog, c.c.env.Options, c.c.later = prog, o, later(o.Version)
	return c.c.failure(c.c.checkPart)
}

// End checks what must be true of all parts together.
func (c *Checker) End(o Options) error {
	c.c.env.Options = o
	return c.c.failure(c.c.allUsed)
}

// failure runs a check and returns the error with which it fails.
func (c *checker) failure(check func()) (err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *syntax.Error:
			if c.prog.Spec {
				e.Region = c.region
			}
			err = e
		default:
			panic(e)
		}
	}()
	check()
	return nil
}

// fail stops the check with an error at a node.
func (c *checker) fail(n syntax.Node, tag syntax.Tag, format string, args ...any) {
	e := &syntax.Error{Tag: tag, Msg: fmt.Sprintf(format, args...)}
	if n != nil {
		e.Pos = n.Position()
	}
	panic(e)
}

func (c *checker) checkPart() {
	if c.items += len(c.prog.Items); c.items == 0 && !c.env.Options.Empty {
		c.fail(nil, Empty, "empty D program translation unit")
	}
	c.prog.StrSize = int(c.str.Bytes())
	for _, it := range c.prog.Items {
		switch it := it.(type) {
		case *syntax.Pragma:
			c.pragma(it)
		case *syntax.Decl:
			c.region = "declaration"
			c.decl(it)
		case *syntax.Inline:
			c.inline(it)
		case *syntax.Translator:
			c.translator(it)
		case *syntax.Provider:
			c.provider(it)
		case *syntax.Clause:
			c.checkClause(it)
		}
	}
	c.pragmasUsed()
}

func (c *checker) checkClause(cl *syntax.Clause) {
	c.clause = cl
	c.region = "probe description"
	for _, d := range cl.Probes {
		d.Text = c.expand(d)
	}
	// The body may ask for what the predicate sets, or the other way round.
	unknown := c.predicate(cl)
	c.region, c.order = "action list", order{}
	for _, s := range cl.Body {
		c.stmt(s)
	}
	if unknown && c.predicate(cl) {
		c.value(cl.Pred) // fails
	}
	c.clause = nil
}

// predicate checks the predicate of a clause. It reports whether that asks for a variable that is
// not known yet.
func (c *checker) predicate(cl *syntax.Clause) (unknown bool) {
	if cl.Pred == nil {
		return false
	}
	c.region = "predicate"
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *syntax.Error:
			if unknown = e.Tag == IdentUndef || e.Tag == VarUndef; !unknown {
				panic(e)
			}
		default:
			panic(e)
		}
	}()
	if !c.any(cl.Pred).IsScalar() {
		c.fail(cl.Pred, PredScalar, "predicate result must be of scalar type")
	}
	c.registersSuffice(cl.Pred)
	return false
}

func (c *checker) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.ExprStmt:
		c.exprStmt(s.X)
		c.registersSuffice(s.X)
		c.ordered(s.X)
	case *syntax.IfStmt:
		c.fail(s, Unknown, "if statements must be desugared first")
	}
}
