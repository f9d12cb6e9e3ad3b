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
		c.fail(x, AggFunc, "@%s must be assigned the result of an aggregating function", a.Name)
	}
	name, callee := c.callee(call)
	fn, ok := callee.(agg.Fn)
	if !ok {
		c.fail(call, AggFunc, "%s( ) is not an aggregating function: @%s", name, a.Name)
	}
	agg := c.aggs[a.Name]
	if agg == nil {
		agg = &Agg{Name: a.Name, Fn: fn, Keys: c.keyTypes("@"+a.Name+"[ ]", a.Keys, true), Line: x.Pos.Line}
	} else {
		c.sameAgg(x, a, agg, fn, name)
	}
	params := c.aggArgs(call, name, fn)
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
	least, most := fn.Args()
	if n := len(x.Args); n < least || n > most {
		if fn == agg.Quantize {
			c.fail(x, QuantProto, "quantize( ) prototype mismatch: %s passed, 1 to 2 expected", plural(n, "arg"))
		}
		c.protoLen(x, name, least, most)
	}
	for i, a := range x.Args {
		if t := c.value(a); i == 0 && !t.IsScalar() {
			c.fail(a, AggScalar, "%s( ) argument #1 must be of scalar type", name)
		}
	}
	switch fn {
	case agg.LQuantize:
		params = c.lquantize(x)
	case agg.LLQuantize:
		params = c.llquantize(x)
	}
	if incr := Increment(x, fn); incr != nil && !incr.Info().Type.IsInt() {
		c.protoArg(incr, name, len(x.Args)-1, "int", incr.Info().Type)
	}
	return params
}

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
