package syntax

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Print writes the program as D text that parses to the same tree, one clause after
// another with tabs for indentation. It is what option -d shows.
func Print(w io.Writer, prog *Program) error {
	var p printer
	for i, it := range prog.Items {
		if _, ok := it.(*Clause); ok && i > 0 {
			p.WriteByte('\n')
		}
		p.item(it)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// ExprString is the text of one expression.
func ExprString(x Expr) string {
	var p printer
	p.expr(x, precComma)
	return p.String()
}

type printer struct {
	strings.Builder
	depth int // of bodies of types
}

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

func (p *printer) item(it Item) {
	switch it := it.(type) {
	case *Pragma:
		text := strings.Join(it.Words, " ")
		if strings.HasSuffix(text, `\`) {
			text += " " // or the line would go on
		}
		p.printf("#pragma D %s\n", text)
	case *Decl:
		p.decl(it)
	case *Inline:
		p.WriteString("inline ")
		p.spec(it.Type)
		p.printf(" %s = ", declarator(it.Name))
		p.expr(it.X, precAssign)
		p.WriteString(";\n")
	case *Translator:
		p.translator(it)
	case *Provider:
		p.provider(it)
	case *Clause:
		p.clause(it)
	}
}

func (p *printer) translator(t *Translator) {
	p.printf("translator %s < %s > {\n", t.To, t.From)
	for _, m := range t.Members {
		p.printf("\t%s = ", m.Name)
		p.expr(m.X, precAssign)
		p.WriteString(";\n")
	}
	p.WriteString("};\n")
}

func (p *printer) provider(v *Provider) {
	p.printf("provider %s {\n", v.Name)
	for _, d := range v.Probes {
		p.printf("\tprobe %s(%s)", d.Name, typeNames(d.Args))
		if d.HasX {
			p.printf(" : (%s)", typeNames(d.Xlated))
		}
		p.WriteString(";\n")
	}
	p.WriteString("};\n")
}

func (p *printer) decl(d *Decl) {
	if d.Class != "" {
		p.printf("%s ", d.Class)
	}
	p.spec(d.Type)
	for i, n := range d.Names {
		if i > 0 {
			p.WriteByte(',')
		}
		if text := declarator(n); text != "" {
			p.WriteString(" " + text)
		}
		if n.Bits != nil {
			p.WriteString(" : ")
			p.expr(n.Bits, precCond)
		}
	}
	p.WriteString(";\n")
}

func (p *printer) clause(c *Clause) {
	for i, d := range c.Probes {
		if i > 0 {
			p.WriteString(",\n")
		}
		p.WriteString(d.Text)
	}
	if c.Pred != nil {
		pred := ExprString(c.Pred)
		if pred[0] == '*' {
			pred = " " + pred // not a comment
		}
		p.printf("\n/%s/", pred)
	}
	if !c.HasBody {
		p.WriteString("\n;\n")
		return
	}
	p.WriteString("\n{\n")
	p.stmts(c.Body, 1)
	p.WriteString("}\n")
}

func (p *printer) stmts(list []Stmt, depth int) {
	indent := strings.Repeat("\t", depth)
	for _, s := range list {
		switch s := s.(type) {
		case *ExprStmt:
			p.printf("%s%s;\n", indent, ExprString(s.X))
		case *IfStmt:
			p.printf("%sif (%s) {\n", indent, ExprString(s.Cond))
			p.stmts(s.Then, depth+1)
			if s.Else != nil {
				p.printf("%s} else {\n", indent)
				p.stmts(s.Else, depth+1)
			}
			p.printf("%s}\n", indent)
		}
	}
}

// spec writes a type. What follows a body is wrong, but it is for the checker to say so.
func (p *printer) spec(s *Spec) {
	words, rest := s.Words, []string(nil)
	if s.Body != nil {
		words, rest = words[:2], words[2:]
	}
	p.WriteString(strings.TrimRight(strings.Join(slices.Concat(s.Quals, words), " "), " "))
	if s.Body == nil {
		return
	}
	p.body(s.Body)
	for _, word := range rest {
		p.WriteString(" " + word)
	}
}

func (p *printer) body(b *Body) {
	p.WriteString(" {\n")
	p.depth++
	for _, m := range b.Members {
		p.WriteString(strings.Repeat("\t", p.depth))
		p.decl(m)
	}
	for _, e := range b.Enums {
		p.printf("%s%s", strings.Repeat("\t", p.depth), e.Name)
		if e.X != nil {
			p.WriteString(" = ")
			p.expr(e.X, precCond)
		}
		p.WriteString(",\n")
	}
	p.depth--
	p.WriteString(strings.Repeat("\t", p.depth) + "}")
}

// declarator writes the parts around the name.
func declarator(d *Declarator) string {
	s := d.Name
	for i, part := range d.Parts {
		switch part.Kind {
		case Pointer:
			s = "*" + s
			if i+1 < len(d.Parts) && d.Parts[i+1].Kind != Pointer {
				s = "(" + s + ")"
			}
		case Array:
			s += "[" + arrayLen(part.Len) + "]"
		case Assoc:
			s += "[" + typeNames(part.Keys) + "]"
		case Function:
			s += "(" + params(part) + ")"
		}
	}
	return s
}

func params(part Part) string {
	s := typeNames(part.Keys)
	switch {
	case !part.More:
		return s
	case s == "":
		return "..."
	}
	return s + ", ..."
}

func arrayLen(x Expr) string {
	if x == nil {
		return ""
	}
	var p printer
	p.expr(x, precCond)
	return p.String()
}

func typeNames(list []*TypeName) string {
	s := make([]string, len(list))
	for i, t := range list {
		s[i] = t.String()
	}
	return strings.Join(s, ", ")
}

// String is the type as it is written in a cast.
func (t *TypeName) String() string {
	var p printer
	p.spec(t.Spec)
	if d := declarator(t.Decl); d != "" {
		p.printf(" %s", d)
	}
	return p.String()
}

// Unnamed is the type of a parameter without the parameter's name.
func (t *TypeName) Unnamed() string {
	d := *t.Decl
	d.Name = ""
	return (&TypeName{Spec: t.Spec, Decl: &d}).String()
}

// expr writes x, in parentheses if it binds less tightly than prec.
func (p *printer) expr(x Expr, prec int) {
	if precedence(x) < prec {
		p.WriteByte('(')
		defer p.WriteByte(')')
	}
	switch x := x.(type) {
	case *Binary:
		p.binary(x)
	case *Cond:
		p.expr(x.C, precOr)
		p.WriteString(" ? ")
		p.expr(x.X, precComma)
		p.WriteString(" : ")
		p.expr(x.Y, precCond)
	case *Unary:
		p.unary(x)
	case *Cast:
		p.printf("(%s)", x.To)
		p.operand(x.X, func(Token) bool { return true })
	case *SizeofType:
		p.printf("sizeof (%s)", x.Of)
	case *Offsetof:
		p.printf("offsetof(%s, %s)", x.Of, x.Member)
	case *Xlate:
		p.printf("xlate <%s>(", x.To)
		p.expr(x.X, precComma)
		p.WriteByte(')')
	default:
		p.postfix(x)
	}
}

func (p *printer) binary(x *Binary) {
	left, right := x.Op.Precedence(), x.Op.Precedence()+1
	if x.Op.IsAssign() {
		left, right = right, left
	}
	p.expr(x.X, left)
	if x.Op != COMMA {
		p.WriteByte(' ')
	}
	p.printf("%s ", x.Op)
	p.expr(x.Y, right)
}

func (p *printer) unary(x *Unary) {
	p.WriteString(x.Op.String())
	if x.Op == SIZEOF || x.Op == STRINGOF {
		p.WriteString(" (")
		p.expr(x.X, precComma)
		p.WriteByte(')')
		return
	}
	p.operand(x.X, func(op Token) bool { return op.String()[0] == x.Op.String()[0] })
}

// operand writes what a prefix operator or a cast applies to. Another operator that would
// run into the first is put in parentheses.
func (p *printer) operand(x Expr, meets func(Token) bool) {
	u, ok := x.(*Unary)
	if ok && u.Op != NOT && u.Op != TILDE && u.Op != SIZEOF && u.Op != STRINGOF && meets(u.Op) {
		p.expr(x, precPostfix)
		return
	}
	p.expr(x, precUnary)
}

func (p *printer) postfix(x Expr) {
	switch x := x.(type) {
	case *IntLit:
		p.WriteString(x.Text)
	case *StringLit:
		p.WriteString(Quote(x.Value))
	case *Ident:
		p.WriteString(x.Name)
	case *ScopedVar:
		p.printf("%s->%s", x.Scope, x.Name)
	case *Symbol:
		p.printf("%s`%s", x.Module, x.Name)
	case *Macro:
		p.WriteString(x.text())
	case *Agg:
		p.printf("@%s", x.Name)
		if x.Keys != nil {
			p.args("[", x.Keys, "]")
		}
	case *Postfix:
		p.expr(x.X, precPostfix)
		p.WriteString(x.Op.String())
	case *Index:
		p.expr(x.X, precPostfix)
		p.args("[", x.Args, "]")
	case *Member:
		p.expr(x.X, precPostfix)
		p.printf("%s%s", map[bool]Token{false: DOT, true: ARROW}[x.Arrow], x.Name)
	case *Call:
		p.expr(x.Fun, precPostfix)
		p.args("(", x.Args, ")")
	}
}

func (x *Macro) text() string {
	if x.String {
		return "$$" + x.Name
	}
	return "$" + x.Name
}

func (p *printer) args(open string, list []Expr, end string) {
	p.WriteString(open)
	for i, x := range list {
		if i > 0 {
			p.WriteString(", ")
		}
		p.expr(x, precAssign)
	}
	p.WriteString(end)
}

func precedence(x Expr) int {
	switch x := x.(type) {
	case *Binary:
		return x.Op.Precedence()
	case *Cond:
		return precCond
	case *Unary, *Cast, *SizeofType:
		return precUnary
	}
	return precPostfix
}

// Quote is the D string literal of s.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
