package syntax

// count bounds the operators of an expression.
func (p *parser) count() {
	if p.nodes++; p.nodes > maxNodes {
		fail(p.pos, SyntaxError, "expression is too complex (more than %d operators)", maxNodes)
	}
}

// expr reads an expression of operators that bind at least as tightly as prec.
// Assignments and ?: group to the right, the others to the left.
func (p *parser) expr(prec int) Expr {
	p.count()
	x := p.unary()
	for {
		op, level := p.tok, p.tok.Precedence()
		if level == 0 || level < prec {
			return x
		}
		p.count()
		pos := p.pos
		p.next()
		switch {
		case op == QUESTION:
			x = p.cond(pos, x)
		case op.IsAssign():
			x = &Binary{Pos: pos, Op: op, X: x, Y: p.expr(precAssign)}
		default:
			x = &Binary{Pos: pos, Op: op, X: x, Y: p.expr(level + 1)}
		}
	}
}

func (p *parser) cond(pos Pos, c Expr) Expr {
	x := p.expr(precComma)
	p.want(COLON)
	return &Cond{Pos: pos, C: c, X: x, Y: p.expr(precCond)}
}

func (p *parser) unary() Expr {
	pos := p.pos
	switch op := p.tok; op {
	case ADD, SUB, NOT, TILDE, MUL, AND, INC, DEC:
		p.count()
		p.next()
		return &Unary{Pos: pos, Op: op, X: p.unary()}
	case STRINGOF:
		p.count()
		p.next()
		return &Unary{Pos: pos, Op: op, X: p.unary()}
	case SIZEOF:
		return p.sizeof()
	case OFFSETOF:
		return p.offsetof()
	case LPAREN:
		if p.atCast() {
			p.count()
			return p.cast()
		}
	}
	return p.postfix(p.primary())
}

// atCast looks whether the parenthesis opens a cast: a type follows. Of a name that is
// not known as a type, what follows the parenthesis decides.
func (p *parser) atCast() bool {
	q := p.ahead()
	q.next()
	if q.tok != IDENT || q.isOwnType(q.text) {
		return q.atType()
	}
	name := q.text
	q.next()
	stars := 0
	for ; q.tok == MUL; q.next() {
		stars++
	}
	if q.tok != RPAREN {
		return false
	}
	if stars > 0 {
		return true
	}
	q.next()
	switch q.tok {
	case IDENT, INT, STRING, MACRO, AGG, SELF, THIS, BACKQUOTE, LPAREN, NOT, TILDE, SIZEOF, STRINGOF, OFFSETOF, XLATE:
		return !p.isVar(name) || p.isType(name)
	case ADD, SUB, MUL, AND, INC, DEC:
		return !p.isVar(name) && p.isType(name)
	}
	return false
}

// isVar reports whether the program has declared a variable or inline of that name, or
// it is one of the language: then it is not looked for among the types of the image.
func (p *parser) isVar(name string) bool { return p.vars[name] }

func (p *parser) cast() Expr {
	pos := p.pos
	p.next()
	to := p.typeName()
	p.want(RPAREN)
	return &Cast{Pos: pos, To: to, X: p.unary()}
}

func (p *parser) sizeof() Expr {
	pos := p.pos
	p.count()
	p.next()
	if q := p.ahead(); p.tok == LPAREN {
		if q.next(); q.atType() {
			p.next()
			of := p.typeName()
			p.want(RPAREN)
			return &SizeofType{Pos: pos, Of: of}
		}
	}
	return &Unary{Pos: pos, Op: SIZEOF, X: p.unary()}
}

func (p *parser) offsetof() Expr {
	x := &Offsetof{Pos: p.pos}
	p.next()
	p.want(LPAREN)
	x.Of = p.typeName()
	p.want(COMMA)
	x.Member = p.memberName()
	p.want(RPAREN)
	return x
}

func (p *parser) postfix(x Expr) Expr {
	for {
		pos := p.pos
		switch p.tok {
		case LBRACK:
			p.count()
			p.next()
			x = &Index{Pos: pos, X: x, Args: p.args(RBRACK)}
		case DOT, ARROW:
			p.count()
			m := &Member{Pos: pos, X: x, Arrow: p.tok == ARROW}
			p.next()
			m.Name = p.memberName()
			x = m
		case INC, DEC:
			p.count()
			x = &Postfix{Pos: pos, Op: p.tok, X: x}
			p.next()
		case LPAREN:
			p.count()
			if _, ok := x.(*Ident); !ok {
				fail(pos, FuncIdent, "function designator is not of function type: %s", ExprString(x))
			}
			p.next()
			c := &Call{Pos: pos, Fun: x}
			if p.tok == RPAREN {
				p.next()
			} else {
				c.Args = p.args(RPAREN)
			}
			x = c
		default:
			return x
		}
	}
}

// args reads one or more expressions up to the closing bracket.
func (p *parser) args(end Token) []Expr {
	var list []Expr
	for {
		list = append(list, p.expr(precAssign))
		if p.tok != COMMA {
			p.want(end)
			return list
		}
		p.next()
	}
}

// memberName reads a name; keywords are names there.
func (p *parser) memberName() string {
	if p.tok != IDENT && (p.tok <= keywordsStart || p.tok >= keywordsEnd) {
		p.unexpected()
	}
	name := p.text
	p.next()
	return name
}

func (p *parser) primary() Expr {
	pos, tok, text := p.pos, p.tok, p.text
	switch tok {
	case INT:
		x := &IntLit{Pos: pos, Text: text, Value: p.value}
		p.next()
		return x
	case STRING:
		p.next()
		return &StringLit{Pos: pos, Value: text}
	case IDENT:
		p.next()
		if p.tok == BACKQUOTE {
			return p.symbol(pos, text)
		}
		if p.isOwnType(text) {
			fail(pos, SyntaxError, "syntax error near %q", text)
		}
		return &Ident{Pos: pos, Name: text}
	case BACKQUOTE:
		return p.symbol(pos, "")
	case SELF, THIS:
		p.next()
		p.want(ARROW)
		return &ScopedVar{Pos: pos, Scope: text, Name: p.memberName()}
	case MACRO:
		p.next()
		return macro(pos, text)
	case AGG:
		return p.agg()
	case XLATE:
		return p.xlate()
	case LPAREN:
		p.next()
		x := p.expr(precComma)
		p.want(RPAREN)
		return x
	}
	p.unexpected()
	return nil
}

// symbol reads from the backquote on.
func (p *parser) symbol(pos Pos, module string) Expr {
	p.next()
	if p.tok != IDENT && (p.tok <= keywordsStart || p.tok >= keywordsEnd) {
		return &Symbol{Pos: pos, Module: module} // of no name, so there is none
	}
	return &Symbol{Pos: pos, Module: module, Name: p.memberName()}
}

func macro(pos Pos, text string) Expr {
	if text[1] == '$' {
		return &Macro{Pos: pos, Name: text[2:], String: true}
	}
	return &Macro{Pos: pos, Name: text[1:]}
}

func (p *parser) agg() Expr {
	x := &Agg{Pos: p.pos, Name: p.text}
	p.next()
	if p.tok == LBRACK {
		p.count()
		p.next()
		x.Keys = p.args(RBRACK)
	}
	return x
}
