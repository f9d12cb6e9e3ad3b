package syntax

// Words that begin or continue the specifier of a declaration.
func isClass(t Token) bool {
	switch t {
	case SELF, THIS, AUTO, EXTERN, REGISTER, STATIC, TYPEDEF:
		return true
	}
	return false
}

func isQual(t Token) bool { return t == CONST || t == VOLATILE || t == RESTRICT }

func isBaseWord(t Token) bool {
	switch t {
	case VOID, CHAR, SHORT, INTKW, LONG, FLOAT, DOUBLE, SIGNED, UNSIGNED, STRINGKW:
		return true
	}
	return false
}

func isTag(t Token) bool { return t == STRUCT || t == UNION || t == ENUM }

// atType looks whether the current token begins a type.
func (p *parser) atType() bool {
	return isQual(p.tok) || isBaseWord(p.tok) || isTag(p.tok) || p.tok == IDENT && p.isType(p.text)
}

// decl = [class] spec declarator { "," declarator } ";" .
func (p *parser) decl() *Decl {
	p.region = "declaration"
	d := &Decl{Pos: p.pos}
	switch p.tok {
	case INLINE, TRANSLATOR, PROVIDER, IMPORT, TYPEDEF, ENUM:
		fail(p.pos, SyntaxError, "%s declarations are not supported yet", p.tok)
	}
	if isClass(p.tok) {
		d.Class = p.tok.String()
		p.next()
	}
	d.Type = p.spec()
	for {
		p.nodes = 0
		n := p.declarator()
		if n.Name == "" {
			p.unexpected()
		}
		d.Names = append(d.Names, n)
		if p.tok != COMMA {
			break
		}
		p.next()
	}
	if p.tok != SEMI {
		p.unexpected()
	}
	return d
}

// typeName = spec [abstract declarator] .
func (p *parser) typeName() *TypeName {
	t := &TypeName{Spec: p.spec(), Decl: p.declarator()}
	if t.Decl.Name != "" {
		fail(t.Decl.Pos, SyntaxError, "syntax error near %q", t.Decl.Name)
	}
	return t
}

// spec = { qualifier | word } . A name is taken as a typedef if no word came before it.
func (p *parser) spec() *Spec {
	s := &Spec{Pos: p.pos}
	for {
		switch {
		case isQual(p.tok):
			s.Quals = append(s.Quals, p.text)
		case isBaseWord(p.tok):
			s.Words = append(s.Words, p.text)
		case isTag(p.tok) && len(s.Words) == 0:
			s.Words = append(s.Words, p.text)
			p.next()
			if p.tok == LBRACE {
				fail(p.pos, SyntaxError, "%s definitions are not supported yet", s.Words[0])
			}
			s.Words = append(s.Words, p.text)
			if p.tok != IDENT {
				p.unexpected()
			}
		case p.tok == IDENT && len(s.Words) == 0:
			s.Words = append(s.Words, p.text)
		default:
			if len(s.Words) == 0 {
				p.unexpected()
			}
			return s
		}
		p.next()
	}
}

// declarator = { "*" } ( [name] | "(" declarator ")" ) { "[" ... "]" } .
func (p *parser) declarator() *Declarator {
	p.count()
	stars := 0
	for p.tok == MUL || stars > 0 && isQual(p.tok) {
		if p.tok == MUL {
			p.count()
			stars++
		}
		p.next()
	}
	d := &Declarator{Pos: p.pos}
	switch p.tok {
	case LPAREN:
		p.next()
		if d = p.declarator(); d.Name == "" && len(d.Parts) == 0 {
			p.unexpected()
		}
		p.want(RPAREN)
	case IDENT:
		d.Name = p.text
		p.next()
	}
	for p.tok == LBRACK {
		d.Parts = append(d.Parts, p.bracket())
	}
	for ; stars > 0; stars-- {
		d.Parts = append(d.Parts, Part{Kind: Pointer})
	}
	return d
}

// bracket reads the length of an array, or the types of an associative array's keys.
func (p *parser) bracket() Part {
	p.count()
	p.next()
	if p.tok == RBRACK {
		p.next()
		return Part{Kind: Array}
	}
	if !p.atType() {
		part := Part{Kind: Array, Len: p.expr(precCond)}
		p.want(RBRACK)
		return part
	}
	part := Part{Kind: Assoc}
	for {
		part.Keys = append(part.Keys, p.typeName())
		if p.tok != COMMA {
			p.want(RBRACK)
			return part
		}
		p.next()
	}
}
