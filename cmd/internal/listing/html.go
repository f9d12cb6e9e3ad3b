package listing

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"strings"

	"trapline/cmd/internal/page"
	"trapline/kernel/source"
	"trapline/trampoline"
)

//go:embed style.css
var style string

// HTML writes a page with listings: code under its source, inlined functions folded away
// on demand, and, under the pointer, the plan and the trampoline of an instruction.
func HTML(w io.Writer, title string, all []*Listing) error {
	var b strings.Builder
	b.WriteString(legend)
	for _, l := range all {
		l.html(&b)
	}
	return page.Page{Title: title, Style: template.CSS(style), Body: template.HTML(b.String())}.Write(w)
}

const legend = `<p class="legend">Plans: copy <i class="k-relocate">relocate</i> <i class="k-emulate">emulate</i> <i class="k-guest">guest</i> <i class="k-refuse">refuse</i>.
The pointer on an instruction shows its trampoline. Columns: hits, branches taken, offset, bytes, instruction.</p>
`

func (l *Listing) html(b *strings.Builder) {
	fmt.Fprintf(b, "<h2>%s</h2>\n<p>%s</p>\n", html.EscapeString(l.Name), html.EscapeString(l.summary()))
	l.linesHTML(b)
	b.WriteString("<div class=code>\n")
	most := l.most()
	var last Row
	for i := range l.Rows {
		r := &l.Rows[i]
		l.sourceHTML(b, last.Place, r.Place)
		l.rowHTML(b, r, most)
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

// sourceHTML closes the inlined functions that end, opens those that begin, and writes the
// line.
func (l *Listing) sourceHTML(b *strings.Builder, from, to source.Place) {
	c := changed(from, to)
	b.WriteString(strings.Repeat("</details>\n", len(from.Stack)-c.depth))
	for _, f := range c.enter {
		fmt.Fprintf(b, "<details open><summary>%s</summary>\n", html.EscapeString(callAt(f)))
	}
	if c.line {
		fmt.Fprintf(b, "<h3>%s</h3>\n", html.EscapeString(l.place(to.Line)))
	}
}

func (l *Listing) rowHTML(b *strings.Builder, r *Row, most uint64) {
	hits, taken := r.hits()
	class := fmt.Sprintf("h%d", heat(r.Hits, most))
	if r.Plan.Kind != trampoline.Copy {
		class = fmt.Sprintf("\"%s k-%s\"", class, r.Plan.Kind)
	}
	fmt.Fprintf(b, "<p class=%s data-t=\"%s\">%9s %7s %6d <s>%-23s </s>%s\n", class,
		html.EscapeString(r.tip()), hits, taken, r.Off, fmt.Sprintf("%x", r.Code), html.EscapeString(r.Text))
}

// tip is what is shown of an instruction under the pointer.
func (r *Row) tip() string {
	if r.Slot == nil {
		return r.plan()
	}
	return fmt.Sprintf("%s; trampoline %x", r.plan(), r.Slot)
}

// heat is a share of the most as a number from 0, for nothing, to 9.
func heat(n, most uint64) int {
	if n == 0 || most == 0 {
		return 0
	}
	return 1 + int(8*n/most)
}
