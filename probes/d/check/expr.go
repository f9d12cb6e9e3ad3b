package check

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// value checks an expression that is used as an operand, where nothing is said of its type, and
// returns that.
func (c *checker) value(x syntax.Expr) *ctypes.Type { return c.operand(x, c.expr(x)) }

// any checks an operand that may turn out to be of type void, an aggregation, or another thing
// without a value: the check of the operator's types comes after it and says what is wrong.
func (c *checker) any(x syntax.Expr) *ctypes.Type {
	t := c.expr(x)
	switch t.Base().Kind {
	case ctypes.Void, ctypes.Dyn:
		return t
	}
	return c.operand(x, t)
}

// operand refuses what has a type t but no value.
func (c *checker) operand(x syntax.Expr, t *ctypes.Type) *ctypes.Type {
	if xl, ok := Resolve(x).(*syntax.Xlate); ok {
		c.make(x, xl, t)
	}
	if n := t.Bytes(); t.IsStruct() && (n <= 0 || n > code.MaxSize) {
		c.fail(x, OpIncomplete, "%s is of type %s, of %d bytes, which is not the size of a value", syntax.ExprString(x), t, n)
	}
	switch t.Base().Kind {
	case ctypes.Func:
		c.fail(x, OpArrFun, "%s is of type %s and may not be used as a whole", syntax.ExprString(x), t)
	case ctypes.Dyn:
		c.fail(x, OpDyn, "%s may not be used as an operand: %s", t, syntax.ExprString(x))
	case ctypes.Void:
		c.fail(x, OpAct, "expression of type void may not be used as an operand: %s", syntax.ExprString(x))
	}
	return t
}

// expr checks an expression and notes its type.
func (c *checker) expr(x syntax.Expr) *ctypes.Type {
	if c.exprs++; c.exprs > maxExprs {
		c.fail(x, Unknown, "program is too complex: more than %d expressions with all inlines written out", maxExprs)
	}
	t := c.exprType(x)
	x.Info().Type = t
	return t
}

func (c *checker) exprType(x syntax.Expr) *ctypes.Type {
	switch x := x.(type) {
	case *syntax.IntLit:
		return c.intLit(x)
	case *syntax.StringLit:
		if len(x.Value) >= code.MaxSize {
			c.fail(x, Unknown, "string literal of %d bytes is too long", len(x.Value))
		}
		return c.str
	case *syntax.Ident:
		return c.ident(x)
	case *syntax.ScopedVar:
		return c.scopedVar(x)
	case *syntax.Symbol:
		return c.symbol(x)
	case *syntax.Macro:
		return c.macro(x)
	case *syntax.Unary:
		return c.unary(x)
	case *syntax.Postfix:
		return c.incDec(x, x.Op, x.X)
	case *syntax.Binary:
		return c.binary(x)
	case *syntax.Cond:
		return c.cond(x)
	case *syntax.Index:
		return c.index(x)
	case *syntax.Member:
		return c.member(x)
	case *syntax.Call:
		return c.call(x)
	case *syntax.Cast:
		return c.cast(x)
	case *syntax.SizeofType:
		return c.sizeof(x, c.typeName(x.Of))
	case *syntax.Offsetof:
		return c.offsetof(x)
	case *syntax.Xlate:
		return c.xlate(x)
	case *Convert:
		return x.Type
	}
	return c.aggOperand(x.(*syntax.Agg))
}

// constant makes x a constant.
func constant(x syntax.Expr, v uint64) {
	x.Info().Const, x.Info().Value = true, v
}

// intLit finds the first type of C's list that holds the literal (C, 6.4.4.1). A
// character has type int if it fits.
func (c *checker) intLit(x *syntax.IntLit) *ctypes.Type {
	constant(x, x.Value)
	decimal := x.Text[0] != '0' && x.Text[0] != '\''
	unsigned, long := false, false
	if x.Text[0] != '\'' {
		unsigned, long = suffix(x.Text)
	}
	switch v := x.Value; {
	case !unsigned && !long && v < 1<<31:
		return ctypes.IntType
	case !long && v < 1<<32 && (unsigned || !decimal):
		return ctypes.UnsignedType
	case !unsigned && v < 1<<63:
		return ctypes.LongType
	}
	return ctypes.UlongType
}

func suffix(text string) (unsigned, long bool) {
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] | 0x20 {
		case 'u':
			unsigned = true
		case 'l':
			long = true
		default:
			return unsigned, long
		}
	}
	return unsigned, long
}

func (c *checker) unary(x *syntax.Unary) *ctypes.Type {
	switch x.Op {
	case syntax.INC, syntax.DEC:
		return c.incDec(x, x.Op, x.X)
	case syntax.MUL:
		return c.deref(x, c.any(x.X), x.X)
	case syntax.AND:
		return c.addressOf(x)
	case syntax.SIZEOF:
		return c.sizeof(x, c.measured(x.X))
	case syntax.STRINGOF:
		return c.stringof(x)
	}
	return c.arith(x)
}

// arith is + - ~ !.
func (c *checker) arith(x *syntax.Unary) *ctypes.Type {
	t := decay(c.any(x.X))
	switch {
	case x.Op == syntax.NOT && !t.IsScalar():
		c.fail(x, OpScalar, "operator ! requires an operand of scalar type")
	case x.Op == syntax.TILDE && !t.IsInt():
		c.fail(x, OpInt, "operator ~ requires an operand of integral type")
	case x.Op != syntax.NOT && !t.IsInt():
		c.fail(x, OpArith, "operator %s requires an operand of arithmetic type", x.Op)
	}
	t = promote(t)
	if x.Op == syntax.NOT {
		t = ctypes.IntType
	}
	if o := x.X.Info(); o.Const {
		constant(x, fold1(x.Op, t, o.Value))
	}
	return t
}

func (c *checker) stringof(x *syntax.Unary) *ctypes.Type {
	t := c.any(x.X)
	if !t.IsScalar() && !isStringLike(t) {
		c.fail(x, StringofType, "cannot apply stringof to a value of type '%s'", t)
	}
	return c.str
}

// whole is the type that an operand has as a key, as the value of a new variable and in a
// subroutine: an array of char is a string, and not the address where one was.
func (c *checker) whole(x syntax.Expr) *ctypes.Type {
	c.any(x)
	return c.wholeType(x)
}

// wholeType is whole of what has been checked.
func (c *checker) wholeType(x syntax.Expr) *ctypes.Type {
	t := x.Info().Type
	if isChars(t) && t.Base().Kind == ctypes.Array {
		return c.str
	}
	return decay(t)
}

// IsArray reports whether t is an array of a known size, which trace() records as a whole.
func IsArray(t *ctypes.Type) bool {
	return t.Base().Kind == ctypes.Array && t.Bytes() > 0 && t.Bytes() <= code.MaxSize
}

// measured is the type of the operand of sizeof: a name may be that of a type.
func (c *checker) measured(x syntax.Expr) *ctypes.Type {
	if id, ok := x.(*syntax.Ident); ok && !c.defined(id.Name) && c.locals[id.Name] == nil && !c.reserved(id.Name) {
		if t, ok := c.namedType(id.Name); ok {
			id.Type = t
			return t
		}
	}
	t := c.any(x)
	if s, ok := x.(*syntax.StringLit); ok {
		return ctypes.StringOf(len(s.Value) + 1)
	}
	if f, ok := BitField(x); ok {
		c.fail(x, SizeofBitfield, "cannot apply sizeof to a bit-field: %s", f.Name)
	}
	return t
}

func (c *checker) sizeof(x syntax.Expr, t *ctypes.Type) *ctypes.Type {
	if t.Bytes() == 0 {
		c.fail(x, SizeofType, "cannot apply sizeof to an operand of type %s, of which the size is not known", t)
	}
	constant(x, uint64(t.Bytes()))
	return ctypes.Named("size_t")
}

// deref is the type of what a value of type t points to.
func (c *checker) deref(x syntax.Expr, t *ctypes.Type, operand syntax.Expr) *ctypes.Type {
	t = decay(t)
	if t.IsString() {
		return ctypes.CharType
	}
	if !t.IsPointer() {
		c.fail(x, DerefNonptr, "cannot dereference non-pointer type: %s is of type %s", syntax.ExprString(operand), t)
	}
	elem := t.Base().Elem
	switch b := elem.Base(); {
	case b.Kind == ctypes.Void:
		c.fail(x, DerefVoid, "cannot dereference pointer to void")
	case b.Kind == ctypes.Func:
		c.fail(x, DerefFunc, "cannot dereference pointer to function")
	case b.Size == 0:
		c.fail(x, OpIncomplete, "cannot dereference pointer to %s: its definition is not known", elem)
	}
	return elem
}

// addressOf is &x: of memory, or of an element or a member of a variable, but not of a variable.
func (c *checker) addressOf(x *syntax.Unary) *ctypes.Type {
	if s, ok := x.X.(*syntax.Symbol); ok {
		return ctypes.PointerTo(c.symbolType(s))
	}
	t := c.any(x.X)
	switch y := Resolve(x.X); {
	case isVar(y) || t.Kind == ctypes.Dyn:
		c.fail(x, AddrofVar, "cannot take address of a D variable: %s", syntax.ExprString(x.X))
	case isBitField(y):
		c.fail(x, AddrofBitfield, "cannot take address of a bit-field: %s", syntax.ExprString(x.X))
	case !inMemory(y) && Root(y) == nil && !isPart(y):
		c.fail(x, AddrofLval, "unacceptable operand for unary & operator: %s", syntax.ExprString(x.X))
	}
	return ctypes.PointerTo(t)
}

// isVar reports whether x is a variable, an element of an associative array, or a builtin.
func isVar(x syntax.Expr) bool {
	switch x.Info().Ref.(type) {
	case *Var, Arg, TypedArg, Reg, UReg, code.Builtin:
		return true
	}
	return false
}

func isPart(x syntax.Expr) bool {
	_, ok := x.Info().Ref.(Part)
	return ok
}

func isBitField(x syntax.Expr) bool {
	_, ok := BitField(x)
	return ok
}

// symbolType is the type of a symbol that only its address is wanted of.
func (c *checker) symbolType(s *syntax.Symbol) *ctypes.Type {
	t := ctypes.VoidType
	size := c.symbolAddr(s)
	if typ, ok := c.env.Types.Variable(s.Name); ok {
		t = typ
	} else if size == 1 || size == 2 || size == 4 || size == 8 {
		t = c.symbol(s)
	}
	s.Info().Type = t
	return t
}

// inMemory reports whether x is an object in the guest's memory.
func inMemory(x syntax.Expr) bool {
	switch x := Resolve(x).(type) {
	case *syntax.Ident:
		return x.Info().Ref == parameter{} // whatever it will be
	case *syntax.Unary:
		return x.Op == syntax.MUL
	case *syntax.Index:
		return x.Info().Ref == nil
	case *syntax.Member:
		return isLocal(x) || x.Info().Ref == nil && (x.Arrow || inMemory(x.X))
	case *syntax.Symbol:
		return true
	}
	return false
}

func (c *checker) cond(x *syntax.Cond) *ctypes.Type {
	test, a, b := c.any(x.C), c.any(x.X), c.any(x.Y)
	switch {
	case !decay(test).IsScalar():
		c.fail(x, OpScalar, "operator ?: requires a first operand of scalar type")
	case c.isAction(x.X) || c.isAction(x.Y):
		c.fail(x, OpAct, "operator ?: may not be applied to actions")
	}
	t := c.meet(x, a, b, x.X, x.Y)
	if k := x.C.Info(); k.Const {
		taken := x.X
		if k.Value == 0 {
			taken = x.Y
		}
		if i := taken.Info(); i.Const && t.IsScalar() {
			constant(x, convert(t, i.Type, i.Value))
		}
	}
	return t
}

// meet is the type of ?: with results of the types a and b.
func (c *checker) meet(x *syntax.Cond, a, b *ctypes.Type, ax, bx syntax.Expr) *ctypes.Type {
	switch {
	case a.IsInt() && b.IsInt():
		return common(a, b)
	case isStringLike(a) && isStringLike(b) && (a.IsString() || b.IsString()):
		return longer(a, b, c.str)
	case decay(a).IsPointer() && assignable(decay(a), bx):
		return decay(a)
	case decay(b).IsPointer() && assignable(decay(b), ax):
		return decay(b)
	case a.IsStruct() && ctypes.Same(a, b):
		return a
	}
	c.fail(x, OpIncompat, "operator ?: operands have incompatible types: \"%s\" : \"%s\"", a, b)
	return nil
}

// longer is the string type that holds values of both types.
func longer(a, b, str *ctypes.Type) *ctypes.Type {
	size := 0
	for _, t := range []*ctypes.Type{a, b} {
		if !t.IsString() {
			return str
		}
		size = max(size, t.Bytes())
	}
	return ctypes.StringOf(size)
}

func (c *checker) cast(x *syntax.Cast) *ctypes.Type {
	to := c.typeName(x.To)
	t := decay(c.any(x.X))
	switch {
	case to.Base().Kind == ctypes.Void && t.Kind != ctypes.Dyn && !c.isAction(x.X):
	case to.IsStruct() && ctypes.Same(to, t):
		x.Info().Ref = x.X
	case to.Base().Kind == ctypes.Enum && to.Bytes() == 0:
		c.fail(x, OpIncomplete, "cannot cast to %s: its definition is not known", to)
	case to.IsString() && (t.IsScalar() || isStringLike(t)):
	case to.IsScalar() && t.IsScalar():
	default:
		c.fail(x, CastInval, "invalid cast expression: \"%s\" to \"%s\"", t, to)
	}
	if i := x.X.Info(); i.Const && to.IsScalar() {
		constant(x, Narrow(to, i.Value))
	}
	return to
}

// index is an element of an associative array, of regs[], or of an array in memory.
func (c *checker) index(x *syntax.Index) *ctypes.Type {
	c.notMdim(x)
	name, v := c.lookup(x.X)
	switch {
	case v == nil && name != nil && c.inlines[name.name] != nil && c.inlines[name.name].params != nil:
		return c.use(x, c.inlines[name.name], name.name, x.Args)
	case v != nil && v.Keys != nil:
		return c.element(x, v)
	case v == nil && name != nil && *name == (varKey{code.Global, "regs"}):
		return c.regs(x, "regs")
	case v == nil && name != nil && *name == (varKey{code.Global, "uregs"}):
		t := c.regs(x, "uregs")
		x.Info().Ref = UReg(x.Info().Ref.(Reg))
		return t
	case v == nil && name != nil && *name == (varKey{code.Global, "args"}):
		return c.arg(x)
	}
	t := c.any(x.X)
	if v := Root(x.X); v != nil && t.Base().Kind == ctypes.Array {
		return c.part(x, v)
	}
	c.oneIndex(x)
	return c.deref(x, t, x.X)
}

// notMdim refuses @a[k][k].
func (c *checker) notMdim(x *syntax.Index) {
	if a, ok := x.X.(*syntax.Agg); ok {
		c.fail(x, AggMdim, "aggregation @%s may have only one list of keys", a.Name)
	}
}

// regs is regs[N] or uregs[N]. The index must be constant.
func (c *checker) regs(x *syntax.Index, name string) *ctypes.Type {
	if len(x.Args) != 1 {
		c.fail(x, ProtoLen, "%s[ ] prototype mismatch: %d keys passed, 1 expected", name, len(x.Args))
	}
	c.any(x.Args[0])
	i := x.Args[0].Info()
	if !i.Const || !i.Type.IsInt() {
		c.fail(x, RegsIdx, "%s[ ] requires a constant index", name)
	}
	for _, n := range c.env.Regs {
		if uint64(n) == i.Value {
			x.Info().Ref = Reg(n)
			return ctypes.Named("uint64_t")
		}
	}
	c.fail(x, RegsIdx, "index %d is out of range for %s[ ]", int64(i.Value), name)
	return nil
}

// element is v[keys], an element of an associative array that exists.
func (c *checker) element(x *syntax.Index, v *Var) *ctypes.Type {
	c.keys(x, varName(v)+"[ ]", x.Args, v.Keys, false)
	x.Info().Ref = v
	return v.Type
}

// keys checks keys against those of the first use or of the declaration. Those of an
// aggregation may be stacks and symbols.
func (c *checker) keys(x syntax.Expr, name string, args []syntax.Expr, want []*ctypes.Type, ofAgg bool) {
	got := c.keyTypes(name, args, ofAgg)
	if len(got) != len(want) {
		c.fail(x, ProtoLen, "%s prototype mismatch: %s passed, %d expected", name, plural(len(got), "key"), len(want))
	}
	for i, t := range got {
		if !keyFits(want[i], t) {
			c.fail(args[i], ProtoArg, "%s key #%d is incompatible with prototype:\n\tprototype: %s\n\t      key: %s",
				name, i+1, want[i], t)
		}
	}
}

// keyTypes are the types that keys have at the first use.
func (c *checker) keyTypes(name string, args []syntax.Expr, ofAgg bool) []*ctypes.Type {
	types := []*ctypes.Type{}
	for i, a := range args {
		t := c.key(a, ofAgg)
		if !t.IsScalar() && !t.IsString() && !t.IsStruct() && !shown(t) {
			c.fail(a, KeyType, "%s key #%d may not be of type %s", name, i+1, t)
		}
		if t.IsString() {
			t = c.str
		}
		types = append(types, t)
	}
	return types
}

func keyFits(want, got *ctypes.Type) bool {
	if want.Kind == ctypes.Dyn || got.Kind == ctypes.Dyn {
		return ctypes.Same(want, got) || isStack(want) && isStack(got)
	}
	return want.IsScalar() && got.IsScalar() || want.IsString() && isStringLike(got) || want.IsStruct() && ctypes.Same(want, got)
}
