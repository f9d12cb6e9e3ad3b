package listing

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"strings"

	"trapline/kernel/source"
	"trapline/trampoline"
)

//go:embed style.css
var style string

// HTML writes a page with listings: code under its source, inlined functions that can be
// folded away, and, under the pointer, the plan and the trampoline of an instruction. With
// counts; inlined functions that did not run are folded.
func HTML(w io.Writer, title string, all []*Listing, counts bool) error {
	var b strings.Builder
	b.WriteString(legend)
	for _, l := range all {
		l.html(&b, counts)
	}
	return Page{Title: title, Style: template.CSS(style), Body: template.HTML(b.String())}.Write(w)
}

const legend = `<p class="legend">Plans: copy <i class="k-relocate">relocate</i> <i class="k-emulate">emulate</i> <i class="k-guest">guest</i> <i class="k-refuse">refuse</i>.
The pointer on an instruction shows how it is displaced; a click on an inlined function folds it.</p>
`

func (l *Listing) html(b *strings.Builder, counts bool) {
	summary, columns := l.size(), ""
	if counts {
		summary, columns = l.summary(), fmt.Sprintf("%9s %7s ", "HITS", "TAKEN")
	}
	fmt.Fprintf(b, "<h2>%s</h2>\n<p>%s</p>\n", html.EscapeString(l.Name), html.EscapeString(summary))
	l.linesHTML(b)
	fmt.Fprintf(b, "<div class=code>\n<p class=head>%s%6s <s>%-23s </s>INSTRUCTION\n", columns, "OFFSET", "BYTES")
	most := l.most()
	var last Row
	for i := range l.Rows {
		r := &l.Rows[i]
		l.sourceHTML(b, last.Place, i, counts)
		r.html(b, most, counts)
		last = *r
	}
	b.WriteString(strings.Repeat("</details>", len(last.Place.Stack)) + "</div>\n")
}

// linesHTML writes the table of the hottest lines.
func (l *Listing) linesHTML(b *strings.Builder) {
	const shown = 20
	lines := l.lines()
	if len(lines) == 0 {
		return
	}
	b.WriteString("<div class=code>\n")
	total := float64(l.Total())
	for _, c := range lines[:min(shown, len(lines))] {
		share := 100 * float64(c.hits) / total
		fmt.Fprintf(b, "<p class=h%d>%9d %5.1f%%  %s\n", heat(c.hits, lines[0].hits), c.hits, share, html.EscapeString(l.place(c.Line)))
	}
	b.WriteString("</div>\n")
}

// sourceHTML closes the inlined functions that end before a row, opens those that begin, and
// writes the line.
func (l *Listing) sourceHTML(b *strings.Builder, from source.Place, row int, counts bool) {
	to := l.Rows[row].Place
	c := changed(from, to)
	b.WriteString(strings.Repeat("</details>\n", len(from.Stack)-c.depth))
	for i, f := range c.enter {
		open, ran := " open", ""
		if counts {
			if n := l.inside(row, c.depth+i+1); n > 0 {
				ran = fmt.Sprintf(": %d executions", n)
			} else {
				open, ran = "", ": did not run"
			}
		}
		fmt.Fprintf(b, "<details%s><summary>%s%s</summary>\n", open, html.EscapeString(callAt(f)), ran)
	}
	if c.line {
		fmt.Fprintf(b, "<h3>%s</h3>\n", html.EscapeString(l.place(to.Line)))
	}
}

func (r *Row) html(b *strings.Builder, most uint64, counts bool) {
	class, columns := fmt.Sprintf("h%d", heat(r.Hits, most)), ""
	if counts {
		hits, taken := r.hits()
		columns = fmt.Sprintf("%9s %7s ", hits, taken)
	} else {
		class = "any"
	}
	if r.Plan.Kind != trampoline.Copy {
		class = fmt.Sprintf("\"%s k-%s\"", class, r.Plan.Kind)
	}
	fmt.Fprintf(b, "<p class=%s data-t=\"%s\">%s%6d <s>%-23s </s>%s\n", class,
		html.EscapeString(r.tip()), columns, r.Off, fmt.Sprintf("%x", r.Code), html.EscapeString(r.Text))
}

// tip is what is shown of an instruction under the pointer.
func (r *Row) tip() string {
	if r.Slot == nil {
		return r.plan()
	}
	text := r.plan() + "; trampoline:"
	for _, i := range r.Slot {
		text += fmt.Sprintf("\n%-24x%s", i.Code, i.Text)
	}
	return text
}

// heat is a share of the most as a number from 0, for nothing, to 9.
func heat(n, most uint64) int {
	if n == 0 || most == 0 {
		return 0
	}
	return 1 + int(8*n/most)
}
