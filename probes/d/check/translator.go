package check

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/syntax"
)

// An xlator computes members of one type from a value of another.
type xlator struct {
	to, from *ctypes.Type
	param    string
	members  map[string]syntax.Expr
}

func (c *checker) translator(d *syntax.Translator) {
	to, from := c.typeName(d.To), c.typeName(d.From)
	if !to.IsStruct() {
		c.fail(d, XlateSou, "translator output type must be a struct or union: %s", to)
	}
	if to.Base().Size == 0 {
		c.fail(d, XlateSou, "translator output type is incomplete: %s", to)
	}
	t := &xlator{to: to, from: decay(from), param: d.From.Decl.Name, members: make(map[string]syntax.Expr)}
	if c.findXlator(to, t.from) != nil {
		c.fail(d, XlateRedecl, "translator from %s to %s has already been declared", from, to)
	}
	for _, m := range d.Members {
		f, ok := to.Member(m.Name)
		if !ok {
			c.fail(m, XlateMemb, "translator member %s is not a member of %s", m.Name, to)
		}
		c.bind([]param{{t.param, t.from}}, func() { c.memberFits(m, f.Type) })
		if t.members[m.Name] == nil { // the first one counts
			t.members[m.Name] = m.X
		}
	}
	c.xlators = append(c.xlators, t)
}

func (c *checker) memberFits(m *syntax.Translated, t *ctypes.Type) {
	x := syntax.Clone(m.X, nil)
	from := c.value(x)
	if !assignable(t, x) && !(isChars(t) && isStringLike(from)) {
		c.fail(m, XlateIncompat, "translator member %s definition uses incompatible types: \"%s\" = \"%s\"", m.Name, t, from)
	}
}

func (c *checker) findXlator(to, from *ctypes.Type) *xlator {
	for _, t := range c.xlators {
		if ctypes.Same(t.to, to) && (ctypes.Same(t.from, from) || t.from.IsInt() && from.IsInt()) {
			return t
		}
	}
	return nil
}

// xlate is xlate <T>(x): T's members, or those of what T points to, are computed from x.
func (c *checker) xlate(x *syntax.Xlate) *ctypes.Type {
	to := c.typeName(x.To)
	target := to
	if to.IsPointer() {
		target = to.Base().Elem
	}
	from := decay(c.value(x.X))
	if !target.IsStruct() {
		c.fail(x, XlateSou, "operator xlate may only be used with a struct or union or a pointer to one, not with %s", to)
	}
	t := c.findXlator(target, from)
	if t == nil {
		c.fail(x, XlateNone, "cannot translate from \"%s\" to \"%s\"", from, to)
	}
	x.Info().Ref = t
	return to
}

// translated is a member of the result of xlate.
func (c *checker) translated(x *syntax.Member, xl *syntax.Xlate) *ctypes.Type {
	t := xl.Info().Ref.(*xlator)
	f, ok := t.to.Member(x.Name)
	e := t.members[x.Name]
	if !ok || e == nil {
		c.fail(x, XlateNoconv, "translator does not define conversion for member: %s", x.Name)
	}
	typ := f.Type
	if isChars(typ) {
		typ = c.str
	}
	value := xl.X
	if !t.from.IsStruct() {
		value = c.convert(xl.X, t.from)
	}
	return c.stand(x, typ, c.copy(e, map[string]syntax.Expr{t.param: value}))
}

// make settles how the structure that xl translates to is made as a whole, where x, which stands
// for it, is an operand: its members are computed, and those that have no line are 0.
func (c *checker) make(x syntax.Expr, xl *syntax.Xlate, t *ctypes.Type) {
	if !t.IsStruct() {
		c.fail(x, OpDyn, "translated value may only be used by its members: %s", syntax.ExprString(x))
	}
	if xl.Members != nil {
		return
	}
	xl.Members = []*syntax.Member{}
	from := xl.Info().Ref.(*xlator)
	for _, f := range t.Base().Fields {
		if f.Name == "" || from.members[f.Name] == nil {
			continue
		}
		if !f.Type.IsScalar() && !isChars(f.Type) || f.Bits > 0 {
			c.fail(x, OpDyn, "translated value may only be used by its members: %s of it is of type %s", f.Name, f.Type)
		}
		m := &syntax.Member{Pos: xl.Pos, X: xl, Name: f.Name}
		c.expr(m)
		xl.Members = append(xl.Members, m)
	}
}
