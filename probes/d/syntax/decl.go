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

// declaration is an item that is no clause, to its semicolon.
func (p *parser) declaration() (it Item) {
	p.region = "declaration"
	p.nodes = 0
	switch p.tok {
	case INLINE:
		it = p.inline()
	case TRANSLATOR:
		it = p.translator()
	case PROVIDER:
		it = p.provider()
	case IMPORT:
		fail(p.pos, SyntaxError, "import declarations are not part of the language")
	default:
		it = p.decl()
	}
	if p.tok != SEMI {
		p.unexpected()
	}
	return it
}

// decl = [class] spec [ declarator { "," declarator } ] .
func (p *parser) decl() *Decl {
	p.nodes = 0
	d := &Decl{Pos: p.pos}
	for isClass(p.tok) {
		if d.Class != "" {
			fail(p.pos, DeclClass, "only one storage class is allowed in a declaration: %s, %s", d.Class, p.tok)
		}
		d.Class = p.tok.String()
		p.next()
	}
	if d.Class != "" && p.atBareName() {
		d.Type = &Spec{Pos: p.pos, Words: []string{"int"}}
	} else {
		d.Type = p.spec()
	}
	for p.tok != SEMI {
		n := p.declarator()
		if n.Name == "" {
			p.unexpected()
		}
		d.Names = append(d.Names, n)
		if d.Class == "typedef" {
			p.types[n.Name] = true
		} else {
			p.vars[n.Name] = true
		}
		if p.tok != COMMA {
			break
		}
		p.next()
	}
	return d
}

// atBareName looks whether a name stands where a type may: behind a storage class that is int, as
// in C of old.
func (p *parser) atBareName() bool {
	if p.tok != IDENT {
		return false
	}
	q := p.ahead()
	q.next()
	return q.tok == SEMI || q.tok == COMMA || q.tok == LBRACK
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
		case isTag(p.tok):
			p.oneType(s)
			p.tagged(s)
			continue
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

// oneType fails if a struct, union or enum follows other words of a type.
func (p *parser) oneType(s *Spec) {
	for _, w := range s.Words {
		switch w {
		case "signed", "unsigned":
			fail(s.Pos, DeclSignint, "invalid type declaration: %s is for integer types, not for %s", w, p.text)
		case "short", "long":
			fail(s.Pos, DeclLongint, "invalid type declaration: %s is for integer types, not for %s", w, p.text)
		}
	}
	if len(s.Words) > 0 {
		fail(p.pos, DeclCombo, "invalid type combination: %s after %s (is a semicolon missing?)", p.text, s.Words[0])
	}
}

// tagged reads a struct, union or enum.
func (p *parser) tagged(s *Spec) {
	kind := p.tok
	s.Words = append(s.Words, p.text, "")
	p.next()
	if p.tok == IDENT {
		s.Words[1] = p.text
		p.next()
		if p.tok == BACKQUOTE { // the module does not matter: there is one kernel
			p.next()
			s.Words[1] = p.text
			p.want(IDENT)
			if p.tok == LBRACE {
				fail(s.Pos, DeclScope, "%s %s may not be declared in another scope", s.Words[0], s.Words[1])
			}
		}
	} else if p.tok != LBRACE {
		p.unexpected()
	}
	if p.tok == LBRACE {
		p.once(s)
		s.Body = p.body(kind)
		p.next()
	}
}

// once fails if a structure, union or enumeration is defined a second time: before its body is
// read, which is an error later.
func (p *parser) once(s *Spec) {
	name := s.Words[0] + " " + s.Words[1]
	if s.Words[1] != "" && p.bodies[name] {
		fail(s.Pos, DeclTypered, "type redeclared: %s", name)
	}
	p.bodies[name] = true
}

// declarator = { "*" } ( [name] | "(" declarator ")" ) { "[" ... "]" | "(" ... ")" } .
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
	switch {
	case p.tok == LPAREN && !p.atParams():
		p.next()
		if d = p.declarator(); d.Name == "" && len(d.Parts) == 0 {
			p.unexpected()
		}
		p.want(RPAREN)
	case p.tok == IDENT:
		d.Name = p.text
		p.next()
		if p.tok == BACKQUOTE {
			fail(d.Pos, DeclScope, "%s` may not be used to declare a name in another scope", d.Name)
		}
	}
	for p.tok == LBRACK || p.tok == LPAREN {
		if p.tok == LBRACK {
			d.Parts = append(d.Parts, p.bracket())
			continue
		}
		part := Part{Kind: Function}
		part.Keys, part.More = p.paramList()
		d.Parts = append(d.Parts, part)
	}
	for ; stars > 0; stars-- {
		d.Parts = append(d.Parts, Part{Kind: Pointer})
	}
	return d
}

// atParams looks whether a parenthesis without a name before it opens parameters.
func (p *parser) atParams() bool {
	q := p.ahead()
	q.next()
	return q.tok == RPAREN || q.tok == ELLIPSIS || q.atType()
}

// bracket reads the length of an array, or the types of an associative array's keys.
func (p *parser) bracket() Part {
	p.count()
	p.next()
	if p.tok == RBRACK {
		p.next()
		return Part{Kind: Array}
	}
	if !p.atType() && p.tok != ELLIPSIS && !isClass(p.tok) {
		part := Part{Kind: Array, Len: p.expr(precCond)}
		p.want(RBRACK)
		return part
	}
	part := Part{Kind: Assoc}
	for {
		if p.tok == ELLIPSIS {
			fail(p.pos, DeclVarargs, "array prototype may not use a variable-length argument list")
		}
		part.Keys = append(part.Keys, p.param())
		if p.tok != COMMA {
			p.want(RBRACK)
			return part
		}
		p.next()
	}
}
