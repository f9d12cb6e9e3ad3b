package main

import "slices"

// median of values, the mean of the middle two if they are even in number; 0 of none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return (s[mid-1] + s[mid]) / 2
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
