package check

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// A Part is what a member or an element of a D variable refers to: a piece of it.
type Part struct {
	Var *Var
}

// A TypedArg is args[N].
type TypedArg int

// aggregate types are those whose variables have parts.
func isAggregate(t *ctypes.Type) bool { return t.IsStruct() || t.Base().Kind == ctypes.Array }

// Root returns the variable that x, a variable of an aggregate type or a part of one, is
// made of. Nil: x is something else.
func Root(x syntax.Expr) *Var {
	switch ref := Resolve(x).Info().Ref.(type) {
	case Part:
		return ref.Var
	case *Var:
		if isAggregate(ref.Type) {
			return ref
		}
	}
	return nil
}

// RootOf is Root, and the variable that x is if that is a string.
func RootOf(x syntax.Expr) *Var {
	if v, ok := Resolve(x).Info().Ref.(*Var); ok && v.Type.IsString() {
		return v
	}
	return Root(x)
}

// FieldOf is the member that x names.
func FieldOf(x *syntax.Member) ctypes.Field {
	t := x.X.Info().Type
	if x.Arrow {
		t = decay(t).Base().Elem
	}
	f, _ := t.Member(x.Name)
	return f
}

// BitField is the member that x names if it is a bit-field.
func BitField(x syntax.Expr) (f ctypes.Field, ok bool) {
	m, ok := Resolve(x).(*syntax.Member)
	if !ok || isLocal(m) {
		return f, false
	}
	f = FieldOf(m)
	return f, f.Bits > 0
}

func (c *checker) member(x *syntax.Member) *ctypes.Type {
	if c.namesLocal(x) {
		return c.local(x)
	}
	t := c.expr(x.X)
	if xl, ok := Resolve(x.X).(*syntax.Xlate); ok {
		if t.IsPointer() != x.Arrow {
			c.fail(x, OpPtr, "operator %s cannot be applied to a value of type %s", arrow(x), t)
		}
		return c.translated(x, xl)
	}
	if x.Arrow {
		if t = decay(t); !t.IsPointer() {
			c.fail(x, OpPtr, "operator -> must be applied to a pointer, not to a value of type %s", x.X.Info().Type)
		}
		t = t.Base().Elem
	}
	if !t.IsStruct() {
		c.fail(x, OpSou, "operator %s cannot be applied to a value of type %s", arrow(x), t)
	}
	if b := t.Base(); b.Size == 0 && b.Fields == nil {
		c.fail(x, OpIncomplete, "operator %s cannot be applied to a forward declaration: nothing is known of the members of %s", arrow(x), t)
	}
	f, ok := t.Member(x.Name)
	if !ok {
		c.fail(x, TypeMember, "%s is not a member of %s", x.Name, t)
	}
	return c.memberOf(x, f)
}

func arrow(x *syntax.Member) string {
	if x.Arrow {
		return "->"
	}
	return "."
}

// memberOf says where the member lies: in a variable, in the guest, or nowhere, if x.X is
// a structure that was computed. Then the member is looked up in what it is computed of.
func (c *checker) memberOf(x *syntax.Member, f ctypes.Field) *ctypes.Type {
	if x.Arrow {
		return f.Type
	}
	if v := Root(x.X); v != nil {
		if t := x.X.Info().Type; f.Offset+f.Type.Bytes() > t.Bytes() {
			c.fail(x, TypeMember, "%s does not lie within %s, as the type information has it", x.Name, t)
		}
		x.Info().Ref = Part{v}
		return f.Type
	}
	switch y := Resolve(x.X).(type) {
	case *syntax.Cond:
		return c.stand(x, f.Type, &syntax.Cond{Pos: x.Pos, C: y.C, X: dot(x, y.X), Y: dot(x, y.Y)})
	case *syntax.Binary:
		if y.Op == syntax.COMMA {
			return c.stand(x, f.Type, &syntax.Binary{Pos: x.Pos, Op: syntax.COMMA, X: y.X, Y: dot(x, y.Y)})
		}
	}
	if !inMemory(x.X) {
		c.fail(x, OpLval, "operator . cannot be applied here: %s is not an object in memory", syntax.ExprString(x.X))
	}
	return f.Type
}

func dot(x *syntax.Member, of syntax.Expr) syntax.Expr {
	return &syntax.Member{Pos: x.Pos, X: of, Name: x.Name}
}

// part is x[i] of a D variable's array.
func (c *checker) part(x *syntax.Index, v *Var) *ctypes.Type {
	t := x.X.Info().Type.Base()
	c.oneIndex(x)
	x.Info().Ref = Part{v}
	return t.Elem
}

func (c *checker) oneIndex(x *syntax.Index) {
	if len(x.Args) != 1 {
		c.fail(x, ArrBadref, "%s is not an associative array: it takes one index, %d passed", syntax.ExprString(x.X), len(x.Args))
	}
	if it := c.any(x.Args[0]); !it.IsInt() {
		c.fail(x, OpInt, "operator [ ] requires an index of integral type")
	}
}

// arg is args[N].
func (c *checker) arg(x *syntax.Index) *ctypes.Type {
	if c.clause == nil {
		c.fail(x, ArgsNone, "args[ ] may not be referenced outside of a clause")
	}
	if t, ok := c.xlatedArg(x); ok {
		return t
	}
	types := c.argTypes(x)
	i := c.constIndex(x, len(types))
	t := decay(types[i])
	if !t.IsScalar() {
		c.fail(x, ArgsType, "args[%d] is of type %s, which does not fit into a register", i, t)
	}
	x.Info().Ref = TypedArg(i)
	return t
}

// argTypes are those of all the clause's probes.
func (c *checker) argTypes(x syntax.Node) (types []*ctypes.Type) {
	for i, d := range c.clause.Probes {
		var got []*ctypes.Type
		if c.env.Args != nil {
			got = c.env.Args(d.Text)
		}
		switch {
		case len(got) == 0:
			c.fail(x, ArgsNone, "args[ ] may not be referenced: no argument types are known of %s", d.Text)
		case i > 0 && !sameTypes(types, got):
			c.fail(x, ArgsMulti, "args[ ] may not be referenced because the probes of the clause have different arguments")
		}
		types = got
	}
	return types
}

func sameTypes(a, b []*ctypes.Type) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !ctypes.Same(a[i], b[i]) {
			return false
		}
	}
	return true
}

// offsetof is the place of a member.
func (c *checker) offsetof(x *syntax.Offsetof) *ctypes.Type {
	t := c.typeName(x.Of)
	if !t.IsStruct() {
		c.fail(x, OffsetofType, "offsetof operand must be a struct or union type, not %s", t)
	}
	if b := t.Base(); b.Size == 0 && b.Fields == nil {
		c.fail(x, OffsetofType, "offsetof operand must be a struct or union type: nothing is known of the members of %s", t)
	}
	f, ok := t.Member(x.Member)
	switch {
	case !ok:
		c.fail(x, Unknown, "failed to determine offset of %s: it is not a member of %s", x.Member, t)
	case f.Bits > 0:
		c.fail(x, OffsetofBitfield, "cannot take offset of a bit-field: %s", x.Member)
	}
	constant(x, uint64(f.Offset))
	return ctypes.Named("size_t")
}

// maxVarBytes bounds the memory of variables that are arrays and structures.
const maxVarBytes = 16 << 20

// room counts the memory of a new variable.
func (c *checker) room(n syntax.Node, v *Var) {
	if isAggregate(v.Type) {
		c.bytes += v.Type.Bytes()
		if v.Type.Bytes() > code.MaxSize || c.bytes > maxVarBytes {
			c.fail(n, DeclArrbig, "variables are too large: %s", v.Name)
		}
	}
}

// isPart reports whether an assignment to x changes a part of a variable.
func (c *checker) isPart(x syntax.Expr) bool {
	steps := 0
	for {
		switch y := x.(type) {
		case *syntax.Member:
			if y.Arrow {
				return false
			}
			x = y.X
		case *syntax.Index:
			if _, v := c.lookup(y.X); v != nil && v.Keys != nil {
				return steps > 0 && isAggregate(v.Type)
			}
			x = y.X
		default:
			_, v := c.lookup(x)
			return steps > 0 && v != nil && v.Keys == nil && isAggregate(v.Type)
		}
		steps++
	}
}
