package check

import (
	"fmt"

	"trapline/kernel/ctypes"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// binary checks an operator between two operands.
func (c *checker) binary(x *syntax.Binary) *ctypes.Type {
	if x.Op.IsAssign() {
		return c.assign(x)
	}
	if x.Op == syntax.COMMA {
		return c.comma(x)
	}
	a, b := c.operands(x)
	t := c.operate(x, x.Op, a, b)
	c.foldBinary(x, t)
	return t
}

// comma is x, y: of the type of y, which may be void.
func (c *checker) comma(x *syntax.Binary) *ctypes.Type {
	a, b := c.any(x.X), c.any(x.Y)
	switch {
	case a.Kind == ctypes.Dyn || b.Kind == ctypes.Dyn:
		c.fail(x, OpDyn, "operator , may not be applied to %s, %s", syntax.ExprString(x.X), syntax.ExprString(x.Y))
	case c.isAction(x.X) || c.isAction(x.Y):
		c.fail(x, OpAct, "operator , may not be applied to actions")
	}
	return b
}

// operands are the types of both sides. What is compared with an enumeration may be one of
// its enumerators.
func (c *checker) operands(x *syntax.Binary) (a, b *ctypes.Type) {
	outer := c.compared
	defer func() { c.compared = outer }()
	c.compared = nil
	a = decay(c.any(x.X))
	if x.Op.IsComparison() && a.Base().Kind == ctypes.Enum {
		c.compared = a.Base()
	}
	b = decay(c.any(x.Y))
	return a, b
}

// operate is the type of a op b. It does not depend on their values.
func (c *checker) operate(x *syntax.Binary, op syntax.Token, a, b *ctypes.Type) *ctypes.Type {
	switch op {
	case syntax.OROR, syntax.XORXOR, syntax.ANDAND:
		if !a.IsScalar() || !b.IsScalar() {
			c.fail(x, OpScalar, "operator %s requires operands of scalar type", op)
		}
		return ctypes.IntType
	case syntax.EQ, syntax.NE, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		c.comparable(x, op, a, b)
		return ctypes.IntType
	case syntax.ADD, syntax.SUB:
		return c.additive(x, op, a, b)
	case syntax.MUL, syntax.DIV:
		if !a.IsInt() || !b.IsInt() {
			c.fail(x, OpArith, "operator %s requires operands of arithmetic type", op)
		}
		return common(a, b)
	}
	if !a.IsInt() || !b.IsInt() {
		c.fail(x, OpInt, "operator %s requires operands of integral type", op)
	}
	if op == syntax.SHR {
		return promote(a)
	}
	return common(a, b) // of << too, other than in C: 1 << n has 64 bits if n has
}

// comparable checks the operands of a comparison: two integers, two strings, or pointers
// to the same; an integer may be compared with a pointer.
func (c *checker) comparable(x *syntax.Binary, op syntax.Token, a, b *ctypes.Type) {
	switch {
	case a.IsInt() && b.IsInt():
	case (a.IsString() || b.IsString()) && isStringLike(a) && isStringLike(b):
	case a.IsString() && isNull(x.Y) || b.IsString() && isNull(x.X): // ""
	case a.IsPointer() && b.IsPointer() && pointersMeet(a, b):
	case a.IsPointer() && b.IsInt() || a.IsInt() && b.IsPointer():
	default:
		c.incompatible(x, op, a, b)
	}
}

func (c *checker) incompatible(x *syntax.Binary, op syntax.Token, a, b *ctypes.Type) {
	c.fail(x, OpIncompat, "operands have incompatible types: \"%s\" %s \"%s\"", a, op, b)
}

// additive is + or -, where pointers count in elements.
func (c *checker) additive(x *syntax.Binary, op syntax.Token, a, b *ctypes.Type) *ctypes.Type {
	var t *ctypes.Type
	switch {
	case a.IsInt() && b.IsInt():
		return common(a, b)
	case isVFPtr(a) || isVFPtr(b):
		c.incompatible(x, op, a, b)
	case a.IsPointer() && b.IsInt():
		t = a
	case a.IsInt() && b.IsPointer() && op == syntax.ADD:
		t = b
	case a.IsPointer() && b.IsPointer() && op == syntax.SUB && pointersMeet(a, b):
		t = a
	default:
		c.incompatible(x, op, a, b)
	}
	if Stride(t) == 0 {
		c.fail(x, OpIncomplete, "operator %s cannot be applied to a pointer to %s: its size is not known", op, t.Base().Elem)
	}
	if a.IsPointer() && b.IsPointer() {
		return ctypes.Named("ptrdiff_t")
	}
	return t
}

// isVFPtr reports whether t is a pointer to void or to a function, which does not count.
func isVFPtr(t *ctypes.Type) bool {
	if !t.IsPointer() {
		return false
	}
	k := t.Base().Elem.Base().Kind
	return k == ctypes.Void || k == ctypes.Func
}

// Stride is how many bytes a pointer of type t moves when 1 is added, 0 if
// the element's size is not known.
func Stride(t *ctypes.Type) int {
	if t.IsString() {
		return 1
	}
	return t.Base().Elem.Base().Size
}

// assign is = or a compound assignment.
func (c *checker) assign(x *syntax.Binary) *ctypes.Type {
	// The right side comes first: x = x + 1 needs an x already.
	right := c.whole(x.Y)
	if ix, ok := x.X.(*syntax.Index); ok {
		c.notMdim(ix)
	}
	if a, ok := x.X.(*syntax.Agg); ok {
		c.fail(x, AggFunc, "@%s must be assigned the result of an aggregating function, as a statement", a.Name)
	}
	if x.Op != syntax.ASSIGN {
		return c.compound(x, right)
	}
	v := c.target(x, x.X, x.Op, right)
	if v.Type.IsString() && right.IsInt() && isNull(x.Y) {
		return v.Type // frees it
	}
	if v.Type.Base().Kind == ctypes.Array {
		c.fail(x, OpArrFun, "operator = may not be applied to an operand of type %s", v.Type)
	}
	if !assignable(v.Type, x.Y) {
		c.incompatible(x, x.Op, v.Type, right)
	}
	return v.Type
}

// compound is += and its kin, with a right side of type right.
func (c *checker) compound(x *syntax.Binary, right *ctypes.Type) *ctypes.Type {
	v := c.target(x, x.X, x.Op, compoundType(right))
	if op := x.Op.Binary(); (op == syntax.ADD || op == syntax.SUB) && (isVFPtr(v.Type) || isVFPtr(right)) {
		c.fail(x, OpVfptr, "operator %s may not be applied to a pointer to void or to a function", x.Op)
	}
	t := c.operate(x, x.Op.Binary(), v.Type, right)
	if t.IsPointer() != v.Type.IsPointer() {
		c.incompatible(x, x.Op, v.Type, right)
	}
	if o := x.Y.Info(); divides(x.Op.Binary()) && o.Const && o.Value == 0 {
		c.fail(x, DivZero, "expression contains division by zero")
	}
	return v.Type
}

// compoundType is the type of a variable that is made by x += y.
func compoundType(right *ctypes.Type) *ctypes.Type {
	if right.IsInt() {
		return ctypes.Named("int64_t")
	}
	return right
}

// incDec is ++ or --, before or after its operand.
func (c *checker) incDec(x syntax.Expr, op syntax.Token, operand syntax.Expr) *ctypes.Type {
	v := c.target(x, operand, op, ctypes.Named("int64_t"))
	switch {
	case !v.Type.IsScalar():
		c.fail(x, OpScalar, "operator %s requires an operand of scalar type", op)
	case isVFPtr(v.Type):
		c.fail(x, OpVfptr, "operator %s may not be applied to a pointer to void or to a function", op)
	case v.Type.IsPointer() && Stride(v.Type) == 0:
		c.fail(x, OpIncomplete, "operator %s cannot be applied to a pointer to %s: its size is not known", op, v.Type.Base().Elem)
	}
	return v.Type
}

// target finds the variable that an expression assigns to, or makes one of type t.
func (c *checker) target(x, lhs syntax.Expr, op syntax.Token, t *ctypes.Type) *Var {
	if m, ok := lhs.(*syntax.Macro); ok {
		lhs = c.macroTarget(m)
		defer func() { m.Info().Type = lhs.Info().Type }()
	}
	var v *Var
	if c.isMemory(lhs) {
		return &Var{Type: c.memoryTarget(lhs, op), Name: syntax.ExprString(lhs)}
	}
	if c.isPart(lhs) {
		t := c.expr(lhs)
		return &Var{Type: t, Name: syntax.ExprString(lhs)}
	}
	if ix, ok := lhs.(*syntax.Index); ok {
		v = c.elementTarget(x, ix, op, t)
	} else if name, old := c.lookup(lhs); name == nil {
		c.notTarget(x, lhs, op)
	} else if v = old; v == nil {
		v = c.create(x, name, op, t, nil)
	} else if v.Keys != nil {
		c.fail(lhs, IdentBadref, "associative array %s[ ] may not be assigned without an index", varName(v))
	}
	lhs.Info().Type, lhs.Info().Ref = v.Type, v
	return v
}

// macroTarget resolves $1 = ... if the argument is a name.
func (c *checker) macroTarget(m *syntax.Macro) syntax.Expr {
	text, _ := c.macroText(m, m.Name)
	x := c.macroExpr(m, text)
	m.Info().Ref = x
	return x
}

// elementTarget is target for v[keys].
func (c *checker) elementTarget(x syntax.Expr, ix *syntax.Index, op syntax.Token, t *ctypes.Type) *Var {
	name, v := c.lookup(ix.X)
	switch {
	case name == nil || v != nil && v.Keys == nil:
		c.value(ix) // its own errors come first
		c.notTarget(x, ix, op)
	case v != nil:
		c.element(ix, v)
	case name.scope == code.This:
		c.fail(ix, ArrLocal, "associative array may not be local: this->%s", name.name)
	case *name == varKey{code.Global, "regs"} || *name == varKey{code.Global, "uregs"} || *name == varKey{code.Global, "args"}:
		c.fail(x, OpWrite, "operator %s can only be applied to a writable variable, not to %s[ ]", op, name.name)
	default:
		v = c.create(x, name, op, t, c.keyTypes(name.name+"[ ]", ix.Args, false))
	}
	return v
}

// create makes a variable at its first assignment.
func (c *checker) create(x syntax.Expr, name *varKey, op syntax.Token, t *ctypes.Type, keys []*ctypes.Type) *Var {
	if name.scope == code.Global && c.reserved(name.name) {
		c.fail(x, OpWrite, "operator %s can only be applied to a writable variable, not to %s", op, name.name)
	}
	switch {
	case t.IsString():
		t = c.str
	case shown(t):
		c.fail(x, CgExpr, "%s may not be assigned: only a key of an aggregation may be a %s", name.name, t)
	case op != syntax.ASSIGN && (t.Kind == ctypes.Dyn || t.Base().Kind == ctypes.Void):
		c.fail(x, VarUndef, "%s has not yet been declared or assigned", name.name)
	case t.Kind == ctypes.Dyn || t.Base().Kind == ctypes.Void:
		c.fail(x, OpIncompat, "operator %s: %s has no type yet, and %s is not that of a variable", op, name.name, t)
	case !t.IsScalar() && !t.IsStruct() && !t.IsFloat():
		c.fail(x, DeclDynobj, "cannot have a variable of type %s: %s", t, name.name)
	}
	v := &Var{Name: name.name, Scope: name.scope, Type: t, Keys: keys}
	c.room(x, v)
	c.vars[*name] = v
	return v
}

func (c *checker) notTarget(x, lhs syntax.Expr, op syntax.Token) {
	c.value(lhs)
	if inMemory(lhs) {
		c.fail(x, OpWrite, "operator %s can only be applied to a variable, not to a symbol of the kernel", op)
	}
	c.fail(x, OpLval, "operator %s requires modifiable lvalue as an operand", op)
}

// plural is "1 key", "2 keys".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
