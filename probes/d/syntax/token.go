package syntax

import "fmt"

// Token is a kind of lexical token.
type Token uint8

// Tokens. Binary operators are listed from the loosest to the tightest.
const (
	EOF Token = iota

	// With a value.
	IDENT  // name
	INT    // 12, 0x1f, 017UL, 'a'
	STRING // "text"
	AGG    // @ or @name
	MACRO  // $1, $$1, $pid

	// Brackets and other marks.
	LPAREN    // (
	RPAREN    // )
	LBRACK    // [
	RBRACK    // ]
	LBRACE    // {
	RBRACE    // }
	SEMI      // ;
	COLON     // :
	QUESTION  // ?
	DOT       // .
	ELLIPSIS  // ...
	ARROW     // ->
	BACKQUOTE // `
	NOT       // !
	TILDE     // ~
	INC       // ++
	DEC       // --
	ENDPRED   // the / that ends a predicate

	COMMA // ,

	// Assignment; X_ASSIGN is the binary X that many places on.
	ASSIGN        // =
	ADD_ASSIGN    // +=
	SUB_ASSIGN    // -=
	MUL_ASSIGN    // *=
	DIV_ASSIGN    // /=
	MOD_ASSIGN    // %=
	AND_ASSIGN    // &=
	OR_ASSIGN     // |=
	XOR_ASSIGN    // ^=
	SHL_ASSIGN    // <<=
	SHR_ASSIGN    // >>=
	assignPadding // ends the assignments

	OROR   // ||
	XORXOR // ^^
	ANDAND // &&
	OR     // |
	XOR    // ^
	AND    // &
	EQ     // ==
	NE     // !=
	LT     // <
	LE     // <=
	GT     // >
	GE     // >=
	SHL    // <<
	SHR    // >>
	ADD    // +
	SUB    // -
	MUL    // *
	DIV    // /
	MOD    // %

	keywordsStart
	// Keywords.
	AUTO
	BREAK
	CASE
	CHAR
	CONST
	CONTINUE
	COUNTER
	DEFAULT
	DO
	DOUBLE
	ELSE
	ENUM
	EXTERN
	FLOAT
	FOR
	GOTO
	IF
	IMPORT
	INLINE
	INTKW
	LONG
	OFFSETOF
	PROBE
	PROVIDER
	REGISTER
	RESTRICT
	RETURN
	SELF
	SHORT
	SIGNED
	SIZEOF
	STATIC
	STRINGKW
	STRINGOF
	STRUCT
	SWITCH
	THIS
	TRANSLATOR
	TYPEDEF
	UNION
	UNSIGNED
	USERLAND
	VOID
	VOLATILE
	WHILE
	XLATE
	keywordsEnd
)

var tokenText = [...]string{
	EOF: "end of input", IDENT: "identifier", INT: "integer", STRING: "string", AGG: "@", MACRO: "$",
	LPAREN: "(", RPAREN: ")", LBRACK: "[", RBRACK: "]", LBRACE: "{", RBRACE: "}",
	SEMI: ";", COLON: ":", QUESTION: "?", DOT: ".", ELLIPSIS: "...", ARROW: "->", BACKQUOTE: "`",
	NOT: "!", TILDE: "~", INC: "++", DEC: "--", ENDPRED: "/", COMMA: ",",
	ASSIGN: "=", ADD_ASSIGN: "+=", SUB_ASSIGN: "-=", MUL_ASSIGN: "*=", DIV_ASSIGN: "/=", MOD_ASSIGN: "%=",
	AND_ASSIGN: "&=", OR_ASSIGN: "|=", XOR_ASSIGN: "^=", SHL_ASSIGN: "<<=", SHR_ASSIGN: ">>=",
	OROR: "||", XORXOR: "^^", ANDAND: "&&", OR: "|", XOR: "^", AND: "&", EQ: "==", NE: "!=",
	LT: "<", LE: "<=", GT: ">", GE: ">=", SHL: "<<", SHR: ">>",
	ADD: "+", SUB: "-", MUL: "*", DIV: "/", MOD: "%",
	AUTO: "auto", BREAK: "break", CASE: "case", CHAR: "char", CONST: "const", CONTINUE: "continue",
	COUNTER: "counter", DEFAULT: "default", DO: "do", DOUBLE: "double", ELSE: "else", ENUM: "enum",
	EXTERN: "extern", FLOAT: "float", FOR: "for", GOTO: "goto", IF: "if", IMPORT: "import",
	INLINE: "inline", INTKW: "int", LONG: "long", OFFSETOF: "offsetof", PROBE: "probe",
	PROVIDER: "provider", REGISTER: "register", RESTRICT: "restrict", RETURN: "return", SELF: "self",
	SHORT: "short", SIGNED: "signed", SIZEOF: "sizeof", STATIC: "static", STRINGKW: "string",
	STRINGOF: "stringof", STRUCT: "struct", SWITCH: "switch", THIS: "this", TRANSLATOR: "translator",
	TYPEDEF: "typedef", UNION: "union", UNSIGNED: "unsigned", USERLAND: "userland", VOID: "void",
	VOLATILE: "volatile", WHILE: "while", XLATE: "xlate",
}

func (t Token) String() string {
	if int(t) < len(tokenText) && tokenText[t] != "" {
		return tokenText[t]
	}
	return fmt.Sprintf("token(%d)", uint8(t))
}

var keywords = func() map[string]Token {
	m := make(map[string]Token)
	for t := keywordsStart + 1; t < keywordsEnd; t++ {
		m[tokenText[t]] = t
	}
	return m
}()

// operators, longest first, so that the first match is the right one.
var operators = func() (byLen [4][]Token) {
	for t := LPAREN; t <= MOD; t++ {
		if s := tokenText[t]; s != "" && t != ENDPRED {
			byLen[len(s)] = append(byLen[len(s)], t)
		}
	}
	return byLen
}()

// IsAssign reports whether t is = or one of its compound forms.
func (t Token) IsAssign() bool { return t >= ASSIGN && t < assignPadding }

// IsComparison reports whether t compares its operands.
func (t Token) IsComparison() bool { return t >= EQ && t <= GE }

// Binary is the operator that a compound assignment applies: ADD for +=.
func (t Token) Binary() Token {
	return [...]Token{
		ADD, SUB, MUL, DIV, MOD, AND, OR, XOR, SHL, SHR,
	}[t-ADD_ASSIGN]
}

// Precedence is how tightly a binary operator binds, from 1 for the comma; 0 for a token
// that is not a binary operator.
func (t Token) Precedence() int {
	switch t {
	case COMMA:
		return 1
	case QUESTION:
		return 3
	case OROR:
		return 4
	case XORXOR:
		return 5
	case ANDAND:
		return 6
	case OR:
		return 7
	case XOR:
		return 8
	case AND:
		return 9
	case EQ, NE:
		return 10
	case LT, LE, GT, GE:
		return 11
	case SHL, SHR:
		return 12
	case ADD, SUB:
		return 13
	case MUL, DIV, MOD:
		return 14
	}
	if t.IsAssign() {
		return 2
	}
	return 0
}

const (
	precComma   = 1
	precAssign  = 2
	precCond    = 3
	precOr      = 4
	precUnary   = 15
	precPostfix = 16
)
