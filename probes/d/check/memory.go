package check

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/syntax"
)

// isMemory reports whether an assignment to x changes what a pointer points to.
func (c *checker) isMemory(x syntax.Expr) bool {
	switch x := x.(type) {
	case *syntax.Unary:
		return x.Op == syntax.MUL
	case *syntax.Member:
		return x.Arrow || c.isMemory(x.X)
	case *syntax.Index:
		name, v := c.lookup(x.X)
		switch {
		case v != nil:
			return v.Keys == nil && (v.Type.IsPointer() || v.Type.IsString())
		case name != nil || c.isPart(x):
			return false
		}
		switch x.X.(type) {
		case *syntax.Cast, *syntax.Call, *syntax.Member, *syntax.Index, *syntax.Binary, *syntax.Unary:
			return true
		}
	}
	return false
}

// memoryTarget is the type of an object in memory that is assigned to. Whether it is in
// the scratch space, which may be written, turns out at run time.
func (c *checker) memoryTarget(x syntax.Expr, op syntax.Token) *ctypes.Type {
	t := c.expr(x)
	if !t.IsScalar() || !inMemory(x) || isLocal(x) {
		c.fail(x, OpLval, "operator %s cannot be applied to %s of type %s: only scalars can be stored in memory", op, syntax.ExprString(x), t)
	}
	return t
}

// InMemory reports whether x, which has been checked, is an object in the guest's memory.
func InMemory(x syntax.Expr) bool { return inMemory(x) }
