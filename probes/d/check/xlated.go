package check

import (
	"fmt"
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
		return nil
	}
	name := rest[strings.LastIndexByte(rest, ':')+1:]
	for _, d := range p.Probes {
		if d.HasX && (len(d.Args) > 0 || len(d.Xlated) == 0) && strings.ReplaceAll(d.Name, "__", "-") == name {
			return d
		}
	}
	return nil
}

// xlatedArg is args[i] where the clause's probes have translated arguments. It reports false if
// they have not.
func (c *checker) xlatedArg(x *syntax.Index) (t *ctypes.Type, ok bool) {
	first := c.declared(c.clause.Probes[0].Text)
	if first == nil {
		return nil, false
	}
	types := c.probeTypes(first, first.Xlated)
	for _, p := range c.clause.Probes[1:] {
		d := c.declared(p.Text)
		if d == nil || !sameTypes(types, c.probeTypes(d, d.Xlated)) || !sameOrigins(first, d) {
			c.fail(x, ArgsMulti, "args[ ] may not be referenced because the probes of the clause have different arguments")
		}
	}
	i := c.constIndex(x, len(types))
	to, from := first.Xlated[i], origin(first, i)
	native := &syntax.Cast{Pos: x.Pos, To: first.Args[from], X: &syntax.Ident{Pos: x.Pos, Name: fmt.Sprintf("arg%d", from)}}
	if ctypes.Same(types[i], c.probeTypes(first, first.Args)[from]) {
		return c.stand(x, types[i], native), true
	}
	return c.stand(x, types[i], &syntax.Xlate{Pos: x.Pos, To: to, X: native}), true
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
