package compile

import (
	"fmt"
	"strings"

	"trapline/kernel/ctypes"
	"trapline/probes/d/check"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// A function is the code of one expression while it is made.
type function struct {
	*compiler
	code []code.Instr
}

// function makes the code that leaves the value of x.
func (c *compiler) function(x syntax.Expr) *code.Func {
	f := &function{compiler: c}
	f.value(x)
	return f.done(x, decayed(x))
}

// effect makes the code that leaves nothing.
func (c *compiler) effect(x syntax.Expr) *code.Func {
	f := &function{compiler: c}
	f.discard(x)
	return f.done(x, ctypes.VoidType)
}

// stringFunc makes the code that leaves x as a string.
func (c *compiler) stringFunc(x syntax.Expr) *code.Func {
	f := &function{compiler: c}
	f.asString(x)
	t := x.Info().Type
	if !t.IsString() {
		t = ctypes.StringOf(f.strSize(x))
	}
	return f.done(x, t)
}

// key makes the code for a key of an aggregation whose first use has the type t. A scalar keeps its
// own type, and so its own size.
func (c *compiler) key(x syntax.Expr, t *ctypes.Type) *code.Func {
	if isDynamic(x) {
		return c.dynamic(x.(*syntax.Call))
	}
	if t.IsScalar() {
		t = decayed(x)
	}
	f := &function{compiler: c}
	f.into(x, t)
	return f.done(x, t)
}

func (f *function) done(x syntax.Expr, t *ctypes.Type) *code.Func {
	return &code.Func{Code: f.code, Type: check.CodeType(t), Line: x.Position().Line}
}

// decayed is the type of x as a value: an array is a pointer to its first element.
func decayed(x syntax.Expr) *ctypes.Type {
	t := x.Info().Type
	if b := t.Base(); b.Kind == ctypes.Array {
		return ctypes.PointerTo(b.Elem)
	}
	return t
}

func (f *function) emit(op code.Op, n int, imm uint64) {
	f.code = append(f.code, code.Instr{Op: op, N: uint16(n), Imm: imm})
}

func (f *function) op(op code.Op)   { f.emit(op, 0, 0) }
func (f *function) push(imm uint64) { f.emit(code.OpPush, 0, imm) }

// jump emits a jump whose target land fills in.
func (f *function) jump(op code.Op) (at int) {
	f.op(op)
	return len(f.code) - 1
}

func (f *function) land(jumps ...int) {
	for _, at := range jumps {
		f.code[at].Imm = uint64(len(f.code))
	}
}

// value leaves the value of x, as the scalar, string or bytes of its own type.
func (f *function) value(x syntax.Expr) {
	if i := x.Info(); i.Const {
		f.push(i.Value)
		return
	}
	if x = check.Resolve(x); check.Root(x) != nil && x.Info().Type.Base().Kind == ctypes.Array {
		f.placeOf(x)
		return
	}
	if isPart(x) {
		f.place(x)
		f.part(x)
		return
	}
	switch x := x.(type) {
	case *syntax.StringLit:
		s, _, _ := strings.Cut(x.Value, "\x00")
		f.emit(code.OpStr, 0, f.stringIndex(s))
	case *syntax.Ident:
		f.name(x.Info().Ref)
	case *syntax.ScopedVar:
		f.name(x.Info().Ref)
	case *check.Convert:
		f.convertTo(x)
	case *syntax.Member:
		f.member(x)
	case *syntax.Symbol:
		f.address(x)
		f.load(x)
	case *syntax.Unary:
		f.unary(x)
	case *syntax.Postfix:
		f.incDec(x, x.Op, x.X)
		f.push(stride(x.Type))
		f.op(map[syntax.Token]code.Op{syntax.INC: code.OpSub, syntax.DEC: code.OpAdd}[x.Op])
		f.narrow(x.Type)
	case *syntax.Binary:
		f.binary(x)
	case *syntax.Cond:
		f.cond(x)
	case *syntax.Index:
		f.index(x)
	case *syntax.Call:
		f.call(x)
	case *syntax.Xlate:
		f.made(x)
	case *syntax.Cast:
		f.cast(x)
	default:
		panic(fmt.Sprintf("compiling a %T", x)) // check refuses it
	}
}

// discard runs x for its effect.
func (f *function) discard(x syntax.Expr) {
	switch y := x.(type) {
	case *syntax.Postfix:
		f.incDec(x, y.Op, y.X)
	case *syntax.Cast:
		if x.Info().Type.Base().Kind == ctypes.Void {
			f.discard(y.X)
			return
		}
		f.value(x)
	case *syntax.Binary:
		if y.Op == syntax.COMMA {
			f.discard(y.X)
			f.discard(y.Y)
			return
		}
		f.value(x)
	default:
		f.value(x)
	}
	if s, ok := x.Info().Ref.(code.Sub); !ok || s.Leaves() {
		f.op(code.OpPop)
	}
}

// into leaves x as a value to store or record as t, which narrows integers.
func (f *function) into(x syntax.Expr, t *ctypes.Type) {
	switch {
	case t.IsString():
		f.asString(x)
	case t.IsPointer():
		f.pointer(x)
	default:
		f.value(x)
	}
}

// narrow cuts the top of the stack to the integer type t.
func (f *function) narrow(t *ctypes.Type) {
	if !t.IsInt() || t.Bytes() >= 8 {
		return
	}
	op := code.OpZext
	if t.IsSigned() {
		op = code.OpSext
	}
	f.emit(op, t.Bytes(), 0)
}

// asString leaves x as a string: what a char pointer points to is read.
func (f *function) asString(x syntax.Expr) {
	if x.Info().Type.Base().Kind == ctypes.Array && check.Root(x) != nil {
		f.chars(x)
		return
	}
	f.value(x)
	if !x.Info().Type.IsString() {
		f.emit(code.OpLoadStr, 0, uint64(f.strSize(x)))
	}
}

// strSize is the size of a string read through x: that of an array of char, as far as a string can
// have it, otherwise the program's.
func (f *function) strSize(x syntax.Expr) int {
	if b := x.Info().Type.Base(); b.Kind == ctypes.Array && b.Len > 0 {
		return min(b.Len+1, code.MaxSize)
	}
	return f.tree.StrSize
}

// name leaves the value of what a name stands for.
func (f *function) name(ref any) {
	switch ref := ref.(type) {
	case *check.Var:
		f.emit(loads[ref.Scope], 0, f.variable(ref))
	case code.Builtin:
		f.emit(code.OpBuiltin, 0, uint64(ref))
	case check.Arg:
		f.emit(code.OpArg, int(ref), 0)
	default:
		panic(fmt.Sprintf("compiling a name that is a %T", ref))
	}
}

var (
	loads  = map[code.Scope]code.Op{code.Global: code.OpLoadGlobal, code.Self: code.OpLoadSelf, code.This: code.OpLoadThis}
	stores = map[code.Scope]code.Op{code.Global: code.OpStoreGlobal, code.Self: code.OpStoreSelf, code.This: code.OpStoreThis}
)

// address leaves where the object x lies in the guest.
func (f *function) address(x syntax.Expr) {
	switch x := check.Resolve(x).(type) {
	case *syntax.Member:
		f.memberAddress(x)
	case *syntax.Symbol:
		f.push(uint64(x.Info().Ref.(check.Address)))
	case *syntax.Unary: // *p
		f.pointer(x.X)
	case *syntax.Index: // p[i]
		f.pointer(x.X)
		f.scaled(x.Args[0], decayed(x.X))
		f.op(code.OpAdd)
	default:
		panic(fmt.Sprintf("compiling the address of a %T", x))
	}
}

// load replaces the address on the stack by the object of x's type there. That of an
// array is its address.
func (f *function) load(x syntax.Expr) {
	t := x.Info().Type
	switch b := t.Base(); {
	case b.Kind == ctypes.Array:
	case b.Kind == ctypes.String:
		f.emit(code.OpLoadStr, 0, uint64(b.Size))
	case !t.IsScalar():
		f.emit(code.OpLoadBytes, 0, uint64(b.Size))
	case t.IsSigned():
		f.emit(code.OpLoadS, b.Size, 0)
	default:
		f.emit(code.OpLoadU, b.Size, 0)
	}
}

// stride is what ++ adds to a value of type t.
func stride(t *ctypes.Type) uint64 {
	if t.IsPointer() {
		return uint64(check.Stride(t))
	}
	return 1
}

// index is an element of an associative array, a register, or memory.
func (f *function) index(x *syntax.Index) {
	switch ref := x.Info().Ref.(type) {
	case *check.Var:
		f.keys(x, ref)
		f.emit(code.OpLoadArr, 0, f.variable(ref))
	case check.TypedArg:
		f.emit(code.OpArg, int(ref), 0)
		f.narrow(x.Type)
	case check.Reg:
		f.emit(code.OpReg, 0, uint64(ref))
	case check.UReg:
		f.emit(code.OpUReg, 0, uint64(ref))
	default:
		f.address(x)
		f.load(x)
	}
}

// keys leaves the tuple of keys of an element.
func (f *function) keys(x *syntax.Index, v *check.Var) {
	for i, k := range x.Args {
		if v.Keys[i].IsString() {
			f.asString(k)
		} else {
			f.value(k) // all 64 bits count
		}
	}
	f.emit(code.OpKey, 0, f.variable(v))
}

func (f *function) call(x *syntax.Call) {
	s := x.Info().Ref.(code.Sub)
	kinds, _ := s.Signature()
	args := x.Args
	if s == code.SubStrtok {
		args = strtokArgs(args)
	}
	for i, a := range args {
		if kinds[i] == code.String {
			f.asString(a)
		} else {
			f.value(a)
		}
	}
	f.emit(code.OpCall, len(args), uint64(s))
}

// strtokArgs puts the delimiters first. Without a string, which NULL says, strtok goes on.
func strtokArgs(args []syntax.Expr) []syntax.Expr {
	if args[0].Info().Const {
		return args[1:]
	}
	return []syntax.Expr{args[1], args[0]}
}

func (f *function) cast(x *syntax.Cast) {
	if x.Type.IsString() {
		f.asString(x.X)
		return
	}
	f.value(x.X)
	f.narrow(x.Type)
}
