package syntax

import (
	"strings"

	"trapline/kernel/ctypes"
)

// Options change how a program is read. The zero value is fine.
type Options struct {
	// IsType reports whether a name is a typedef besides the predefined ones. Nil: none is.
	IsType func(name string) bool
}

// Parse reads a D script. The error is an *Error; the program then has the items before it.
func Parse(filename string, src []byte, opts Options) (prog *Program, err error) {
	return parse(&Program{File: filename}, src, opts, func(string) string { return "" })
}

// SpecKind says what the description in a probe specifier of the command line names:
// the option it was given with.
type SpecKind uint8

// Kinds of probe specifier; each may have one part more than the one before.
const (
	ByProvider SpecKind = iota // -P provider
	ByModule                   // -m [provider:]module
	ByFunc                     // -f [[provider:]module:]function
	ByName                     // -n [[[provider:]module:]function:]name
	ByID                       // -i number
)

// ParseSpec reads the argument of an option -n, -f, -m, -P or -i: a description with an
// optional predicate and actions. Descriptions are completed to the form that a script
// would have. The error is an *Error.
func ParseSpec(kind SpecKind, src string, opts Options) (*Program, error) {
	return parse(&Program{Spec: true}, []byte(src), opts, func(text string) string {
		return complete(kind, text)
	})
}

// complete adds the empty parts that a description of a kind leaves out at its right. The
// result is "" if there are too many parts.
func complete(kind SpecKind, text string) string {
	parts := Parts(text)
	colons := len(parts) - 1
	if path := colons == int(ByName) && !strings.HasSuffix(text, ":") && parts[ByName] == ""; path {
		colons--
	}
	switch {
	case kind == ByID && strings.Trim(text, "0123456789") != "":
		return ""
	case kind == ByID:
		return text
	case colons > int(kind):
		return ""
	}
	return text + strings.Repeat(":", int(ByName-kind))
}

// A parser reads tokens and makes the tree. Errors are panics of *Error, up to parse.
type parser struct {
	scanner
	prog   *Program
	opts   Options
	region string              // what is being read, for errors in a Spec
	full   func(string) string // completes a description; "" to refuse
	nodes  int                 // operators of the current statement
	types  map[string]bool     // typedefs of the program
	vars   map[string]bool     // variables and inlines that it declares
	bodies map[string]bool     // structures, unions and enumerations that it defines
}

// maxNodes bounds an expression, and so the depth of the tree.
const maxNodes = 10000

func parse(prog *Program, src []byte, opts Options, full func(string) string) (out *Program, err error) {
	out = prog
	p := &parser{prog: prog, opts: opts, full: full, region: "probe description", types: make(map[string]bool), vars: make(map[string]bool), bodies: make(map[string]bool)}
	p.scanner = scanner{src: src, line: 1, pragmas: new([]*Pragma)}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *Error:
			if prog.Spec {
				e.Region = p.region
			}
			p.flushPragmas()
			err = e
		default:
			panic(e)
		}
	}()
	p.program()
	return prog, nil
}

// program = { decl | clause } . Between items no token has been read ahead: a
// description and a token begin differently.
func (p *parser) program() {
	if !p.item() && p.prog.Spec {
		p.unexpectedAt()
	}
	for p.item() {
	}
}

// item reads one item and reports whether there was one.
func (p *parser) item() bool {
	p.skip()
	p.flushPragmas()
	switch {
	case !p.more():
		return false
	case p.src[p.off] == ';':
		p.next()
	case p.atDecl():
		p.next()
		p.add(p.declaration())
	default:
		p.clause()
	}
	p.skip()
	p.flushPragmas()
	return true
}

func (p *parser) add(it Item) {
	p.flushPragmas()
	p.prog.Items = append(p.prog.Items, it)
}

func (p *parser) flushPragmas() {
	for _, pr := range *p.pragmas {
		p.prog.Items = append(p.prog.Items, pr)
	}
	*p.pragmas = nil
}

// ahead is a parser at the same place whose reading leaves no trace.
func (p *parser) ahead() *parser {
	q := *p
	q.pragmas = new([]*Pragma)
	return &q
}

// atDecl looks whether a declaration begins here rather than a clause: with a keyword, or
// with a name and another name or a *, which descriptions never have side by side.
func (p *parser) atDecl() bool {
	if !isLetter(p.src[p.off]) {
		return false
	}
	desc := p.ahead().description()
	q := p.ahead()
	q.next()
	if len(desc) != q.off-q.start {
		return false // syscall::read:entry, self-test
	}
	if q.tok > keywordsStart && q.tok < keywordsEnd {
		return true
	}
	q.skip()
	if c := q.peek(0); !isLetter(c) && c != '*' {
		return false
	}
	return true
}

// clause = desc { "," desc } [ "/" pred "/" ] ( "{" stmts "}" | ";" ) .
func (p *parser) clause() {
	p.region = "probe description"
	c := &Clause{Pos: p.here()}
	for {
		c.Probes = append(c.Probes, p.desc())
		if p.skip(); p.peek(0) != ',' {
			break
		}
		p.off++
	}
	p.next()
	if p.tok == DIV {
		p.region = "predicate"
		p.predicate(c)
	}
	p.region = "action list"
	switch {
	case p.tok == LBRACE:
		c.HasBody = true
		c.Body = p.block()
	case p.tok != SEMI && p.tok != EOF:
		p.unexpected()
	}
	p.add(c)
	p.region = "probe description"
}

func (p *parser) desc() *Desc {
	text := p.description()
	d := &Desc{Pos: p.pos, Text: p.full(text)}
	if !p.prog.Spec {
		d.Text = text
	}
	if text == "" {
		p.unexpectedAt()
	}
	if len(Parts(text)) > 4 || d.Text == "" {
		fail(d.Pos, ProbeInvalid, "invalid probe description %q: too many parts, or not a number", text)
	}
	return d
}

func (p *parser) predicate(c *Clause) {
	p.inPred = true
	p.nodes = 0
	p.next()
	c.Pred = p.expr(precComma)
	p.inPred = false
	p.want(ENDPRED)
}

// block reads statements between braces. The token of its right brace is left: what
// follows may be a description.
func (p *parser) block() []Stmt {
	p.want(LBRACE)
	stmts := []Stmt{}
	for p.tok != RBRACE {
		if p.tok == SEMI {
			p.next()
			continue
		}
		stmts = append(stmts, p.stmt())
	}
	return stmts
}

func (p *parser) stmt() Stmt {
	p.nodes = 0
	return p.stmtIn(0)
}

// maxBlocks bounds the nesting of if statements.
const maxBlocks = 200

func (p *parser) stmtIn(depth int) Stmt {
	if depth > maxBlocks {
		fail(p.pos, SyntaxError, "statements are nested too deeply")
	}
	pos := p.pos
	if p.tok != IF {
		s := &ExprStmt{Pos: pos, X: p.expr(precComma)}
		if p.tok != RBRACE { // the last semicolon may be left out
			p.want(SEMI)
		}
		return s
	}
	p.next()
	p.want(LPAREN)
	s := &IfStmt{Pos: pos, Cond: p.expr(precComma)}
	p.want(RPAREN)
	s.Then = p.branch(depth)
	if p.tok == ELSE {
		p.next()
		s.Else = p.branch(depth)
	}
	return s
}

// branch is one statement, or several in braces.
func (p *parser) branch(depth int) []Stmt {
	p.nodes = 0
	stmts := []Stmt{}
	if p.tok != LBRACE {
		if p.tok != SEMI {
			return append(stmts, p.stmtIn(depth+1))
		}
		p.next()
		return stmts
	}
	p.next()
	for p.tok != RBRACE {
		if p.tok == SEMI {
			p.next()
			continue
		}
		p.nodes = 0
		stmts = append(stmts, p.stmtIn(depth+1))
	}
	p.next()
	return stmts
}

// want passes over a token that must come now.
func (p *parser) want(t Token) {
	if p.tok != t {
		p.unexpected()
	}
	p.next()
}

func (p *parser) unexpected() {
	if p.tok == EOF {
		fail(p.pos, SyntaxError, "syntax error near end of input")
	}
	fail(p.pos, SyntaxError, "syntax error near \"%s\"", p.src[p.start:p.off])
}

// unexpectedAt fails at a place where no token has been read.
func (p *parser) unexpectedAt() {
	p.next()
	p.unexpected()
}

// isOwnType leaves out the types of the image: those have to be looked for, and a
// variable may have the name of one.
func (p *parser) isOwnType(name string) bool {
	_, ok := ctypes.LookupTypedef(name)
	return ok || p.types[name]
}

func (p *parser) isType(name string) bool {
	if p.isOwnType(name) {
		return true
	}
	return p.opts.IsType != nil && p.opts.IsType(name)
}
