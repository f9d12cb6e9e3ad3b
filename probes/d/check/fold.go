package check

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/syntax"
)

// Folding does what the code that package compile makes would do: 64-bit arithmetic,
// with results of unsigned int, which C lets wrap, cut to their 4 bytes.

// Wraps reports whether results of type t are cut after an operation that may carry out
// of them.
func Wraps(op syntax.Token, t *ctypes.Type) bool {
	switch op {
	case syntax.ADD, syntax.SUB, syntax.MUL, syntax.SHL, syntax.TILDE:
		return t.IsInt() && t.Bytes() < 8 && !t.IsSigned()
	}
	return false
}

// Converts reports whether an operand of type from has to be cut to take part in an
// operation in type to: a negative value in an unsigned one.
func Converts(to, from *ctypes.Type) bool {
	return to.IsInt() && from.IsInt() && to.Bytes() < 8 && !to.IsSigned() && from.IsSigned()
}

func convert(to, from *ctypes.Type, v uint64) uint64 {
	if Converts(to, from) {
		return Narrow(to, v)
	}
	return v
}

func wrap(op syntax.Token, t *ctypes.Type, v uint64) uint64 {
	if Wraps(op, t) {
		return Narrow(t, v)
	}
	return v
}

func fold1(op syntax.Token, t *ctypes.Type, v uint64) uint64 {
	switch op {
	case syntax.SUB:
		v = -v
	case syntax.TILDE:
		v = ^v
	case syntax.NOT:
		return truth(v == 0)
	}
	return wrap(op, t, v)
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// OperandType is the type in which both operands of x meet, nil if they do not: shifts,
// pointers, logical operators and strings.
func OperandType(op syntax.Token, a, b *ctypes.Type) *ctypes.Type {
	switch op {
	case syntax.SHL, syntax.SHR, syntax.OROR, syntax.XORXOR, syntax.ANDAND, syntax.COMMA:
		return nil
	}
	if !a.IsInt() || !b.IsInt() {
		return nil
	}
	return common(a, b)
}

// foldBinary makes x a constant of type t if its operands are, or if the left one decides.
func (c *checker) foldBinary(x *syntax.Binary, t *ctypes.Type) {
	l, r := x.X.Info(), x.Y.Info()
	if divides(x.Op) && r.Const && r.Value == 0 {
		c.fail(x, DivZero, "expression contains division by zero")
	}
	switch {
	case x.Op == syntax.ANDAND && l.Const && l.Value == 0:
		constant(x, 0)
	case x.Op == syntax.OROR && l.Const && l.Value != 0:
		constant(x, 1)
	case l.Const && r.Const && l.Type.IsInt() && r.Type.IsInt():
		constant(x, fold2(x.Op, t, l, r))
	}
}

func divides(op syntax.Token) bool { return op == syntax.DIV || op == syntax.MOD }

func fold2(op syntax.Token, t *ctypes.Type, l, r *syntax.Typed) uint64 {
	a, b := l.Value, r.Value
	in := OperandType(op, l.Type, r.Type)
	if in == nil {
		in = t
	} else {
		a, b = convert(in, l.Type, a), convert(in, r.Type, b)
	}
	if in.IsSigned() {
		return wrap(op, t, foldSigned(op, int64(a), int64(b)))
	}
	return wrap(op, t, foldUnsigned(op, a, b))
}

func foldSigned(op syntax.Token, a, b int64) uint64 {
	switch op {
	case syntax.DIV:
		return uint64(a / b)
	case syntax.MOD:
		return uint64(a % b)
	case syntax.SHR:
		return uint64(a >> (uint64(b) % 64))
	case syntax.LT:
		return truth(a < b)
	case syntax.LE:
		return truth(a <= b)
	case syntax.GT:
		return truth(a > b)
	case syntax.GE:
		return truth(a >= b)
	}
	return foldUnsigned(op, uint64(a), uint64(b))
}

func foldUnsigned(op syntax.Token, a, b uint64) uint64 {
	switch op {
	case syntax.ADD:
		return a + b
	case syntax.SUB:
		return a - b
	case syntax.MUL:
		return a * b
	case syntax.DIV:
		return a / b
	case syntax.MOD:
		return a % b
	case syntax.AND:
		return a & b
	case syntax.OR:
		return a | b
	case syntax.XOR:
		return a ^ b
	case syntax.SHL:
		return a << (b % 64)
	case syntax.SHR:
		return a >> (b % 64)
	case syntax.EQ:
		return truth(a == b)
	case syntax.NE:
		return truth(a != b)
	case syntax.LT:
		return truth(a < b)
	case syntax.LE:
		return truth(a <= b)
	case syntax.GT:
		return truth(a > b)
	case syntax.GE:
		return truth(a >= b)
	case syntax.OROR:
		return truth(a != 0 || b != 0)
	case syntax.ANDAND:
		return truth(a != 0 && b != 0)
	case syntax.XORXOR:
		return truth((a != 0) != (b != 0))
	}
	return b // a comma
}
