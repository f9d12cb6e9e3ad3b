package syntax

// A Body is what a struct, union or enum has in braces.
type Body struct {
	Members []*Decl       // of a struct or union
	Enums   []*Enumerator // of an enum
}

// An Enumerator is one constant of an enum.
type Enumerator struct {
	Pos
	Name string
	X    Expr // nil: one more than the last
}

// An Inline is a name for an expression: inline T name = X; or, with parameters,
// inline T name[T k, ...] = X;
type Inline struct {
	Pos
	Type *Spec
	Name *Declarator // its outermost Assoc part has the parameters
	X    Expr
}

// A Translator says how the members of one type are computed from a value of another.
type Translator struct {
	Pos
	To      *TypeName
	From    *TypeName // with the name that stands for the value
	Members []*Translated
}

// A Translated is one line of a Translator: member = expression.
type Translated struct {
	Pos
	Name string
	X    Expr
}

// A Provider declares probes and the types of their arguments.
type Provider struct {
	Pos
	Name   string
	Probes []*ProbeDecl
}

// A ProbeDecl is one probe of a Provider.
type ProbeDecl struct {
	Pos
	Name   string
	Args   []*TypeName // what the probe passes
	Xlated []*TypeName // what a program sees, if HasX
	HasX   bool
}

func (*Inline) item()     {}
func (*Translator) item() {}
func (*Provider) item()   {}

// inline = "inline" spec declarator "=" expr .
func (p *parser) inline() *Inline {
	in := &Inline{Pos: p.pos}
	p.next()
	in.Type = p.spec()
	in.Name = p.declarator()
	if in.Name.Name == "" {
		p.unexpected()
	}
	p.vars[in.Name.Name] = true
	p.want(ASSIGN)
	in.X = p.expr(precAssign)
	return in
}

// translator = "translator" type "<" type name ">" "{" { member "=" expr ";" } "}" .
func (p *parser) translator() *Translator {
	t := &Translator{Pos: p.pos}
	p.next()
	t.To = p.typeName()
	p.want(LT)
	if t.From = p.param(); t.From.Decl.Name == "" {
		p.unexpected()
	}
	p.want(GT)
	p.want(LBRACE)
	for p.tok != RBRACE {
		p.nodes = 0
		m := &Translated{Pos: p.pos, Name: p.memberName()}
		p.want(ASSIGN)
		m.X = p.expr(precAssign)
		t.Members = append(t.Members, m)
		p.want(SEMI)
	}
	p.next()
	return t
}

// provider = "provider" name "{" { "probe" name "(" params ")" [ ":" "(" params ")" ] ";" } "}" .
func (p *parser) provider() *Provider {
	v := &Provider{Pos: p.pos}
	p.next()
	v.Name = p.memberName()
	p.want(LBRACE)
	for p.tok != RBRACE {
		d := &ProbeDecl{Pos: p.pos}
		p.nodes = 0
		p.want(PROBE)
		d.Name = p.memberName()
		d.Args = p.fixedParams()
		if p.tok == COLON {
			p.next()
			d.HasX = true
			d.Xlated = p.fixedParams()
		}
		v.Probes = append(v.Probes, d)
		p.want(SEMI)
	}
	p.next()
	return v
}

// body reads what a struct, union or enum has in braces.
func (p *parser) body(tag Token) *Body {
	b := new(Body)
	p.count()
	p.want(LBRACE)
	for p.tok != RBRACE {
		if tag == ENUM {
			b.Enums = append(b.Enums, p.enumerator())
			if p.tok != COMMA {
				break
			}
			p.next()
		} else {
			b.Members = append(b.Members, p.memberDecl())
		}
	}
	if p.tok != RBRACE {
		p.unexpected()
	}
	return b
}

func (p *parser) enumerator() *Enumerator {
	p.count()
	e := &Enumerator{Pos: p.pos, Name: p.text}
	if p.tok != IDENT {
		p.unexpected()
	}
	p.next()
	if p.tok == ASSIGN {
		p.next()
		e.X = p.expr(precCond)
	}
	return e
}

// memberDecl = spec [ member { "," member } ] ";" ; a member may be a bit-field.
func (p *parser) memberDecl() *Decl {
	d := &Decl{Pos: p.pos}
	if isClass(p.tok) {
		d.Class = p.tok.String()
		p.next()
	}
	d.Type = p.spec()
	for p.tok != SEMI {
		n := p.declarator()
		if p.tok == COLON {
			p.next()
			n.Bits = p.expr(precCond)
		} else if n.Name == "" {
			p.unexpected()
		}
		d.Names = append(d.Names, n)
		if p.tok != COMMA {
			break
		}
		p.next()
	}
	p.want(SEMI)
	return d
}

// param is a type with a name or without.
func (p *parser) param() *TypeName {
	if isClass(p.tok) {
		fail(p.pos, DeclParmclass, "storage class %s is not allowed in a parameter", p.tok)
	}
	return &TypeName{Spec: p.spec(), Decl: p.declarator()}
}

// fixedParams is paramList of a probe, which has no "...".
func (p *parser) fixedParams() []*TypeName {
	pos := p.pos
	list, variadic := p.paramList()
	if variadic {
		fail(pos, DeclVarargs, "probe prototype may not use a variable-length argument list")
	}
	return list
}

// paramList reads the parameters of a function or probe, with their parentheses.
func (p *parser) paramList() (list []*TypeName, variadic bool) {
	p.count()
	p.want(LPAREN)
	list = []*TypeName{}
	for p.tok != RPAREN {
		if p.tok == ELLIPSIS {
			p.next()
			variadic = true
			break
		}
		list = append(list, p.param())
		if p.tok != COMMA {
			break
		}
		p.next()
		if p.tok == RPAREN {
			p.unexpected()
		}
	}
	p.want(RPAREN)
	return list, variadic
}

// xlate = "xlate" "<" type ">" "(" expr ")" .
func (p *parser) xlate() Expr {
	x := &Xlate{Pos: p.pos}
	p.count()
	p.next()
	p.want(LT)
	x.To = p.typeName()
	p.want(GT)
	p.want(LPAREN)
	x.X = p.expr(precComma)
	p.want(RPAREN)
	return x
}
