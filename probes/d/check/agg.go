package check

import (
	"math/bits"

	"trapline/kernel/ctypes"
	"trapline/probes/d/agg"
	"trapline/probes/d/syntax"
)

// aggregate is @name[keys] = fn(args).
func (c *checker) aggregate(x *syntax.Binary, a *syntax.Agg) {
	call, ok := x.Y.(*syntax.Call)
	if !ok {
		c.any(x.Y)
		c.fail(x, AggFunc, "@%s must be assigned the result of an aggregating function", a.Name)
	}
	name, callee := c.callee(call)
	fn, ok := callee.(agg.Fn)
	if !ok {
		c.any(x.Y)
		c.fail(call, AggFunc, "%s( ) is not an aggregating function: @%s", name, a.Name)
	}
	params := c.aggArgs(call, name, fn)
	agg := c.aggs[a.Name]
	if agg == nil {
		agg = &Agg{Name: a.Name, Fn: fn, Keys: c.keyTypes("@"+a.Name+"[ ]", a.Keys, true), Line: x.Pos.Line}
	} else {
		c.sameAgg(x, a, agg, fn, name)
	}
	if c.aggs[a.Name] == nil {
		agg.Params, agg.Type = params, ctypes.VoidType
		if len(call.Args) > 0 {
			agg.Type = decay(call.Args[0].Info().Type)
		}
		c.aggs[a.Name] = agg
	}
	c.matchParams(call, agg, params)
	for _, n := range []syntax.Expr{x, a, call} {
		n.Info().Type, n.Info().Ref = ctypes.VoidType, agg
	}
}

// sameAgg checks a further use against the first.
func (c *checker) sameAgg(x syntax.Expr, a *syntax.Agg, agg *Agg, fn agg.Fn, name string) {
	if agg.Fn != fn {
		c.fail(x, AggRedef, "aggregation redefined: @%s\n\t current: @%s = %s( )\n\tprevious: @%s = %s( ) : line %d",
			a.Name, a.Name, name, a.Name, agg.Fn, agg.Line)
	}
	c.keys(a, "@"+a.Name+"[ ]", a.Keys, agg.Keys, true)
}

// aggArgs checks the arguments of an aggregating function and returns the constant ones.
func (c *checker) aggArgs(x *syntax.Call, name string, fn agg.Fn) (params []int64) {
	for _, a := range x.Args {
		c.any(a)
	}
	least, most := fn.Args()
	if n := len(x.Args); n < least || n > most {
		c.protoLen(x, name, least, most)
	}
	c.aggTypes(x, name)
	switch fn {
	case agg.LQuantize:
		params = c.lquantize(x)
	case agg.LLQuantize:
		params = c.llquantize(x)
	}
	return params
}

// aggTypes checks the types of an aggregating function's arguments: what is aggregated is a scalar,
// the others are integers.
func (c *checker) aggTypes(x *syntax.Call, name string) {
	for i, a := range x.Args[min(1, len(x.Args)):] {
		if t := a.Info().Type; !t.IsInt() {
			c.protoArg(a, name, i+1, "int32_t", t)
		}
	}
	if len(x.Args) > 0 && !decay(x.Args[0].Info().Type).IsScalar() {
		c.fail(x.Args[0], AggScalar, "%s( ) argument #1 must be of scalar type", name)
	}
}

// aggOperand is an aggregation that is not assigned to. It has no value; some actions take it.
func (c *checker) aggOperand(x *syntax.Agg) *ctypes.Type {
	name := "@" + x.Name + "[ ]"
	switch a := c.aggs[x.Name]; {
	case a == nil && x.Keys == nil:
		c.fail(x, IdentUndef, "failed to resolve @%s: Unknown variable name", x.Name)
	case a == nil:
		c.keyTypes(name, x.Keys, true)
	case x.Keys != nil:
		c.keys(x, name, x.Keys, a.Keys, true)
	}
	return aggType
}

// The types of what stands for an aggregation.
var (
	aggType   = &ctypes.Type{Kind: ctypes.Dyn, Name: "aggregation"}
	aggFnType = &ctypes.Type{Kind: ctypes.Dyn, Name: "aggregating function"}
)

// Increment is the argument that weighs the value, nil if it is not given.
func Increment(x *syntax.Call, fn agg.Fn) syntax.Expr {
	at, ok := fn.Increment()
	if !ok || at >= len(x.Args) {
		return nil
	}
	return x.Args[at]
}

// param is a constant argument between least and most.
func (c *checker) param(x *syntax.Call, i int, name string, least, most int64, kind, val syntax.Tag) int64 {
	a := x.Args[i].Info()
	if !a.Const || !a.Type.IsInt() {
		c.fail(x.Args[i], kind, "%s argument #%d must be an integral constant expression", name, i+1)
	}
	v := int64(a.Value)
	if v < least && kind == LquantSteptype {
		c.fail(x.Args[i], kind, "%s argument #%d must be a positive integral constant expression", name, i+1)
	}
	if v < least || v > most {
		c.fail(x.Args[i], val, "%s argument #%d must be from %d to %d", name, i+1, least, most)
	}
	return v
}

// lquantize checks lquantize(v, base, limit [, step [, increment]]).
func (c *checker) lquantize(x *syntax.Call) []int64 {
	const name, most = "lquantize( )", 1<<31 - 1
	base := c.param(x, 1, name, -most-1, most, LquantBasetype, LquantBaseval)
	limit := c.param(x, 2, name, -most-1, most, LquantLimtype, LquantLimval)
	if limit < base {
		c.fail(x, LquantMismatch, "%s base (argument #2) must be less than limit (argument #3)", name)
	}
	step := int64(1)
	if len(x.Args) > 3 {
		step = c.param(x, 3, name, 1, 1<<16-1, LquantSteptype, LquantStepval)
	}
	switch levels := (limit - base) / step; {
	case levels == 0:
		c.fail(x, LquantSteplarge, "%s step (argument #4) too large: must have at least one quantization level", name)
	case levels > 1<<16-1:
		c.fail(x, LquantStepsmall, "%s step (argument #4) too small: must have less than 65536 quantization levels", name)
	}
	return []int64{base, limit, step}
}

// llquantize checks llquantize(v, factor, low, high, nsteps [, increment]).
func (c *checker) llquantize(x *syntax.Call) []int64 {
	const name, most = "llquantize( )", 1<<16 - 1
	factor := c.param(x, 1, name, 0, most, LlquantFactype, LlquantFacval)
	if factor < 2 {
		c.fail(x.Args[1], LlquantFacsmall, "%s factor (argument #2) must be two or more", name)
	}
	low := c.param(x, 2, name, 0, most, LlquantLowtype, LlquantLowval)
	high := c.param(x, 3, name, 0, most, LlquantHightype, LlquantHighval)
	steps := c.param(x, 4, name, 1, most, LlquantNsteptype, LlquantNstepval)
	if low >= high {
		c.fail(x, LlquantMagrange, "%s low magnitude (argument #3) must be less than high magnitude (argument #4)", name)
	}
	if steps < factor {
		c.fail(x, LlquantFacnsteps, "%s factor (argument #2) must be at most the number of linear steps (argument #5)", name)
	}
	power := factor
	for power < steps {
		power *= factor
	}
	if steps%factor != 0 || power%steps != 0 {
		c.fail(x, LlquantFaceven, "%s factor (argument #2) must evenly divide steps per magnitude (argument #5)", name)
	}
	if overflows(uint64(factor), high+1) {
		c.fail(x, LlquantMagtoobig, "%s factor (%d) raised to the power of high magnitude (%d) overflows 64 bits", name, factor, high)
	}
	return []int64{factor, low, high, steps}
}

// overflows reports whether base to the n is over 63 bits.
func overflows(base uint64, n int64) bool {
	v := uint64(1)
	for ; n > 0; n-- {
		hi, lo := bits.Mul64(v, base)
		if hi != 0 || lo >= 1<<63 {
			return true
		}
		v = lo
	}
	return false
}

// matchTags are the errors when a parameter differs from that of the first use.
var matchTags = map[agg.Fn][]syntax.Tag{
	agg.LQuantize:  {LquantMatchbase, LquantMatchlim, LquantMatchstep},
	agg.LLQuantize: {LlquantFacmatch, LlquantLowmatch, LlquantHighmatch, LlquantNstpmatch},
}

func (c *checker) matchParams(x *syntax.Call, agg *Agg, params []int64) {
	for i, v := range params {
		if v != agg.Params[i] {
			c.fail(x, matchTags[agg.Fn][i], "%s( ) argument #%d doesn't match previous declaration: %d is not %d (line %d)",
				agg.Fn, i+2, v, agg.Params[i], agg.Line)
		}
	}
}
