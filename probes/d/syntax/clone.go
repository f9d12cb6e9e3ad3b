package syntax

// Clone copies an expression as it was parsed, without what package check has noted.
// Identifiers for which subst gives something are replaced by that, itself and not a copy.
// subst may be nil.
func Clone(x Expr, subst func(name string) Expr) Expr {
	c := cloner{subst}
	return c.expr(x)
}

type cloner struct {
	subst func(name string) Expr
}

func (c cloner) list(xs []Expr) []Expr {
	if xs == nil {
		return nil
	}
	out := make([]Expr, len(xs))
	for i, x := range xs {
		out[i] = c.expr(x)
	}
	return out
}

func (c cloner) expr(x Expr) Expr {
	switch x := x.(type) {
	case *IntLit:
		return &IntLit{Pos: x.Pos, Text: x.Text, Value: x.Value}
	case *StringLit:
		return &StringLit{Pos: x.Pos, Value: x.Value}
	case *Ident:
		if c.subst != nil {
			if y := c.subst(x.Name); y != nil {
				return y
			}
		}
		return &Ident{Pos: x.Pos, Name: x.Name}
	case *ScopedVar:
		return &ScopedVar{Pos: x.Pos, Scope: x.Scope, Name: x.Name}
	case *Symbol:
		return &Symbol{Pos: x.Pos, Module: x.Module, Name: x.Name}
	case *Macro:
		return &Macro{Pos: x.Pos, Name: x.Name, String: x.String}
	case *Agg:
		return &Agg{Pos: x.Pos, Name: x.Name, Keys: c.list(x.Keys)}
	case *Call:
		return &Call{Pos: x.Pos, Fun: c.expr(x.Fun), Args: c.list(x.Args)}
	case *SizeofType:
		return &SizeofType{Pos: x.Pos, Of: x.Of}
	case *Offsetof:
		return &Offsetof{Pos: x.Pos, Of: x.Of, Member: x.Member}
	}
	return c.operator(x)
}

func (c cloner) operator(x Expr) Expr {
	switch x := x.(type) {
	case *Unary:
		return &Unary{Pos: x.Pos, Op: x.Op, X: c.expr(x.X)}
	case *Postfix:
		return &Postfix{Pos: x.Pos, Op: x.Op, X: c.expr(x.X)}
	case *Binary:
		return &Binary{Pos: x.Pos, Op: x.Op, X: c.expr(x.X), Y: c.expr(x.Y)}
	case *Cond:
		return &Cond{Pos: x.Pos, C: c.expr(x.C), X: c.expr(x.X), Y: c.expr(x.Y)}
	case *Index:
		return &Index{Pos: x.Pos, X: c.expr(x.X), Args: c.list(x.Args)}
	case *Member:
		return &Member{Pos: x.Pos, X: c.expr(x.X), Arrow: x.Arrow, Name: x.Name}
	case *Cast:
		return &Cast{Pos: x.Pos, To: x.To, X: c.expr(x.X)}
	case *Xlate:
		return &Xlate{Pos: x.Pos, To: x.To, X: c.expr(x.X)}
	}
	return x
}
