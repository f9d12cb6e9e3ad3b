package check

import (
	"fmt"
	"slices"
	"strings"

	"trapline/kernel/ctypes"
	"trapline/probes/d/syntax"
)

// A provider's declaration may say that programs see other arguments than its probes pass:
//
//	probe off__cpu(struct task_struct *T) : (lwpsinfo_t *T, psinfo_t *T);
//
// Then args[0] is xlate <lwpsinfo_t *>((struct task_struct *)arg0), and so is args[1] of the
// argument with the name that its own parameter has. One without a name is of that in its place.

// declared finds the declaration with translations of the probe that a description names, nil
// if there is none. A description with a pattern names none.
func (c *checker) declared(desc string) *syntax.ProbeDecl {
	provider, rest, _ := strings.Cut(desc, ":")
	p := c.providers[provider]
	if p == nil {
		return c.guestDeclared(desc)
	}
	name := rest[strings.LastIndexByte(rest, ':')+1:]
	for _, d := range p.Probes {
		if d.HasX && (len(d.Args) > 0 || len(d.Xlated) == 0) && strings.ReplaceAll(d.Name, "__", "-") == name {
			return d
		}
	}
	return c.guestDeclared(desc)
}

// guestDeclared is the declaration that the guest has of the probes that a description means, nil
// if it has none.
func (c *checker) guestDeclared(desc string) *syntax.ProbeDecl {
	if c.env.Declared == nil {
		return nil
	}
	return c.env.Declared(desc)
}

// xlatedArg is args[i] where the clause's probes have translated arguments. It reports false if
// they have not.
func (c *checker) xlatedArg(x *syntax.Index) (t *ctypes.Type, ok bool) {
	first := c.declared(c.clause.Probes[0].Text)
	if first == nil {
		return nil, false
	}
	for _, p := range c.clause.Probes[1:] {
		if d := c.declared(p.Text); d == nil || !c.sameArgs(first, d) {
			c.fail(x, ArgsMulti, "args[ ] may not be referenced because the probes of the clause have different arguments")
		}
	}
	i := c.constIndex(x, len(first.Xlated))
	to, from := first.Xlated[i], first.Args[origin(first, i)]
	seen := c.probeTypes(first, []*syntax.TypeName{to})[0]
	native := &syntax.Cast{Pos: x.Pos, To: from, X: &syntax.Ident{Pos: x.Pos, Name: fmt.Sprintf("arg%d", origin(first, i))}}
	if ctypes.Same(seen, c.probeTypes(first, []*syntax.TypeName{from})[0]) {
		return c.stand(x, seen, native), true
	}
	return c.stand(x, seen, &syntax.Xlate{Pos: x.Pos, To: to, X: native}), true
}

// sameArgs reports whether two probes have the same arguments. What is written alike is the same,
// whether its type is known or not.
func (c *checker) sameArgs(a, b *syntax.ProbeDecl) bool {
	alike := func(x, y *syntax.TypeName) bool { return x.Unnamed() == y.Unnamed() }
	if slices.EqualFunc(a.Args, b.Args, alike) && slices.EqualFunc(a.Xlated, b.Xlated, alike) {
		return sameOrigins(a, b)
	}
	return sameTypes(c.probeTypes(a, a.Xlated), c.probeTypes(b, b.Xlated)) && sameOrigins(a, b)
}

// origin is the argument that is translated to the i-th that programs see.
func origin(d *syntax.ProbeDecl, i int) int {
	for n, a := range d.Args {
		if name := d.Xlated[i].Decl.Name; name != "" && a.Decl.Name == name {
			return n
		}
	}
	return min(i, len(d.Args)-1)
}

func sameOrigins(a, b *syntax.ProbeDecl) bool {
	for i := range a.Xlated {
		if origin(a, i) != origin(b, i) {
			return false
		}
	}
	return true
}

// constIndex is the index of args[N], which has n elements.
func (c *checker) constIndex(x *syntax.Index, n int) int {
	c.oneIndex(x)
	i := x.Args[0].Info()
	switch {
	case n == 0:
		c.fail(x, ArgsNone, "args[ ] may not be referenced: %s has no arguments", c.clause.Probes[0].Text)
	case !i.Const:
		c.fail(x, ArgsType, "args[ ] must be indexed by an integer constant")
	case i.Value >= uint64(n):
		c.fail(x, ArgsIdx, "index %d is out of range for %s args[ ]", int64(i.Value), c.clause.Probes[0].Text)
	}
	return int(i.Value)
}
