package compile

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/check"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

func isDynamic(x syntax.Expr) bool { return x.Info().Type.Kind == ctypes.Dyn }

// object makes the code of a value that print records: of an array, the whole.
func (c *compiler) object(x syntax.Expr) *code.Func {
	if check.IsArray(x.Info().Type) {
		return c.wholeArray(x)
	}
	return c.function(x)
}

// tracemem makes the code of the bytes that tracemem records, and of how many count.
func (c *compiler) tracemem(args []syntax.Expr) []*code.Func {
	f := &function{compiler: c}
	f.value(args[0])
	n := int(args[1].Info().Value)
	f.emit(code.OpLoadBytes, 0, uint64(n))
	fns := []*code.Func{f.done(args[0], ctypes.ArrayOf(ctypes.CharType, n))}
	if len(args) > 2 {
		fns = append(fns, c.function(args[2]))
	}
	return fns
}

// dynamic makes the code of a stack, or of an address that is shown as a symbol.
func (c *compiler) dynamic(x *syntax.Call) *code.Func {
	f := &function{compiler: c}
	switch x.Info().Ref.(code.Act) {
	case code.Stack:
		f.emit(code.OpFrames, 0, uint64(x.Info().Type.Len))
	case code.UStack:
		f.emit(code.OpFrames, 1, uint64(x.Info().Type.Len))
	default:
		f.value(x.Args[0])
	}
	return f.done(x, x.Info().Type)
}
