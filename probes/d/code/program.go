package code

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/agg"
)

// A Program is a compiled D program.
type Program struct {
	Clauses []*Clause
	Strings []string // constants, shared by all functions
	Vars    []Var
	Aggs    []Agg
	Options []Option // of #pragma D option, in source order
}

// A Clause is what happens at the firing of the probes that one of its descriptions
// matches.
type Clause struct {
	Probes  []string // descriptions as written, macro arguments replaced: "kinst::f:3"
	Pred    *Func    // nil: always
	Actions []Action
	Line    int
	Sugar   bool // made by package desugar, beside the one that stands for the program's
}

// A Func is the code of one expression. It leaves one value on the stack, or none.
type Func struct {
	Code     []Instr
	MaxStack int
	Type     Type // of the value
	Line     int
}

// Kind says how a value is represented.
type Kind uint8

// Kinds of value.
const (
	Void   Kind = iota
	Int         // an integer, enumeration, or pointer of Size bytes
	String      // a D string: NUL-terminated, at most Size bytes
	Bytes       // a structure, union or array by value: Size bytes
	Frames      // program counters of a stack, at most Size; 0: as many as the option says
)

// A Type is what run time needs to know of a C type.
type Type struct {
	Kind   Kind
	Size   int // bytes
	Signed bool
	Form   Form // how an integer is shown
	// Name is the C type as diagnostics show it: "int", "struct task_struct *".
	Name string
}

// Form is how an integer is shown where nothing else says it: sym, mod and their kin give
// an address a form.
type Form uint8

// Forms of an integer.
const (
	Number Form = iota
	Sym         // symbol of the kernel that covers the address
	Mod         // module of the kernel
	USym        // the same of a process
	UMod
	UAddr
)

// Scope is where a variable lives.
type Scope uint8

// Scopes of a variable.
const (
	Global Scope = iota
	Self         // one for each thread of the guest
	This         // one for each firing
)

// A Var is a variable that the program assigns. With Keys it is an associative array.
type Var struct {
	Name  string
	Scope Scope
	Type  Type
	Keys  []Type
}

// Static reports whether the variable is there all the time: it is neither self-> nor an associative
// array, whose room is taken when they are assigned.
func (v Var) Static() bool { return v.Scope != Self && len(v.Keys) == 0 }

// An Agg is an aggregation: @name[keys] = fn(args).
type Agg struct {
	Name string // without the @, "" for the anonymous one
	Fn   agg.Fn
	Keys []Type
	Args []int64 // constant parameters after the value: those of lquantize, llquantize
	Type Type    // of the value aggregated; Void for count()
	Line int
}

// An Action is one statement of a clause.
type Action struct {
	Act    Act
	Args   []*Func
	Format string
	Aggs   []int        // indices into Program.Aggs
	Incr   *Func        // weight of the value in quantize, lquantize and llquantize; nil: 1
	Shape  *ctypes.Type // of Print
	Depth  int          // frames, for Stack; 0 for the option's default
	Line   int
}

// Funcs lists every function of the action.
func (a Action) Funcs() []*Func {
	if a.Incr == nil {
		return a.Args
	}
	return append(a.Args[:len(a.Args):len(a.Args)], a.Incr)
}

// MaxFrames is the largest number of program counters of one stack.
const MaxFrames = 512

// MaxSize is the largest number of bytes that a string or a value may have.
const MaxSize = 1 << 20

// An Option is one setting: #pragma D option name=value.
type Option struct {
	Name, Value string
	Line        int
}
