package consume

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"trapline/probes/d/agg"
)

// labels are the keys of rows as text, all of one width: integers in the column of their size, others
// right-justified in one of keyWidth or the longest. ok is false if a key takes several lines.
func (t *Text) labels(tab *agg.Table, rows []agg.Row) (text []string, width int, ok bool) {
	widths := make([]int, len(tab.Keys))
	for i, k := range tab.Keys {
		switch k.Kind {
		case agg.KeyInt:
			continue
		case agg.KeyString, agg.KeySym:
			widths[i] = keyWidth
		default:
			return nil, 0, false
		}
		for _, r := range rows {
			widths[i] = max(widths[i], len(t.label(k, r.Key[i])))
		}
	}
	for _, r := range rows {
		line := t.made(func() {
			for i, k := range tab.Keys {
				if k.Kind == agg.KeyInt {
					t.number(r.Key[i].Int, r.Key[i].Size)
				} else {
					t.buf = fmt.Appendf(t.buf, " %*s", widths[i], t.label(k, r.Key[i]))
				}
			}
		})
		text, width = append(text, line), max(width, len(line))
	}
	return text, width, true
}

// keyWidth is the least width of a key that is not an integer, beside a bar.
const keyWidth = 16

// label is a key that is not an integer.
func (t *Text) label(k agg.Key, p agg.Part) string {
	if k.Kind == agg.KeySym {
		return string(t.form(nil, formOf(k), p.Int))
	}
	return string(p.Bytes)
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
	if pack {
		t.packed(tab, rows, text, width)
	} else {
		t.histogram(tab, rows, text, width)
	}
	return true
}

func (t *Text) histogram(tab *agg.Table, rows []agg.Row, text []string, width int) {
	if len(tab.Keys) == 0 {
		text, width = []string{strings.Repeat(" ", keyWidth)}, keyWidth
	}
	t.buf = fmt.Appendf(t.buf, "\n%*s %41s %-9s\n", width, "key", distribution, "count")
	values := make([]int64, len(rows))
	for i, r := range rows {
		values[i] = tab.Number(r.Data[0], tab.Normal)
	}
	most := zoomed
	if slices.Min(values) >= 0 {
		most = 1
	}
	bars := newBars(values, &t.opts, most)
	for i, n := range values {
		t.buf = append(append(t.buf, text[i]...), ' ')
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
	if v, _ := tab.Bucket(first); tab.Fn == agg.Quantize && v == -1 && !counted(rows, first) {
		first++
	}
	if tab.Fn == agg.LQuantize {
		first, last = 0, len(rows[0].Data[0])-1
	}
	from, to := string(trimBlanks(appendLabel(nil, tab, first))), string(trimBlanks(appendLabel(nil, tab, last)))
	left, right, key := max(len(from), 4), max(len(to), 4), "key"
	if tab.Fn == agg.LQuantize {
		left, right = 7, 8
	}
	if len(tab.Keys) == 0 {
		key = ""
	}
	t.buf = fmt.Appendf(t.buf, "\n%*s %*s .%s. %-*s | count\n", width, key, left, "min", strings.Repeat("-", last-first+1), right, "max")
	for i, r := range rows {
		t.buf = fmt.Appendf(t.buf, "%s %*s :", text[i], left, from)
		sum := t.marks(r.Data[0][first : last+1])
		t.buf = fmt.Appendf(t.buf, ": %-*s | %d\n", right, to, sum/tab.Normal)
	}
}

// counted reports whether a bucket is not empty in one of the rows.
func counted(rows []agg.Row, bucket int) bool {
	return slices.ContainsFunc(rows, func(r agg.Row) bool { return r.Data[0][bucket] != 0 })
}

// marks prints the buckets and returns their sum.
func (t *Text) marks(counts []int64) (sum int64) {
	scale := newBars(counts, &t.opts, zoomed)
	for _, n := range counts {
		sum += n
		switch {
		case n == 0:
			t.buf = append(t.buf, ' ')
		case n < 0:
			t.buf = append(t.buf, negMarks[min(scale.length(n, len(negMarks)-1), len(negMarks)-1)])
		case t.opts.UTF8:
			t.buf = utf8.AppendRune(t.buf, '▁'+rune(min(scale.length(n, 7), 7)))
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
