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

// A parameter is what the name of a param stands for while the expression it is of is checked.
type parameter struct{}

type param struct {
	name string
	typ  *ctypes.Type
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
	_, builtin := builtins[name]
	if c.defined(name) || c.reserved(name) && !(builtin && c.env.Options.Builtins) {
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
	for i, t := range c.prototype("inline "+d.Name.Name, keys, noVoid|allNamed) {
		list = append(list, param{keys[i].Decl.Name, t})
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
	if !assignable(t, x) {
		c.fail(n, OpIncompat, "inline %s definition uses incompatible types: \"%s\" = \"%s\"", t, t, from)
	}
}

// use replaces a name by a copy of what it stands for.
func (c *checker) use(x syntax.Expr, in *inline, name string, args []syntax.Expr) *ctypes.Type {
	if len(args) != len(in.params) {
		c.fail(x, ProtoLen, "%s[ ] prototype mismatch: %s passed, %d expected", name, plural(len(args), "arg"), len(in.params))
	}
	values := make(map[string]syntax.Expr)
	for i, a := range args {
		p := in.params[i]
		t := decay(c.any(a))
		if !assignable(p.typ, a) {
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
	if isAggregate(t) && ctypes.Same(t, from) {
		x.Info().Ref = y
		return t
	}
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
