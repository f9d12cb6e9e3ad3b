package check

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/syntax"
)

// localsName is what the local variables of the probed function are members of.
const localsName = "locals"

// namesLocal reports whether x is locals->NAME, and locals no variable of the program.
func (c *checker) namesLocal(x *syntax.Member) bool {
	name, ok := x.X.(*syntax.Ident)
	if !ok || !x.Arrow || name.Name != localsName {
		return false
	}
	_, v := c.lookup(x.X)
	return v == nil && c.locals[localsName] == nil && c.inlines[localsName] == nil
}

// isLocal reports whether x, which has been checked, is a local variable of the guest.
func isLocal(x syntax.Expr) bool {
	_, ok := Resolve(x).Info().Ref.(Local)
	return ok
}

// local is locals->NAME: a variable that all probes of the clause see, with the same type.
// It is an object in memory, if need be in the scratch space.
func (c *checker) local(x *syntax.Member) *ctypes.Type {
	if c.clause == nil {
		c.fail(x, ArgsNone, "locals-> may not be referenced outside of a clause")
	}
	var t *ctypes.Type
	for _, d := range c.clause.Probes {
		if c.env.Local == nil {
			c.fail(x, IdentUndef, "locals->%s: nothing is known of local variables", x.Name)
		}
		got, err := c.env.Local(d.Text, x.Name)
		switch {
		case err != nil:
			c.fail(x, IdentUndef, "locals->%s: %v", x.Name, err)
		case t != nil && !ctypes.Same(t, got):
			c.fail(x, ArgsMulti, "locals->%s is of type %s at some probes of the clause, of type %s at others", x.Name, t, got)
		}
		t = got
	}
	x.Info().Ref = Local(x.Name)
	return t
}
