package compile

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/check"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// unary is an operator before its operand.
func (f *function) unary(x *syntax.Unary) {
	switch x.Op {
	case syntax.INC, syntax.DEC:
		f.incDec(x, x.Op, x.X)
	case syntax.MUL:
		f.address(x)
		f.load(x)
	case syntax.AND:
		if isPart(x.X) {
			f.placeOf(check.Resolve(x.X))
			return
		}
		f.address(x.X)
	case syntax.STRINGOF:
		f.asString(x.X)
	default:
		f.value(x.X)
		f.arith1(x)
	}
}

func (f *function) arith1(x *syntax.Unary) {
	switch x.Op {
	case syntax.SUB:
		f.op(code.OpNeg)
	case syntax.TILDE:
		f.op(code.OpNot)
	case syntax.NOT:
		f.op(code.OpLNot)
	}
	if check.Wraps(x.Op, x.Type) {
		f.narrow(x.Type)
	}
}

func (f *function) binary(x *syntax.Binary) {
	switch op := x.Op; {
	case op.IsAssign():
		f.assign(x)
	case op == syntax.COMMA:
		f.discard(x.X)
		f.value(x.Y)
	case op == syntax.ANDAND || op == syntax.OROR:
		f.shortCircuit(x)
	case op == syntax.XORXOR:
		f.value(x.X)
		f.op(code.OpLNot)
		f.value(x.Y)
		f.op(code.OpLNot)
		f.op(code.OpNe)
	case x.X.Info().Type.IsString() || x.Y.Info().Type.IsString():
		f.stringOrNull(x.X)
		f.stringOrNull(x.Y)
		f.op(code.OpScmp)
		f.push(0)
		f.op(opcode(op, true))
	default:
		f.operand(x.Op, x.X, x.Y, x.X)
		f.operand(x.Op, x.X, x.Y, x.Y)
		f.operate(x.Op, decayed(x.X), decayed(x.Y), x.Type)
	}
}

// stringOrNull leaves x as a string. NULL is "".
func (f *function) stringOrNull(x syntax.Expr) {
	if i := x.Info(); i.Const && i.Type.IsInt() {
		f.emit(code.OpStr, 0, f.stringIndex(""))
		return
	}
	f.asString(x)
}

// shortCircuit is && or ||: the right operand is looked at only if the left does not
// decide.
func (f *function) shortCircuit(x *syntax.Binary) {
	jump, decided := code.OpJz, uint64(0)
	if x.Op == syntax.OROR {
		jump, decided = code.OpJnz, 1
	}
	f.value(x.X)
	left := f.jump(jump)
	f.value(x.Y)
	right := f.jump(jump)
	f.push(1 - decided)
	end := f.jump(code.OpJmp)
	f.land(left, right)
	f.push(decided)
	f.land(end)
}

// operand leaves z, one of the operands l and r, in the type in which they meet. An
// integer that is added to a pointer counts elements.
func (f *function) operand(op syntax.Token, l, r, z syntax.Expr) {
	lt, rt, other := decayed(l), decayed(r), decayed(l)
	if z == l {
		other = rt
	}
	if t := check.OperandType(op, lt, rt); t != nil {
		f.converted(t, z)
	} else if additive(op) && decayed(z).IsInt() && other.IsPointer() {
		f.scaled(z, other)
	} else {
		f.value(z)
	}
}

// converted leaves x in type t, where C's conversion changes it.
func (f *function) converted(t *ctypes.Type, x syntax.Expr) {
	i := x.Info()
	if i.Const && check.Converts(t, i.Type) {
		f.push(check.Narrow(t, i.Value))
		return
	}
	f.value(x)
	f.convert(t, i.Type)
}

// scaled leaves the index x times what a pointer of type t steps over.
func (f *function) scaled(x syntax.Expr, t *ctypes.Type) {
	n := uint64(check.Stride(t))
	if i := x.Info(); i.Const {
		f.push(i.Value * n)
		return
	}
	f.value(x)
	if n != 1 {
		f.push(n)
		f.op(code.OpMul)
	}
}

func additive(op syntax.Token) bool { return op == syntax.ADD || op == syntax.SUB }

// convert narrows an operand where C's conversion to t changes it.
func (f *function) convert(t, from *ctypes.Type) {
	if check.Converts(t, from) {
		f.narrow(t)
	}
}

// operate replaces the two operands on the stack, of types a and b, by the result of
// type t.
func (f *function) operate(op syntax.Token, a, b, t *ctypes.Type) {
	signed := a.IsSigned() && !b.IsPointer() // of a shift, or with pointers
	if in := check.OperandType(op, a, b); in != nil {
		signed = in.IsSigned()
	}
	f.op(opcode(op, signed))
	if additive(op) && a.IsPointer() && b.IsPointer() {
		if n := check.Stride(a); n != 1 {
			f.push(uint64(n))
			f.op(code.OpDivS)
		}
	}
	if check.Wraps(op, t) {
		f.narrow(t)
	}
}

var opcodes = map[syntax.Token][2]code.Op{ // unsigned, signed
	syntax.ADD: {code.OpAdd, code.OpAdd},
	syntax.SUB: {code.OpSub, code.OpSub},
	syntax.MUL: {code.OpMul, code.OpMul},
	syntax.DIV: {code.OpDivU, code.OpDivS},
	syntax.MOD: {code.OpModU, code.OpModS},
	syntax.AND: {code.OpAnd, code.OpAnd},
	syntax.OR:  {code.OpOr, code.OpOr},
	syntax.XOR: {code.OpXor, code.OpXor},
	syntax.SHL: {code.OpShl, code.OpShl},
	syntax.SHR: {code.OpShrU, code.OpShrS},
	syntax.EQ:  {code.OpEq, code.OpEq},
	syntax.NE:  {code.OpNe, code.OpNe},
	syntax.LT:  {code.OpLtU, code.OpLtS},
	syntax.LE:  {code.OpLeU, code.OpLeS},
	syntax.GT:  {code.OpGtU, code.OpGtS},
	syntax.GE:  {code.OpGeU, code.OpGeS},
}

func opcode(op syntax.Token, signed bool) code.Op {
	if signed {
		return opcodes[op][1]
	}
	return opcodes[op][0]
}

func (f *function) cond(x *syntax.Cond) {
	branch := func(y syntax.Expr) {
		if x.Type.IsString() {
			f.asString(y)
			return
		}
		f.converted(x.Type, y)
	}
	f.value(x.C)
	no := f.jump(code.OpJz)
	branch(x.X)
	end := f.jump(code.OpJmp)
	f.land(no)
	branch(x.Y)
	f.land(end)
}

// assign leaves the value assigned, as it is after conversion to the variable's type.
func (f *function) assign(x *syntax.Binary) {
	store := f.target(x.X, x.Op != syntax.ASSIGN)
	if x.Op == syntax.ASSIGN {
		if x.Type.IsString() {
			f.stringOrNull(x.Y)
		} else {
			f.into(x.Y, x.Type)
			if inVariable(x.X) {
				f.assigned(x.Type, x.Y.Info().Type)
			}
		}
		store()
		return
	}
	op := x.Op.Binary()
	v := x.X.Info().Type
	if t := check.OperandType(op, v, decayed(x.Y)); t != nil {
		f.convert(t, v)
	}
	f.operand(op, x.X, x.Y, x.Y)
	f.operate(op, v, decayed(x.Y), v)
	f.small(x.X)
	store()
}

// assigned makes an integer of type from one of type to, as DTrace does: where both have the same size
// and sign it keeps its 64 bits, and so does an unsigned one that becomes wider.
func (f *function) assigned(to, from *ctypes.Type) {
	wider := to.Bytes() > from.Bytes()
	switch {
	case !to.IsInt() || !from.IsInt():
		return
	case to.Bytes() == from.Bytes() && to.IsSigned() == from.IsSigned(), wider && !from.IsSigned():
		return
	case wider:
		f.narrow(from)
	}
	f.narrow(to)
}

// inVariable reports whether x is a variable or an element of an associative array: a part of one, and
// what is in memory, has the size of its type anyway.
func inVariable(x syntax.Expr) bool {
	x = check.Resolve(x)
	return !isPart(x) && !check.InMemory(x)
}

// small cuts what arithmetic has made for x, where that is a variable smaller than int.
func (f *function) small(x syntax.Expr) {
	if t := x.Info().Type; inVariable(x) && t.Bytes() < ctypes.IntType.Bytes() {
		f.narrow(t)
	}
}

// incDec leaves the new value of a variable after ++ or --.
func (f *function) incDec(x syntax.Expr, op syntax.Token, operand syntax.Expr) {
	store := f.target(operand, true)
	f.push(stride(x.Info().Type))
	if op == syntax.INC {
		f.op(code.OpAdd)
	} else {
		f.op(code.OpSub)
	}
	f.small(operand)
	store()
}

// memoryTarget is target for an object in memory: only the scratch space may be written.
func (f *function) memoryTarget(x syntax.Expr, old bool) (store func()) {
	f.address(x)
	if field, ok := check.BitField(x); ok {
		return f.bitsTarget(field, old)
	}
	if old {
		f.op(code.OpDup)
		f.load(x)
	}
	return func() {
		f.emit(code.OpStore, x.Info().Type.Bytes(), 0)
		f.narrow(x.Info().Type)
	}
}

// bitsTarget is memoryTarget for a bit-field of the integer whose address is on the stack: the
// other bits of it are kept.
func (f *function) bitsTarget(field ctypes.Field, old bool) (store func()) {
	size := field.Type.Bytes()
	mask := uint64(1)<<field.Bits - 1
	f.op(code.OpDup)
	f.emit(code.OpLoadU, size, 0)
	f.push(^(mask << field.BitOffset))
	f.op(code.OpAnd)
	if old {
		f.op(code.OpDup2)
		f.op(code.OpPop)
		f.emit(code.OpLoadU, size, 0)
		f.bits(field.BitOffset, field.Bits, field.Type.IsSigned())
	}
	return func() {
		f.push(mask)
		f.op(code.OpAnd)
		f.push(uint64(field.BitOffset))
		f.op(code.OpShl)
		f.op(code.OpOr)
		f.emit(code.OpStore, size, 0)
		f.bits(field.BitOffset, field.Bits, field.Type.IsSigned())
	}
}

// target prepares an assignment to a variable: it leaves the old value if it is wanted
// and returns what stores the new one. An element's keys are computed once.
func (f *function) target(x syntax.Expr, old bool) (store func()) {
	if x = check.Resolve(x); isPart(x) {
		return f.partTarget(x, old)
	}
	if check.InMemory(x) {
		return f.memoryTarget(x, old)
	}
	v := x.Info().Ref.(*check.Var)
	if ix, ok := x.(*syntax.Index); ok {
		f.keys(ix, v)
		if old {
			f.op(code.OpDup)
			f.emit(code.OpLoadArr, 0, f.variable(v))
		}
		return func() { f.emit(code.OpStoreArr, 0, f.variable(v)) }
	}
	if old {
		f.emit(loads[v.Scope], 0, f.variable(v))
	}
	return func() { f.emit(stores[v.Scope], 0, f.variable(v)) }
}
