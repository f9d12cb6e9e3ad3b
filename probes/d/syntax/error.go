package syntax

import "fmt"

// A Tag names a kind of error. Tags are stable: scripts and tests depend on them.
type Tag string

// The tags of what this package finds; package check has the others.
const (
	SyntaxError   Tag = "D_SYNTAX"
	IntOverflow   Tag = "D_INT_OFLOW"     // integer literal too large
	IntDigit      Tag = "D_INT_DIGIT"     // digit that is none in the literal's base
	StrNewline    Tag = "D_STR_NL"        // string literal not closed on its line
	CharNewline   Tag = "D_CHR_NL"        // character literal not closed on its line
	CharNull      Tag = "D_CHR_NULL"      // ''
	CharOverflow  Tag = "D_CHR_OFLOW"     // character literal over 8 bytes
	PragError     Tag = "D_PRAGERR"       // #error
	PragCtl       Tag = "D_PRAGCTL_INVAL" // # and an unknown word
	PragMalformed Tag = "D_PRAGMA_MALFORM"
	ProbeInvalid  Tag = "D_PDESC_INVAL" // too many parts in a probe description

	FuncIdent Tag = "D_FUNC_IDENT" // called thing is not a name

	DeclClass     Tag = "D_DECL_CLASS"         // two storage classes
	DeclParmclass Tag = "D_DECL_PARMCLASS"     // storage class of a parameter
	DeclVarargs   Tag = "D_DECL_PROTO_VARARGS" // ... where arguments are counted
	DeclSignint   Tag = "D_DECL_SIGNINT"       // signed, unsigned with another type
	DeclLongint   Tag = "D_DECL_LONGINT"       // short, long with another type
	DeclCombo     Tag = "D_DECL_COMBO"         // specifiers that do not go together
	DeclTypered   Tag = "D_DECL_TYPERED"       // type defined again
	DeclScope     Tag = "D_DECL_SCOPE"         // name with a module declared
)

// Pos is a place in a source text; lines and columns (bytes) count from 1.
type Pos struct {
	Line, Col int
}

// Position returns p; it makes nodes that embed a Pos satisfy Node.
func (p Pos) Position() Pos { return p }

// An Error is the first thing wrong in a program.
type Error struct {
	Pos    Pos
	Region string // of a probe specifier on the command line, where lines mean little: "action list"
	Tag    Tag
	Msg    string
	Cause  error // the error that Msg is of, if there is one
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Error is "line N: message", or "in action list: message" on a command line.
func (e *Error) Error() string { return e.Text(false) }

// Text is Error, with "[TAG] " before it if tags is set (option errtags).
func (e *Error) Text(tags bool) string {
	s := e.Msg
	switch {
	case e.Region != "":
		s = fmt.Sprintf("in %s: %s", e.Region, s)
	case e.Pos.Line > 0:
		s = fmt.Sprintf("line %d: %s", e.Pos.Line, s)
	}
	if tags {
		s = fmt.Sprintf("[%s] %s", e.Tag, s)
	}
	return s
}
