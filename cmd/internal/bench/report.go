package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A row is one line of the report: A, B, and what is made of them round by round.
type row struct {
	Name   string `json:"name"`
	A      series `json:"a"`
	B      series `json:"b,omitempty"`
	Unit   string `json:"unit"` // of A and B
	Result series `json:"result,omitempty"`
	Of     string `json:"of,omitempty"` // unit of Result, empty for a ratio
	Aim    *aim   `json:"aim,omitempty"`
	Note   string `json:"note,omitempty"` // instead of numbers, or beside them
}

// An aim is a bound for the median of Result.
type aim struct {
	Least bool    `json:"least"` // the bound is the least that is good, not the most
	Bound float64 `json:"bound"`
}

func atMost(v float64) *aim  { return &aim{Bound: v} }
func atLeast(v float64) *aim { return &aim{Least: true, Bound: v} }

func (a *aim) String() string {
	if a == nil {
		return ""
	}
	if a.Least {
		return ">= " + number(a.Bound)
	}
	return "<= " + number(a.Bound)
}

// verdict says whether a result meets its aim.
func (a *aim) verdict(v float64) string {
	switch {
	case a == nil:
		return ""
	case a.Least && v >= a.Bound, !a.Least && v <= a.Bound:
		return "met"
	}
	return "MISSED"
}

// number has the digits that mean something: three or so.
func number(v float64) string {
	switch {
	case v >= 100 || v <= -100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10 || v <= -10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// A report takes the results, section by section.
type report interface {
	section(comparison, []row) error
}

// table is a report as text, in columns of fixed width: medians of n rounds with their 95 % confidence
// intervals, or, marked by "?", the range of too few rounds.
type table struct {
	w       io.Writer
	started bool
}

const columns = "  %-38s %12s %12s %12s  %-17s %2s  %-9s %s\n"

func (t *table) section(c comparison, rows []row) error {
	var b strings.Builder
	if t.started {
		b.WriteByte('\n')
	}
	t.started = true
	fmt.Fprintf(&b, "%s: %s\n", c.name, c.short)
	line(&b, "", "A", "B", "result", "95 % interval", "n", "aim", "")
	for _, r := range rows {
		r.text(&b)
	}
	if len(rows) == 0 {
		b.WriteString("  could not be run\n")
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

func line(b *strings.Builder, cells ...any) {
	text := fmt.Sprintf(columns, cells...)
	b.WriteString(strings.TrimRight(text, " \n") + "\n")
}

func (r row) text(b *strings.Builder) {
	if len(r.A) > 0 {
		line(b, r.Name, cell(r.A, r.Unit), cell(r.B, r.Unit), cell(r.Result, r.Of), interval(r.Result), strconv.Itoa(len(r.A)),
			r.Aim.String(), r.Aim.verdict(median(r.Result)))
	}
	if r.Note != "" {
		b.WriteString("  " + r.Note + "\n")
	}
}

// cell is the median of a series with its unit.
func cell(s series, unit string) string {
	if len(s) == 0 {
		return ""
	}
	return strings.TrimRight(number(median(s))+" "+unit, " ")
}

// interval is the confidence interval of a series' median, or, with a question mark, its range.
func interval(s series) string {
	if len(s) == 0 {
		return ""
	}
	m := summary(s)
	text := number(m.Lo) + ".." + number(m.Hi)
	if m.Confidence == 0 {
		text += "?"
	}
	return text
}

// lines is a report of JSON objects, one for each row.
type lines struct{ w io.Writer }

func (l *lines) section(c comparison, rows []row) error {
	e := json.NewEncoder(l.w)
	for _, r := range rows {
		err := e.Encode(struct {
			Comparison string `json:"comparison"`
			row
			Median float64 `json:"median"`
		}{c.name, r, median(r.Result)})
		if err != nil {
			return err
		}
	}
	return nil
}

// benchmarks is a report in the format of Go's benchmarks: a line for each round of a row.
type benchmarks struct {
	w       io.Writer
	started bool
}

// units say to benchstat which way is better.
const units = "Unit ratio better=lower\nUnit Mhits/s better=higher\n"

func (b *benchmarks) section(c comparison, rows []row) error {
	if !b.started {
		b.started = true
		if _, err := io.WriteString(b.w, units); err != nil {
			return err
		}
	}
	for _, r := range rows {
		name := "Benchmark" + strings.ToUpper(c.name[:1]) + c.name[1:] + "/" + strings.ReplaceAll(r.Name, " ", "_")
		for i := range r.Result {
			unit := strings.ReplaceAll(r.Of, " ", "_")
			if unit == "" {
				unit = "ratio"
			}
			if _, err := fmt.Fprintf(b.w, "%s\t1\t%.4g %s\n", name, r.Result[i], unit); err != nil {
				return err
			}
		}
	}
	return nil
}
