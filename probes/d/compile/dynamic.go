package compile

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

func isDynamic(x syntax.Expr) bool { return x.Info().Type.Kind == ctypes.Dyn }

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
