package consume

import (
	"fmt"
	"math"
	"unicode/utf8"

	"trapline/probes/d/agg"
	"trapline/probes/d/option"
)

// barWidth is the columns of the bars of a distribution.
const barWidth = 40

// ats is a full bar.
const ats = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"

// distribution is what stands above bars.
const distribution = "------------- Distribution -------------"

// appendDistribution prints the buckets of a quantization, counts divided by the table's
// normal: those from the first to the last that is not empty and one more on each side.
func (t *Text) appendDistribution(b []byte, tab *agg.Table, counts []int64) []byte {
	b = fmt.Appendf(b, "\n%16s %41s %-9s\n", "value", distribution, "count")
	first, last := shown(tab, counts)
	bars := newBars(counts[first:last+1], &t.opts, zoomed)
	for i := first; i <= last; i++ {
		b = append(appendLabel(b, tab, i), ' ')
		b = bars.append(b, counts[i])
		b = fmt.Appendf(b, " %-9d\n", counts[i]/tab.Normal)
	}
	return b
}

func shown(tab *agg.Table, counts []int64) (first, last int) {
	first, last = 0, len(counts)-1
	for first < len(counts) && counts[first] == 0 {
		first++
	}
	if first == len(counts) {
		return tab.EmptyRows()
	}
	for counts[last] == 0 {
		last--
	}
	return max(first-1, 0), min(last+1, len(counts)-1)
}

func appendLabel(b []byte, tab *agg.Table, i int) []byte {
	v, edge := tab.Bucket(i)
	switch edge {
	case agg.Below:
		return fmt.Appendf(b, "%16s", fmt.Sprintf("< %d", v))
	case agg.Above:
		return fmt.Appendf(b, "%16s", fmt.Sprintf(">= %d", v))
	}
	return fmt.Appendf(b, "%16d", v)
}

// bars draws bars on one scale. With counts of one sign they start at that side; with both
// the axis is in the middle.
type bars struct {
	total    float64 // the magnitude of a bar that takes the part most of the width
	most     float64
	neg, pos bool
	blocks   bool // bars without negative counts are of blocks, to an eighth of a column
}

// zoomed is the part of the width that the longest bar of a distribution takes with aggzoom.
const zoomed = 0.95

// newBars makes the scale of counts. With aggzoom the longest bar takes the part most of the width,
// otherwise all bars together take all of it.
func newBars(counts []int64, o *option.View, most float64) bars {
	s := bars{blocks: o.UTF8, most: 1}
	if o.AggZoom {
		s.most = most
	}
	for _, n := range counts {
		if v := math.Abs(float64(n)); o.AggZoom {
			s.total = max(s.total, v)
		} else {
			s.total += v
		}
		s.neg = s.neg || n < 0
		s.pos = s.pos || n > 0
	}
	return s
}

func (s bars) append(b []byte, n int64) []byte {
	switch {
	case s.blocks && s.pos && !s.neg:
		return s.fine(append(b, '|'), n)
	case !s.neg:
		return s.right(append(b, '|'), n, barWidth)
	case !s.pos:
		return append(s.left(b, n, barWidth), '|')
	}
	const half = barWidth / 2
	b = append(s.left(b, min(n, 0), half), '|')
	return s.right(b, max(n, 0), half)
}

func (s bars) left(b []byte, n int64, width int) []byte {
	l := s.length(n, width)
	return append(appendBlanks(b, width-l), ats[:l]...)
}

func (s bars) right(b []byte, n int64, width int) []byte {
	l := s.length(n, width)
	return appendBlanks(append(b, ats[:l]...), width-l)
}

// fine appends a bar of full blocks, and one of so many eighths as are left.
func (s bars) fine(b []byte, n int64) []byte {
	l := math.Abs(float64(n)) * barWidth * s.most / s.total
	whole := int(l)
	for range whole {
		b = append(b, "█"...)
	}
	if part := int((l - float64(whole)) * 8); part > 0 {
		b = utf8.AppendRune(b, '█'+rune(8-part))
		whole++
	}
	return appendBlanks(b, barWidth-whole)
}

func (s bars) length(n int64, width int) int {
	if s.total == 0 {
		return 0
	}
	return int(math.Abs(float64(n))*float64(width)*s.most/s.total + 0.5)
}
