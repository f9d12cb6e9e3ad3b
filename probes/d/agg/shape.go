package agg

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"sort"
)

// shape is what a Spec comes to: how many 64-bit values stand under a key and how they are
// updated. In them:
//
//	count sum min max   the number
//	avg                 count, sum
//	stddev              count, sum, low and high half of the sum of squares
//	quantizations       one count for each bucket
type shape struct {
	*function
	size int
	// bounds are the lower ends of the buckets of llquantize from the second on.
	bounds []int64
	// base and step are those of lquantize.
	base int64
	step uint64
}

// Most buckets of lquantize, from the manual: its number of levels has 16 bits.
const maxLevels = math.MaxUint16

// Buckets of quantize: 63 powers of two below zero, zero, 63 above.
const (
	quantizeZero = 63
	quantizeSize = 2*quantizeZero + 1
)

func newShape(s Spec) (shape, error) {
	if int(s.Fn) >= len(functions) {
		return shape{}, fmt.Errorf("no aggregating function %d", s.Fn)
	}
	sh := shape{function: &functions[s.Fn], size: functions[s.Fn].size}
	if sh.lay != nil {
		return sh, sh.lay(&sh, s.Args)
	}
	return sh, nil
}

func (sh *shape) linear(args []int64) error {
	if len(args) != 3 {
		return errors.New("lquantize needs a base, a limit and a step")
	}
	base, limit, step := args[0], args[1], args[2]
	if limit <= base || step <= 0 {
		return fmt.Errorf("lquantize from %d to %d by %d has no buckets", base, limit, step)
	}
	levels := uint64(limit-base) / uint64(step)
	if levels == 0 || levels > maxLevels {
		return fmt.Errorf("lquantize from %d to %d by %d has %d levels, not 1 to %d", base, limit, step, levels, maxLevels)
	}
	sh.base, sh.step, sh.size = base, uint64(step), int(levels)+2
	return nil
}

// logLinear lays out llquantize: from factor^low to factor^(high+1), each power of factor
// in steps of equal width.
func (sh *shape) logLinear(args []int64) error {
	if len(args) != 4 {
		return errors.New("llquantize needs a factor, two magnitudes and a number of steps")
	}
	factor, low, high, steps := args[0], args[1], args[2], args[3]
	if factor < 2 || low < 0 || high < low || steps < factor || steps > maxLevels || steps%factor != 0 {
		return fmt.Errorf("llquantize(%d, %d, %d, %d) has no buckets", factor, low, high, steps)
	}
	from := int64(1)
	for order := int64(0); order <= high; order++ {
		if from > math.MaxInt64/factor {
			return fmt.Errorf("llquantize: %d to the power %d is too large", factor, high+1)
		}
		to := from * factor
		if order >= low {
			n := min(to, steps)
			if to%n != 0 {
				return fmt.Errorf("llquantize: %d steps do not divide %d", steps, to)
			}
			for v := from; v < to; v += to / n {
				sh.bounds = append(sh.bounds, v)
			}
		}
		from = to
	}
	sh.bounds = append(sh.bounds, from)
	sh.size = len(sh.bounds) + 1
	return nil
}

func addSquare(_ *shape, d []int64, v, _ int64) {
	d[0]++
	d[1] += v
	m := magnitude(v)
	hi, lo := bits.Mul64(m, m)
	var carry uint64
	lo, carry = bits.Add64(uint64(d[2]), lo, 0)
	hi, _ = bits.Add64(uint64(d[3]), hi, carry)
	d[2], d[3] = int64(lo), int64(hi)
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// levelOf is the position of the bucket of lquantize that v falls into.
func (sh *shape) levelOf(v int64) int {
	if v < sh.base {
		return 0
	}
	return int(min((uint64(v)-uint64(sh.base))/sh.step, uint64(sh.size-2))) + 1
}

// logLevelOf is that of llquantize.
func (sh *shape) logLevelOf(v int64) int {
	return sort.Search(len(sh.bounds), func(i int) bool { return sh.bounds[i] > v })
}

// powerOf is that of quantize.
func powerOf(v int64) int {
	n := min(bits.Len64(magnitude(v)), quantizeZero)
	if v < 0 {
		return quantizeZero - n
	}
	return quantizeZero + n
}

// Edge reports whether a bucket is one of the outermost of lquantize or llquantize, which are open.
type Edge uint8

// Edges.
const (
	Within Edge = iota // values from the bucket's own on (quantize below zero: down)
	Below              // values less than the bucket's
	Above              // values not less than the bucket's
)

// Bucket is the value that stands for bucket i of a quantization, as printed.
func (t *Table) Bucket(i int) (value int64, edge Edge) { return t.shape.bucket(&t.shape, i) }

// level is Bucket of lquantize.
func (sh *shape) level(i int) (value int64, edge Edge) {
	i, edge = sh.open(i)
	return sh.base + int64(uint64(i)*sh.step), edge
}

// logLevel is Bucket of llquantize.
func (sh *shape) logLevel(i int) (value int64, edge Edge) {
	i, edge = sh.open(i)
	return sh.bounds[i], edge
}

// open is the index of the bound of a bucket, where the outermost are open.
func (sh *shape) open(i int) (bound int, edge Edge) {
	switch i {
	case 0:
		return 0, Below
	case sh.size - 1:
		return i - 1, Above
	}
	return i - 1, Within
}

// EmptyRows is the first and the last bucket that stand for a quantization in which all are
// empty.
func (t *Table) EmptyRows() (first, last int) {
	if t.Fn == Quantize {
		return quantizeZero - 1, quantizeZero + 1
	}
	return 0, min(2, t.shape.size-1)
}

// power is Bucket of quantize.
func power(_ *shape, i int) (value int64, edge Edge) {
	switch {
	case i < quantizeZero:
		return -1 << (quantizeZero - 1 - i), Within
	case i > quantizeZero:
		return 1 << (i - quantizeZero - 1), Within
	}
	return 0, Within
}

// Number is the value of an aggregation that is not a quantization, from the Data of a row,
// divided by normal: 1 as a rule. The average and the deviation of nothing are 0.
func (t *Table) Number(d []int64, normal int64) int64 { return t.shape.number(d, normal) }

// deviation is the square root of (average of the squares - square of the average), in
// whole numbers, of values divided by normal.
func deviation(d []int64, normal int64) int64 {
	if d[0] == 0 {
		return 0
	}
	squares := new(big.Int).SetUint64(uint64(d[3]))
	squares.Lsh(squares, 64).Add(squares, new(big.Int).SetUint64(uint64(d[2])))
	by := big.NewInt(normal)
	squares.Quo(squares, by).Quo(squares, by).Quo(squares, big.NewInt(d[0]))
	avg := big.NewInt(d[1] / normal / d[0])
	squares.Sub(squares, avg.Mul(avg, avg))
	if squares.Sign() < 0 {
		return 0
	}
	return squares.Sqrt(squares).Int64()
}
