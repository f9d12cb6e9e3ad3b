package agg

import (
	"fmt"
	"math"
)

// Fn is an aggregating function.
type Fn uint8

// Aggregating functions.
const (
	Count Fn = iota
	Sum
	Avg
	Min
	Max
	Stddev
	Quantize
	LQuantize
	LLQuantize
)

// A function is a row of the table of aggregating functions. A new one is a constant, a row and,
// if it has constant parameters, what package check asks of them.
type function struct {
	name        string
	least, most int // arguments in D: the value, constant parameters, the increment
	incr        int // index of the argument that weighs the value; 0: there is none

	// size is how many 64-bit values stand under a key, lay finds it out from the constants. first
	// is the first of them before any update.
	size   int
	lay    func(sh *shape, args []int64) error
	first  int64
	update func(sh *shape, d []int64, v, incr int64)

	// One of them: number is the value of a function that is not a distribution, bucket the value
	// that stands for the i-th bucket of one that is.
	number func(d []int64, normal int64) int64
	bucket func(sh *shape, i int) (value int64, edge Edge)
}

var functions = [...]function{
	Count: {name: "count", size: 1, number: only,
		update: func(_ *shape, d []int64, _, incr int64) { d[0] += incr }},
	Sum: {name: "sum", least: 1, most: 1, size: 1, number: only,
		update: func(_ *shape, d []int64, v, _ int64) { d[0] += v }},
	Avg: {name: "avg", least: 1, most: 1, size: 2, number: average,
		update: func(_ *shape, d []int64, v, _ int64) { d[0]++; d[1] += v }},
	Min: {name: "min", least: 1, most: 1, size: 1, number: only, first: math.MaxInt64,
		update: func(_ *shape, d []int64, v, _ int64) { d[0] = min(d[0], v) }},
	Max: {name: "max", least: 1, most: 1, size: 1, number: only, first: math.MinInt64,
		update: func(_ *shape, d []int64, v, _ int64) { d[0] = max(d[0], v) }},
	Stddev: {name: "stddev", least: 1, most: 1, size: 4, number: deviation, update: addSquare},
	Quantize: {name: "quantize", least: 1, most: 2, incr: 1, size: quantizeSize, bucket: power,
		update: func(_ *shape, d []int64, v, incr int64) { d[powerOf(v)] += incr }},
	LQuantize: {name: "lquantize", least: 3, most: 5, incr: 4, lay: (*shape).linear, bucket: (*shape).level,
		update: func(sh *shape, d []int64, v, incr int64) { d[sh.levelOf(v)] += incr }},
	LLQuantize: {name: "llquantize", least: 5, most: 6, incr: 5, lay: (*shape).logLinear, bucket: (*shape).logLevel,
		update: func(sh *shape, d []int64, v, incr int64) { d[sh.logLevelOf(v)] += incr }},
}

// Functions lists the aggregating functions.
func Functions() []Fn {
	all := make([]Fn, len(functions))
	for i := range all {
		all[i] = Fn(i)
	}
	return all
}

// String is the function's name in D.
func (f Fn) String() string {
	if int(f) < len(functions) {
		return functions[f].name
	}
	return fmt.Sprintf("Fn(%d)", uint8(f))
}

// Args is how many arguments a call has in D, at least and at most: the value, constant
// parameters, and the increment.
func (f Fn) Args() (least, most int) { return functions[f].least, functions[f].most }

// Increment is the index of the argument that weighs the value. It reports false if the
// function has none.
func (f Fn) Increment() (i int, ok bool) { return functions[f].incr, functions[f].incr > 0 }

// Distribution reports whether the function keeps a table of buckets rather than a number.
func (f Fn) Distribution() bool { return functions[f].bucket != nil }

// only is the value of a function that keeps one number.
func only(d []int64, normal int64) int64 { return d[0] / normal }

// average is 0 of nothing.
func average(d []int64, normal int64) int64 {
	if d[0] == 0 {
		return 0
	}
	return d[1] / normal / d[0]
}
