package compile

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/check"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// Parts of variables have addresses, too, where a program asks for them: &a[i], an array as a
// pointer, and a string that is indexed or becomes a pointer.

// placeOf leaves the address of x, a variable or a part of one. An index of a pointer that is
// about to be used may lie outside, as one behind the last does.
func (f *function) placeOf(x syntax.Expr) {
	v := check.RootOf(x)
	if ix, ok := x.(*syntax.Index); ok && isPart(x) {
		f.place(check.Resolve(ix.X))
		f.scaled(ix.Args[0], ctypes.PointerTo(ix.Type))
		f.op(code.OpAdd)
	} else {
		f.place(x)
	}
	f.emit(code.OpPlace, 0, code.PartImm(f.variable(v), 1))
}

// pointer leaves x as a pointer: of a string, to its first character, in the variable that it is.
func (f *function) pointer(x syntax.Expr) {
	switch y := check.Resolve(x); {
	case !x.Info().Type.IsString():
		f.value(x)
	case check.RootOf(y) != nil:
		f.placeOf(y)
	default:
		f.asString(x)
		f.emit(code.OpStrAddr, 0, 1)
	}
}

// made leaves the structure that x translates to: its members are computed into scratch space, in
// which the others are 0.
func (f *function) made(x *syntax.Xlate) {
	f.push(uint64(x.Type.Bytes()))
	f.emit(code.OpCall, 1, uint64(code.SubAlloca))
	for _, m := range x.Members {
		field, _ := x.Type.Member(m.Name)
		if field.Type.Base().Kind == ctypes.Array {
			f.madeChars(m, field)
			continue
		}
		f.op(code.OpDup)
		f.push(uint64(field.Offset))
		f.op(code.OpAdd)
		f.into(m, field.Type)
		f.emit(code.OpStore, field.Type.Bytes(), 0)
		f.op(code.OpPop)
	}
	f.emit(code.OpLoadBytes, 0, uint64(x.Type.Bytes()))
}

// madeChars puts a string into the array of characters that a member is of the structure whose
// address is on the stack.
func (f *function) madeChars(m *syntax.Member, field ctypes.Field) {
	n := uint64(field.Type.Bytes())
	f.asString(m)
	f.emit(code.OpStrAddr, 0, n)
	f.op(code.OpDup2)
	f.op(code.OpPop)
	f.push(uint64(field.Offset))
	f.op(code.OpAdd)
	f.push(n)
	f.emit(code.OpCall, 3, uint64(code.SubBcopy))
}
