package check

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// An aggAct is what is asked of an action on an aggregation.
type aggAct struct {
	name                           string
	least, most                    int
	proto, aggarg, aggbad, badType syntax.Tag
}

var aggActs = map[code.Act]aggAct{
	code.Clear:       {"clear", 1, 1, ClearProto, ClearAggarg, ClearAggbad, ""},
	code.Normalize:   {"normalize", 2, 2, NormalizeProto, NormalizeAggarg, NormalizeAggbad, NormalizeScalar},
	code.Denormalize: {"denormalize", 1, 1, NormalizeProto, NormalizeAggarg, NormalizeAggbad, ""},
	code.Trunc:       {"trunc", 1, 2, TruncProto, TruncAggarg, TruncAggbad, TruncScalar},
}

// aggAction checks clear(@a), denormalize(@a), normalize(@a, factor) and trunc(@a [, n]).
func (c *checker) aggAction(x *syntax.Call, act code.Act) {
	a := aggActs[act]
	c.args(x)
	if n := len(x.Args); n < a.least || n > a.most {
		c.fail(x, a.proto, "%s( ) prototype mismatch: %s passed, %d expected", a.name, plural(n, "arg"), a.least)
	}
	g, ok := x.Args[0].(*syntax.Agg)
	if !ok {
		c.fail(x.Args[0], a.aggarg, "%s( ) argument #1 is incompatible with prototype:\n\tprototype: aggregation\n\t argument: %s",
			a.name, x.Args[0].Info().Type)
	}
	agg := c.knownAgg(g, a.aggbad)
	g.Info().Type, g.Info().Ref = ctypes.VoidType, agg
	if len(x.Args) < 2 {
		return
	}
	if t := x.Args[1].Info().Type; !t.IsScalar() || act == code.Trunc && !t.IsInt() {
		c.fail(x.Args[1], a.badType, "%s( ) argument #2 must be of scalar type", a.name)
	}
}

// knownAgg is an aggregation that something assigns. One without keys is an unknown name before it is
// an argument of an action, which has the other tag.
func (c *checker) knownAgg(x *syntax.Agg, bad syntax.Tag) *Agg {
	agg := c.aggs[x.Name]
	switch {
	case agg == nil && x.Keys == nil:
		c.fail(x, IdentUndef, "failed to resolve @%s: Unknown variable name", x.Name)
	case agg == nil:
		c.fail(x, bad, "undefined aggregation: @%s", x.Name)
	}
	return agg
}
