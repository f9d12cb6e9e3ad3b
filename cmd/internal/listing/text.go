package listing

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"trapline/trampoline"
)

// Style says how text is shown.
type Style struct {
	Color  bool // for a terminal that has colours
	Counts bool // columns of hits and taken branches, and a table of lines before
}

// Colours of a terminal (ECMA-48, 8.3.117).
const (
	plain   = ""
	bold    = "1"
	faint   = "2"
	red     = "31"
	green   = "32"
	yellow  = "33"
	magenta = "35"
	cyan    = "36"
)

var planColors = map[trampoline.Kind]string{
	trampoline.Refuse: red, trampoline.Copy: plain, trampoline.Relocate: yellow,
	trampoline.Emulate: cyan, trampoline.Guest: magenta,
}

func (s Style) paint(color, text string) string {
	if !s.Color || color == plain || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// Text writes a listing in columns that fit the longest.
func (l *Listing) Text(out io.Writer, s Style) error {
	w := bufio.NewWriter(out)
	if s.Counts {
		l.hottest(w, s)
	}
	fmt.Fprintf(w, "%s: %d bytes at 0x%x\n", s.paint(bold, l.Name), l.Size, l.Addr)
	bytes, text := 30, 48 // at least: most functions look alike
	for i := range l.Rows {
		bytes, text = max(bytes, 2*len(l.Rows[i].Code)), max(text, len(l.Rows[i].Text))
	}
	var last Row
	for i := range l.Rows {
		r := &l.Rows[i]
		l.source(w, s, &last, r)
		counts := ""
		if s.Counts {
			counts = l.counts(s, r)
		}
		fmt.Fprintf(w, "%s%6d  %s  %-*s  %s\n", counts, r.Off, s.paint(faint, fmt.Sprintf("%-*x", bytes, r.Code)), text, r.Text,
			s.paint(planColors[r.Plan.Kind], r.plan()))
		last = *r
	}
	return w.Flush()
}

// source writes what is new about the source: functions that begin, and the line.
func (l *Listing) source(w io.Writer, s Style, last, r *Row) {
	c := changed(last.Place, r.Place)
	margin := "        "
	if s.Counts {
		margin += strings.Repeat(" ", countsWidth)
	}
	for i, f := range c.enter {
		fmt.Fprintf(w, "%s%s%s\n", margin, strings.Repeat("  ", c.depth+i), s.paint(bold, callAt(f)))
	}
	if c.line {
		fmt.Fprintf(w, "%s%s%s\n", margin, strings.Repeat("  ", len(r.Place.Stack)), s.paint(green, l.place(r.Place.Line)))
	}
}

// countsWidth is that of the columns of counts.
const countsWidth = 20

func (l *Listing) counts(s Style, r *Row) string {
	hits, taken := r.hits()
	color := plain
	switch most := l.most(); {
	case r.Hits == 0:
		color = faint
	case 2*r.Hits >= most:
		color = red
	case 10*r.Hits >= most:
		color = yellow
	}
	return s.paint(color, fmt.Sprintf("%10s", hits)) + fmt.Sprintf(" %8s ", taken)
}

// hottest writes the summary and the hottest lines.
func (l *Listing) hottest(w io.Writer, s Style) {
	fmt.Fprintf(w, "%s\n", l.summary())
	const shown = 10
	lines := l.lines()
	if len(lines) > 0 {
		fmt.Fprintf(w, "\n%10s  %6s  %s\n", "INSTRS", "SHARE", "SOURCE LINE")
	}
	total := float64(l.Total())
	for _, c := range lines[:min(shown, len(lines))] {
		fmt.Fprintf(w, "%10d  %5.1f%%  %s\n", c.hits, 100*float64(c.hits)/total, s.paint(green, l.place(c.Line)))
	}
	if more := len(lines) - shown; more > 0 {
		fmt.Fprintf(w, "%20s%d more lines\n", "", more)
	}
	fmt.Fprintf(w, "\n%10s %8s\n", "HITS", "TAKEN")
}
