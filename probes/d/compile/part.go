package compile

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/check"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// Parts of D variables are reached by a number of bytes from the start of the variable;
// members of structures in the guest by their address.

// isPart reports whether x is a piece of a D variable.
func isPart(x syntax.Expr) bool {
	_, ok := check.Resolve(x).Info().Ref.(check.Part)
	return ok
}

// place leaves the keys of an element, if the variable is an associative array, and the
// offset of x in it.
func (f *function) place(x syntax.Expr) {
	fixed, moving := f.offset(x, 0)
	if !moving {
		f.push(fixed)
	} else if fixed != 0 {
		f.push(fixed)
		f.op(code.OpAdd)
	}
}

// offset is the constant part of where x lies; if it is moving, code that leaves the other
// part has been emitted. Keys are emitted on the way.
func (f *function) offset(x syntax.Expr, more uint64) (fixed uint64, moving bool) {
	x = check.Resolve(x)
	switch y := x.(type) {
	case *syntax.Member:
		return f.offset(y.X, more+uint64(check.FieldOf(y).Offset))
	case *syntax.Index:
		if v, ok := y.Info().Ref.(*check.Var); ok {
			f.keys(y, v)
			return more, false
		}
		fixed, moving := f.offset(y.X, more)
		size := uint64(y.Info().Type.Bytes())
		if i := y.Args[0].Info(); i.Const && i.Value < uint64(y.X.Info().Type.Base().Len) {
			return fixed + i.Value*size, moving
		}
		f.value(y.Args[0])
		f.emit(code.OpBound, 0, uint64(y.X.Info().Type.Base().Len))
		f.push(size)
		f.op(code.OpMul)
		if moving {
			f.op(code.OpAdd)
		}
		return fixed, true
	}
	return more, false
}

// partImm is the operand of the operations on x.
func (f *function) partImm(x syntax.Expr) (n int, imm uint64) {
	t := x.Info().Type
	if field, ok := check.BitField(x); ok {
		n = code.BitsN(field.BitOffset, field.Bits)
	}
	return n, code.PartImm(f.variable(check.Root(x)), t.Bytes())
}

// part leaves the value of x, a piece of a variable, whose place is on the stack.
func (f *function) part(x syntax.Expr) {
	n, imm := f.partImm(x)
	t := x.Info().Type
	switch {
	case t.IsString():
		f.emit(code.OpPartStr, 0, imm)
	case !t.IsScalar():
		f.emit(code.OpPartBytes, 0, imm)
	case t.IsSigned():
		f.emit(code.OpPartS, n, imm)
	default:
		f.emit(code.OpPartU, n, imm)
	}
}

// chars leaves an array of char that is, or is in, a variable as a string.
func (f *function) chars(x syntax.Expr) {
	f.place(x)
	_, imm := f.partImm(x)
	f.emit(code.OpPartStr, 0, imm)
}

// partTarget is target for a piece of a variable.
func (f *function) partTarget(x syntax.Expr, old bool) (store func()) {
	f.place(x)
	v := check.Root(x)
	if old {
		if v.Keys != nil {
			f.op(code.OpDup2)
		} else {
			f.op(code.OpDup)
		}
		f.part(x)
	}
	n, imm := f.partImm(x)
	return func() {
		switch t := x.Info().Type; {
		case t.IsString():
			f.emit(code.OpPutStr, 0, imm)
		case !t.IsScalar():
			f.emit(code.OpPutBytes, 0, imm)
		default:
			f.fitPart(x, t)
			f.emit(code.OpPut, n, imm)
		}
	}
}

// fitPart cuts the value on the stack to what x can hold.
func (f *function) fitPart(x syntax.Expr, t *ctypes.Type) {
	if field, ok := check.BitField(x); ok {
		f.bits(0, field.Bits, t.IsSigned())
		return
	}
	f.narrow(t)
}

// bits replaces an integer by a bit-field of it, extended to 64 bits.
func (f *function) bits(off, n int, signed bool) {
	if up := 64 - off - n; up > 0 {
		f.push(uint64(up))
		f.op(code.OpShl)
	}
	if down := 64 - n; down > 0 {
		f.push(uint64(down))
		f.op(opcode(syntax.SHR, signed))
	}
}

// memberAddress leaves the address of the member x in the guest.
func (f *function) memberAddress(x *syntax.Member) {
	if name, ok := x.Info().Ref.(check.Local); ok {
		f.emit(code.OpLocal, 0, f.stringIndex(string(name)))
		return
	}
	if x.Arrow {
		f.value(x.X)
	} else {
		f.address(x.X)
	}
	if off := check.FieldOf(x).Offset; off != 0 {
		f.push(uint64(off))
		f.op(code.OpAdd)
	}
}

// member leaves the value of the member x of a structure in the guest.
func (f *function) member(x *syntax.Member) {
	f.memberAddress(x)
	field, ok := check.BitField(x)
	if !ok {
		f.load(x)
		return
	}
	f.emit(code.OpLoadU, field.Type.Bytes(), 0)
	f.bits(field.BitOffset, field.Bits, field.Type.IsSigned())
}

// convertTo leaves x as a value of the type of the Convert around it.
func (f *function) convertTo(x *check.Convert) {
	switch {
	case x.Type.IsString():
		f.asString(x.X)
	default:
		f.value(x.X)
		f.narrow(x.Type)
	}
}

// traced makes the code that leaves what trace() records: an array as a whole, one of char
// as a string.
func (c *compiler) traced(x syntax.Expr) *code.Func {
	t := x.Info().Type
	if !check.IsArray(t) {
		return c.function(x)
	}
	if e := t.Base().Elem.Base(); e.Kind == ctypes.Int && e.Size == 1 {
		return c.stringFunc(x)
	}
	return c.wholeArray(x)
}

// wholeArray makes the code that leaves all bytes of an array.
func (c *compiler) wholeArray(x syntax.Expr) *code.Func {
	t := x.Info().Type
	f := &function{compiler: c}
	if check.Root(x) != nil {
		f.place(check.Resolve(x))
		f.emit(code.OpPartBytes, 0, code.PartImm(f.variable(check.Root(x)), t.Bytes()))
	} else {
		f.value(x)
		f.emit(code.OpLoadBytes, 0, uint64(t.Bytes()))
	}
	return f.done(x, t)
}
