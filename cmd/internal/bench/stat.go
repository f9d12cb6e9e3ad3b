package main

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// median returns the median of values, 0 of none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return summary(v).Center
}

// summary returns the median of values with its 95 % confidence interval, by order statistics. With
// fewer than 6 values there is no such interval; it is then the range of the values.
func summary(v []float64) benchmath.Summary {
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(v), &benchmath.DefaultThresholds), 0.95)
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		s.Lo, s.Hi, s.Confidence = slices.Min(v), slices.Max(v), 0
	}
	return s
}

// A series is one number of each round.
type series []float64

// pairwise combines two series round by round.
func pairwise(a, b series, f func(a, b float64) float64) series {
	out := make(series, len(a))
	for i := range a {
		out[i] = f(a[i], b[i])
	}
	return out
}

func ratio(a, b float64) float64 { return a / b }
func less(a, b float64) float64  { return a - b }

// perHit is a function for pairwise: what a hit costs, in nanoseconds of CPU, if a and
// b are seconds with and without hits of them.
func perHit(hits uint64) func(a, b float64) float64 {
	return func(a, b float64) float64 { return (a - b) * 1e9 / float64(hits) }
}

// rate is how many million hits fit into a second of CPU: the inverse of perHit. It is
// 0 where noise has swallowed the cost.
func rate(hits uint64) func(a, b float64) float64 {
	return func(a, b float64) float64 {
		if a <= b {
			return 0
		}
		return float64(hits) / (a - b) / 1e6
	}
}
