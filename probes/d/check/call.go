package check

import (
	"fmt"
	"maps"
	"slices"

	"trapline/kernel/ctypes"
	"trapline/probes/d/agg"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// functions by name: code.Sub, code.Act or agg.Fn.
var functions = func() map[string]any {
	m := map[string]any{}
	for _, a := range code.Acts() {
		for _, name := range a.Names() {
			m[name] = a
		}
	}
	for _, fn := range agg.Functions() {
		m[fn.String()] = fn
	}
	for _, s := range code.Subs() {
		m[s.String()] = s
	}
	return m
}()

// Functions are the names of all functions: subroutines, actions, and aggregating ones.
func Functions() []string { return slices.Sorted(maps.Keys(functions)) }

// callee finds what a call calls.
func (c *checker) callee(x *syntax.Call) (name string, fn any) {
	id := x.Fun.(*syntax.Ident)
	fn, ok := c.functionNamed(id.Name)
	c.lockArg(x, id.Name)
	if why := notHere[id.Name]; !ok && why != "" {
		c.fail(x.Fun, FuncUndef, "%s( ) has no meaning here: %s", id.Name, why)
	}
	if !ok {
		if _, builtin := c.builtin(id.Name); builtin || c.defined(id.Name) {
			c.fail(x.Fun, FuncIdkind, "%s is a variable and not a function", id.Name)
		}
		c.fail(x.Fun, FuncUndef, "undefined function name: %s", id.Name)
	}
	x.Info().Ref = fn
	return id.Name, fn
}

// call is a call as an operand. Only subroutines have a value; the others are of a type that what
// they are an operand of refuses, after their own arguments have been checked.
func (c *checker) call(x *syntax.Call) *ctypes.Type {
	name, fn := c.callee(x)
	switch fn := fn.(type) {
	case code.Sub:
		return c.subroutine(x, fn)
	case agg.Fn:
		c.aggArgs(x, name, fn)
		return aggFnType
	}
	c.action(x, fn.(code.Act))
	return x.Info().Type
}

// isAction reports whether x, which has been checked, is a call of an action.
func (c *checker) isAction(x syntax.Expr) bool {
	call, ok := x.(*syntax.Call)
	return ok && isAct(call.Info().Ref)
}

// args checks the arguments of a call, before their number: what is wrong in one of them comes
// first. An aggregation may be one that is not there yet.
func (c *checker) args(x *syntax.Call) {
	for _, a := range x.Args {
		if g, ok := a.(*syntax.Agg); ok && c.aggs[g.Name] == nil {
			g.Info().Type = aggType
			continue
		}
		c.any(a)
	}
}

func (c *checker) subroutine(x *syntax.Call, s code.Sub) *ctypes.Type {
	least, most := s.Args()
	if s == code.SubStrtok { // the string, which may be NULL, is written first
		least = 2
	}
	c.args(x)
	if n := len(x.Args); n < least || n > most {
		c.protoLen(x, s.String(), least, most)
	}
	proto, ok := protos[s]
	for i, a := range x.Args {
		c.subArg(s, i, proto.arg(s, i), a)
	}
	switch _, result := s.Signature(); {
	case result == code.String:
		return c.str
	case ok:
		return proto.result
	}
	return ctypes.IntType
}

func (c *checker) subArg(s code.Sub, i int, want string, a syntax.Expr) {
	t := c.wholeType(a)
	switch {
	case want == "string" && (isStringLike(t) || isVoidPointer(t)):
	case want == "int" && t.IsInt():
	case want == "uintptr_t" && t.IsScalar():
	case want == "void *" && t.IsPointer():
	case s == code.SubStrtok && i == 0 && isNull(a):
	default:
		c.protoArg(a, s.String(), i, want, t)
	}
}

// protoLen fails because of the number of arguments; most is -1 if there is no limit.
func (c *checker) protoLen(x *syntax.Call, name string, least, most int) {
	expected := fmt.Sprint(least)
	switch {
	case most < 0:
		expected = "at least " + expected
	case most > least:
		expected = fmt.Sprintf("%d to %d", least, most)
	}
	c.fail(x, ProtoLen, "%s( ) prototype mismatch: %s passed, %s expected", name, plural(len(x.Args), "arg"), expected)
}

func (c *checker) protoArg(a syntax.Expr, name string, i int, want string, got *ctypes.Type) {
	c.fail(a, ProtoArg, "%s( ) argument #%d is incompatible with prototype:\n\tprototype: %s\n\t argument: %s",
		name, i+1, want, got)
}

// exprStmt is a statement: an action, an aggregation, or an expression for its effect.
func (c *checker) exprStmt(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.Call:
		if _, fn := c.callee(x); isAct(fn) {
			c.action(x, fn.(code.Act))
			return
		}
	case *syntax.Binary:
		if a, ok := x.X.(*syntax.Agg); ok && x.Op == syntax.ASSIGN {
			c.aggregate(x, a)
			return
		}
	}
	switch t := c.expr(x); t.Base().Kind {
	case ctypes.Void:
	case ctypes.Dyn:
		c.fail(x, AggNull, "expression has null effect: %s", syntax.ExprString(x))
	default:
		c.operand(x, t)
	}
}

func isAct(fn any) bool {
	_, ok := fn.(code.Act)
	return ok
}

func (c *checker) action(x *syntax.Call, act code.Act) {
	x.Info().Type = ctypes.VoidType
	c.args(x)
	name := x.Fun.(*syntax.Ident).Name
	switch act.Takes() {
	case code.TakesNothing:
		if len(x.Args) > 0 {
			c.protoLen(x, name, 0, 0)
		}
	case code.TakesInt:
		c.intAction(x, name)
	case code.TakesValue:
		c.trace(x)
	case code.TakesObject:
		c.print(x)
	case code.TakesMemory:
		c.tracemem(x)
	case code.TakesStrings:
		c.setopt(x)
	case code.TakesFormat:
		c.printfLike(x, name)
	case code.TakesFrames, code.TakesAddress:
		c.dynamic(x, act)
	case code.TakesAgg:
		c.aggAction(x, act)
	case code.TakesAggs:
		c.printa(x)
	}
}

func (c *checker) trace(x *syntax.Call) {
	if len(x.Args) != 1 {
		c.protoLen(x, "trace", 1, 1)
	}
	switch a := x.Args[0]; a.Info().Type.Base().Kind {
	case ctypes.Void:
		c.fail(a, TraceVoid, "trace( ) argument #1 may not be of type void: %s", syntax.ExprString(a))
	case ctypes.Dyn:
		if a.Info().Type == aggType {
			c.fail(a, TraceAgg, "trace( ) argument #1 may not be of type %s: %s", a.Info().Type, syntax.ExprString(a))
		}
		c.notInside(a)
	}
}

// notInside refuses what has a meaning of its own only as a key, a statement or what is assigned to an
// aggregation: a stack, a symbol, an aggregating function.
func (c *checker) notInside(x syntax.Expr) {
	c.fail(x, CgExpr, "%s may not be called from a D expression", syntax.ExprString(x))
}

// intAction is exit(), or an action that takes the number of a speculation.
func (c *checker) intAction(x *syntax.Call, name string) {
	if len(x.Args) != 1 {
		c.protoLen(x, name, 1, 1)
	}
	if t := x.Args[0].Info().Type; !t.IsInt() {
		c.protoArg(x.Args[0], name, 0, "int", t)
	}
}

// positive reports whether x is a constant from 1 to most.
func positive(x syntax.Expr, most uint64) bool {
	i := x.Info()
	return i.Const && i.Value > 0 && i.Value <= most
}
