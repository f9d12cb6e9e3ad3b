package check

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/syntax"
)

// An inline is a name for an expression. A use is a copy of the expression, with the
// arguments in the place of the parameters.
type inline struct {
	typ    *ctypes.Type
	params []param
	x      syntax.Expr
}

type param struct {
	name string
	typ  *ctypes.Type
}

// An xlator computes members of one type from a value of another.
type xlator struct {
	to, from *ctypes.Type
	param    string
	members  map[string]syntax.Expr
}

// A Convert is X as a value of its Type: package check puts it around what stands for a
// name.
type Convert struct {
	syntax.Pos
	syntax.Typed
	X syntax.Expr
}

// maxExprs bounds the expressions of a program with all inlines written out.
const maxExprs = 200000

func (c *checker) inline(d *syntax.Inline) {
	t, _ := c.declarator(c.spec(d.Type), d.Name)
	name := d.Name.Name
	if c.defined(name) || c.reserved(name) {
		c.fail(d, DeclIdred, "identifier redeclared: %s", name)
	}
	if t.Base().Kind == ctypes.Void {
		c.fail(d, DeclVoidobj, "cannot have void object: %s", name)
	}
	in := &inline{typ: t, x: d.X}
	for _, part := range d.Name.Parts {
		if part.Kind == syntax.Assoc {
			in.params = c.params(d, part.Keys)
		}
	}
	c.bind(in.params, func() { c.fits(d, t, syntax.Clone(d.X, nil)) })
	c.inlines[name] = in
}

func (c *checker) params(d *syntax.Inline, keys []*syntax.TypeName) (list []param) {
	for i, k := range keys {
		if k.Decl.Name == "" {
			c.fail(d, DeclProtoName, "inline %s declaration requires parameter #%d to have a name", d.Name.Name, i+1)
		}
		t := decay(c.typeName(k))
		if t.Base().Kind == ctypes.Void {
			c.fail(k.Spec, DeclProtoVoid, "inline %s prototype parameter #%d may not be of type void", d.Name.Name, i+1)
		}
		list = append(list, param{k.Decl.Name, t})
	}
	return list
}

// bind runs f where parameters are known by name.
func (c *checker) bind(params []param, f func()) {
	c.locals = make(map[string]*ctypes.Type)
	for _, p := range params {
		c.locals[p.name] = p.typ
	}
	f()
	c.locals = nil
}

// fits checks an expression that becomes a t.
func (c *checker) fits(n syntax.Node, t *ctypes.Type, x syntax.Expr) {
	from := c.expr(x)
	if _, ok := Resolve(x).(*syntax.Xlate); ok && ctypes.Same(t, from) {
		return
	}
	c.operand(x, from)
	if !c.assignableOrCast(t, x) {
		c.fail(n, OpIncompat, "inline %s definition uses incompatible types: \"%s\" = \"%s\"", t, t, from)
	}
}

func (c *checker) assignableOrCast(t *ctypes.Type, x syntax.Expr) bool {
	from := decay(x.Info().Type)
	return assignable(t, x) || t.IsScalar() && from.IsScalar()
}

// use replaces a name by a copy of what it stands for.
func (c *checker) use(x syntax.Expr, in *inline, name string, args []syntax.Expr) *ctypes.Type {
	if len(args) != len(in.params) {
		c.fail(x, ProtoLen, "%s[ ] prototype mismatch: %s passed, %d expected", name, plural(len(args), "arg"), len(in.params))
	}
	values := make(map[string]syntax.Expr)
	for i, a := range args {
		p := in.params[i]
		t := decay(c.value(a))
		if !c.assignableOrCast(p.typ, a) {
			c.fail(a, ProtoArg, "%s[ ] argument #%d is incompatible with prototype:\n\tprototype: %s\n\t argument: %s", name, i+1, p.typ, t)
		}
		values[p.name] = c.convert(a, p.typ)
	}
	return c.stand(x, in.typ, c.copy(in.x, values))
}

func (c *checker) copy(x syntax.Expr, values map[string]syntax.Expr) syntax.Expr {
	return syntax.Clone(x, func(name string) syntax.Expr { return values[name] })
}

// stand lets y, converted to t, take the place of x.
func (c *checker) stand(x syntax.Expr, t *ctypes.Type, y syntax.Expr) *ctypes.Type {
	from := c.expr(y)
	if _, ok := Resolve(y).(*syntax.Xlate); ok {
		x.Info().Ref = y
		return from
	}
	c.operand(y, from)
	conv := c.convert(y, t)
	*x.Info() = *conv.Info()
	x.Info().Ref = conv
	return t
}

// convert is x as a t. Both have been checked.
func (c *checker) convert(x syntax.Expr, t *ctypes.Type) syntax.Expr {
	conv := &Convert{Pos: x.Position(), X: x}
	conv.Type = t
	if i := x.Info(); i.Const && t.IsScalar() {
		constant(conv, Narrow(t, i.Value))
	}
	return conv
}

// Resolve is the expression that takes the place of x, or x itself.
func Resolve(x syntax.Expr) syntax.Expr {
	for {
		y, ok := x.Info().Ref.(syntax.Expr)
		if !ok {
			return x
		}
		x = y
	}
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
		if t.members[m.Name] != nil {
			c.fail(m, XlateMemb, "translator member %s is defined twice", m.Name)
		}
		c.bind([]param{{t.param, t.from}}, func() { c.memberFits(m, f.Type) })
		t.members[m.Name] = m.X
	}
	c.xlators = append(c.xlators, t)
}

func (c *checker) memberFits(m *syntax.Translated, t *ctypes.Type) {
	x := syntax.Clone(m.X, nil)
	from := c.value(x)
	if !c.assignableOrCast(t, x) && !(isChars(t) && isStringLike(from)) {
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
	if !ok {
		c.fail(x, TypeMember, "%s is not a member of %s", x.Name, t.to)
	}
	e := t.members[x.Name]
	if e == nil {
		c.fail(x, XlateNoconv, "translator does not define conversion for member: %s", x.Name)
	}
	typ := f.Type
	if isChars(typ) {
		typ = c.str
	}
	value := c.convert(xl.X, t.from)
	return c.stand(x, typ, c.copy(e, map[string]syntax.Expr{t.param: value}))
}
