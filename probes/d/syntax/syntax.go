// Package syntax reads D programs: a scanner, a parser and the tree they make, which
// Print writes back.
//
//	Program -- Decl     uint64_t total;  self int depth;  string name[int];  struct s { int x; };
//	        |- Inline, Translator, Provider
//	        |- Pragma   #pragma D option quiet
//	        `- Clause -- descriptions, predicate, Stmts -- ExprStmt, IfStmt -- Expr
//
// The tree says what was written and nothing else; package check adds types to its
// expressions. Types in the text are kept as written, as TypeName. A tree has no node
// for parentheses: Print puts them where precedence needs them.
//
// A / is a division or the end of a predicate; in a predicate it is its end if a {, a ;
// or the end of the text follows.
package syntax

import "trapline/kernel/ctypes"

// A Node is a part of the tree.
type Node interface {
	Position() Pos
}

// A Program is a D script, or a probe specifier of the command line.
type Program struct {
	File  string
	Items []Item
	// Spec: from a command line. Errors show the region instead of the line.
	Spec bool
	// StrSize is the bytes of a string with its NUL, noted by package check.
	StrSize int
}

// An Item stands at the top level: *Pragma, *Decl, *Inline, *Translator, *Provider or
// *Clause.
type Item interface {
	Node
	item()
}

// A Pragma is a line #pragma D.
type Pragma struct {
	Pos
	Words []string // after D
}

// A Decl declares variables, types, or members of a type.
type Decl struct {
	Pos
	Class string // "", "self", "this" or a storage class of C
	Type  *Spec
	Names []*Declarator
}

// A Clause is probe descriptions, an optional predicate and statements.
type Clause struct {
	Pos
	Probes  []*Desc
	Pred    Expr // nil: always
	Body    []Stmt
	HasBody bool // false: no braces, the default action
	// Sugar: package desugar made it, beside the first part of a clause of the program.
	Sugar bool
}

// A Desc is one probe description as it is written: provider:module:function:name, with
// globs, empty parts and macro arguments, missing parts at the left. All digits: the
// number of a probe.
type Desc struct {
	Pos
	Text string
}

func (*Pragma) item() {}
func (*Decl) item()   {}
func (*Clause) item() {}

// A Stmt is a statement: *ExprStmt or *IfStmt.
type Stmt interface {
	Node
	stmt()
}

// An ExprStmt is an expression evaluated for its effect; actions are calls.
type ExprStmt struct {
	Pos
	X Expr
}

// An IfStmt is if/else.
type IfStmt struct {
	Pos
	Cond Expr
	Then []Stmt
	Else []Stmt // nil: none
}

func (*ExprStmt) stmt() {}
func (*IfStmt) stmt()   {}

// An Expr is an expression.
type Expr interface {
	Node
	// Info is where package check keeps what it finds out about the expression.
	Info() *Typed
}

// Typed is what is known of an expression after the check.
type Typed struct {
	Type  *ctypes.Type
	Const bool   // an integer constant: Value
	Value uint64 // extended to 64 bits
	// Ref is what a name stands for: a value that package check made.
	Ref any
}

// Info returns t; it makes nodes that embed a Typed expressions.
func (t *Typed) Info() *Typed { return t }

// Expressions.
type (
	// IntLit is an integer or character literal.
	IntLit struct {
		Pos
		Typed
		Text  string // as written
		Value uint64
	}
	// StringLit is "text".
	StringLit struct {
		Pos
		Typed
		Value string
	}
	// Ident is a name: a variable, builtin, function or action.
	Ident struct {
		Pos
		Typed
		Name string
	}
	// ScopedVar is self->name or this->name.
	ScopedVar struct {
		Pos
		Typed
		Scope string // "self" or "this"
		Name  string
	}
	// Symbol is `name or module`name, a symbol of the kernel.
	Symbol struct {
		Pos
		Typed
		Module string // "" if none is given
		Name   string
	}
	// Macro is $name or $$name, an argument of the script.
	Macro struct {
		Pos
		Typed
		Name   string // without the dollars
		String bool   // $$: as a string
	}
	// Agg is @name[keys].
	Agg struct {
		Pos
		Typed
		Name string // "" for @ alone
		Keys []Expr
	}
	// Unary is an operator before an operand: + - ! ~ * & ++ -- and stringof, sizeof.
	Unary struct {
		Pos
		Typed
		Op Token
		X  Expr
	}
	// Postfix is x++ or x--.
	Postfix struct {
		Pos
		Typed
		Op Token
		X  Expr
	}
	// Binary is an operator between two operands, the comma and assignments included.
	Binary struct {
		Pos // of the operator
		Typed
		Op   Token
		X, Y Expr
	}
	// Cond is C ? X : Y.
	Cond struct {
		Pos
		Typed
		C, X, Y Expr
	}
	// Index is X[args]: an element of an array, an associative array, args[] or regs[].
	Index struct {
		Pos
		Typed
		X    Expr
		Args []Expr
	}
	// Member is X.Name or X->Name.
	Member struct {
		Pos
		Typed
		X     Expr
		Arrow bool
		Name  string
	}
	// Call is Fun(Args).
	Call struct {
		Pos
		Typed
		Fun  Expr
		Args []Expr
	}
	// Cast is (To)X.
	Cast struct {
		Pos
		Typed
		To *TypeName
		X  Expr
	}
	// SizeofType is sizeof (T).
	SizeofType struct {
		Pos
		Typed
		Of *TypeName
	}
	// Xlate is xlate <To>(X).
	Xlate struct {
		Pos
		Typed
		To *TypeName
		X  Expr
		// Members are what the whole structure is made of, noted by package check.
		Members []*Member
	}
	// Offsetof is offsetof(T, Member).
	Offsetof struct {
		Pos
		Typed
		Of     *TypeName
		Member string
	}
)

// A TypeName is a type in an expression or in the keys of an array's declaration.
type TypeName struct {
	Spec *Spec
	Decl *Declarator // without a name
}

// A Spec is the words a declaration begins with: unsigned int; uint64_t; struct buf.
type Spec struct {
	Pos
	Quals []string // const, volatile
	Words []string // "unsigned", "int", or one typedef's name, or "struct" and a tag, which may be ""
	Body  *Body    // of a struct, union or enum that is defined here
}

// A Declarator is a name and what is derived around it.
type Declarator struct {
	Pos
	Name  string // "" in a TypeName
	Parts []Part // from the name outward: int *a[3] is an array of 3 of pointer to int
	Bits  Expr   // width of a bit-field
}

// A Part is one step of a Declarator.
type Part struct {
	Kind PartKind
	Len  Expr        // of an Array, nil in []
	Keys []*TypeName // of an Assoc: keys; of a Function: parameters, nil in (), with names or without
	More bool        // of a Function: , ...
}

// PartKind is what a Part derives.
type PartKind uint8

// Kinds of Part.
const (
	Pointer  PartKind = iota // *
	Array                    // [Len]
	Assoc                    // [Keys]
	Function                 // (Keys)
)
