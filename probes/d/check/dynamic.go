package check

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// symForms are the actions that show an address, and how.
var symForms = map[string]code.Form{
	"func": code.Sym, "sym": code.Sym, "mod": code.Mod,
	"ufunc": code.USym, "usym": code.USym, "umod": code.UMod, "uaddr": code.UAddr,
}

// dynamic is the type of a stack or of an address with a form: of what may be a statement,
// a key of an aggregation or, a stack, an argument of printf, and nothing else.
func (c *checker) dynamic(x *syntax.Call, act code.Act) *ctypes.Type {
	name := x.Fun.(*syntax.Ident).Name
	if act == code.UStack {
		name = act.String() // no language has frames of its own
	}
	x.Info().Ref = act
	t := &ctypes.Type{Kind: ctypes.Dyn, Name: name}
	switch act {
	case code.Stack:
		t.Len = c.stackDepth(x)
	case code.UStack:
		t.Len = c.ustackDepth(x)
	default:
		c.symArg(x, name)
		t.Size = 8
	}
	x.Info().Type = t
	return t
}

// symArg checks the address of sym() and its kin.
func (c *checker) symArg(x *syntax.Call, name string) {
	if len(x.Args) != 1 {
		c.protoLen(x, name, 1, 1)
	}
	if t := decay(x.Args[0].Info().Type); !t.IsScalar() {
		c.protoArg(x.Args[0], name, 0, "uintptr_t", t)
	}
}

func (c *checker) stackDepth(x *syntax.Call) int {
	switch {
	case len(x.Args) == 0:
		return 0
	case len(x.Args) > 1:
		c.fail(x, StackProto, "stack( ) prototype mismatch: too many arguments")
	}
	if t := x.Args[0].Info().Type; !t.IsInt() || !positive(x.Args[0], code.MaxFrames) {
		c.fail(x.Args[0], StackSize, "stack( ) size must be a non-zero positive integral constant expression of at most %d", code.MaxFrames)
	}
	return int(x.Args[0].Info().Value)
}

// ustackDepth checks ustack([frames [, strsize]]). The size of the strings is for
// languages that name their own frames; nothing here does.
func (c *checker) ustackDepth(x *syntax.Call) int {
	if len(x.Args) > 2 {
		c.fail(x, UstackProto, "ustack( ) prototype mismatch: too many arguments")
	}
	for i, a := range x.Args {
		t := a.Info().Type
		switch {
		case i == 0 && (!t.IsInt() || !positive(a, code.MaxFrames)):
			c.fail(a, UstackFrames, "ustack( ) argument #1 must be a non-zero positive integer constant of at most %d", code.MaxFrames)
		case i == 1 && (!t.IsInt() || !a.Info().Const || int64(a.Info().Value) < 0):
			c.fail(a, UstackStrsize, "ustack( ) argument #2 must be a positive integer constant")
		}
	}
	if len(x.Args) == 0 {
		return 0
	}
	return int(x.Args[0].Info().Value)
}

// key is the type of a key, of an aggregation or of an associative array.
func (c *checker) key(x syntax.Expr, ofAgg bool) *ctypes.Type {
	c.expr(x)
	if _, ok := Resolve(x).(*syntax.Xlate); ok {
		c.fail(x, KeyType, "translated value may not be used as a key: %s", syntax.ExprString(x))
	}
	t := c.wholeType(x)
	if shown(t) && !ofAgg {
		c.notInside(x)
	}
	if t.Kind == ctypes.Dyn && !(ofAgg && shown(t)) || t.Base().Kind == ctypes.Void {
		c.fail(x, KeyType, "expression of type %s may not be used as a key: %s", t, syntax.ExprString(x))
	}
	return t
}

// shown reports whether t is the type of a stack or of an address with a form.
func shown(t *ctypes.Type) bool {
	return t.Kind == ctypes.Dyn && t != aggType && t != aggFnType
}

// isStack reports whether t is the type of a stack, of the kernel or of a process.
func isStack(t *ctypes.Type) bool { return shown(t) && (t.Name == "stack" || t.Name == "ustack") }

// dynamicType is what run time needs to know of a type of kind Dyn.
func dynamicType(t *ctypes.Type) code.Type {
	if form, ok := symForms[t.Name]; ok {
		return code.Type{Kind: code.Int, Size: 8, Form: form, Name: t.Name}
	}
	return code.Type{Kind: code.Frames, Size: t.Len, Name: t.Name}
}
