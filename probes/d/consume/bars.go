package consume

import (
	"fmt"

	"trapline/probes/d/agg"
)

// labels are the keys of rows as text, with the width of the longest; ok is false if a key
// takes several lines.
func (t *Text) labels(tab *agg.Table, rows []agg.Row) (text []string, width int, ok bool) {
	for _, r := range rows {
		var b []byte
		for i, k := range tab.Keys {
			if i > 0 {
				b = append(b, ' ')
			}
			switch p := r.Key[i]; k.Kind {
			case agg.KeyInt:
				b = fmt.Appendf(b, "%d", traced(p.Int, k.Size))
			case agg.KeyString:
				b = append(b, p.Bytes...)
			case agg.KeySym:
				b = t.form(b, formOf(k), p.Int)
			default:
				return nil, 0, false
			}
		}
		text, width = append(text, string(b)), max(width, len(b))
	}
	return text, width, true
}

// barRows prints an aggregation with one line for each row: a bar, or a whole distribution.
// It reports false where that is not asked for or not possible.
func (t *Text) barRows(tab *agg.Table, rows []agg.Row) bool {
	pack := t.opts.AggPack && tab.Fn.Distribution() && tab.Fn != agg.LLQuantize
	if !pack && (!t.opts.AggHist || tab.Fn.Distribution()) || len(rows) == 0 {
		return false
	}
	text, width, ok := t.labels(tab, rows)
	if !ok {
		return false
	}
	width = max(width, 16)
	if pack {
		t.packed(tab, rows, text, width)
	} else {
		t.histogram(tab, rows, text, width)
	}
	return true
}

func (t *Text) histogram(tab *agg.Table, rows []agg.Row, text []string, width int) {
	t.buf = fmt.Appendf(t.buf, "\n%*s %41s %-9s\n", width, "key", distribution, "count")
	values := make([]int64, len(rows))
	for i, r := range rows {
		values[i] = tab.Number(r.Data[0], tab.Normal)
	}
	bars := newBars(values, t.opts.AggZoom)
	for i, n := range values {
		t.buf = fmt.Appendf(t.buf, "%*s ", width, text[i])
		t.buf = bars.append(t.buf, n)
		t.buf = fmt.Appendf(t.buf, " %-9d\n", n)
	}
}

// Marks of a bucket in a packed distribution, from few to many, and for negative counts.
const (
	marks    = "__xxxxXX"
	negMarks = "vvvvVV"
)

// packed prints all distributions over the same buckets, one mark for each.
func (t *Text) packed(tab *agg.Table, rows []agg.Row, text []string, width int) {
	first, last := shown(tab, rows[0].Data[0])
	for _, r := range rows[1:] {
		lo, hi := shown(tab, r.Data[0])
		first, last = min(first, lo), max(last, hi)
	}
	from, to := string(trimBlanks(appendLabel(nil, tab, first))), string(trimBlanks(appendLabel(nil, tab, last)))
	left, right := max(len(from), 3), max(len(to), 3)
	line := "--------------------"
	for len(line) <= last-first {
		line += line
	}
	t.buf = fmt.Appendf(t.buf, "\n%*s  %*s .%s. %-*s | count\n", width, "key", left, "min", line[:last-first+1], right, "max")
	for i, r := range rows {
		t.buf = fmt.Appendf(t.buf, "%*s  %*s :", width, text[i], left, from)
		sum := t.marks(r.Data[0][first : last+1])
		t.buf = fmt.Appendf(t.buf, ": %-*s | %d\n", right, to, sum/tab.Normal)
	}
}

// marks prints the buckets and returns their sum.
func (t *Text) marks(counts []int64) (sum int64) {
	scale := newBars(counts, t.opts.AggZoom)
	for _, n := range counts {
		sum += n
		switch {
		case n == 0:
			t.buf = append(t.buf, ' ')
		case n < 0:
			t.buf = append(t.buf, negMarks[min(scale.length(n, len(negMarks)-1), len(negMarks)-1)])
		default:
			t.buf = append(t.buf, marks[min(scale.length(n, len(marks)-1), len(marks)-1)])
		}
	}
	return sum
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	return b
}
