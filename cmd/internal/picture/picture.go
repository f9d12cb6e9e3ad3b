// Package picture draws aggregations of traces: stacks as flame graphs, distributions as
// bars.
//
//	tracejson.Rows --flames, bars--> pictures --Write--> one SVG file
//
// What is under the pointer is told in full by the viewer, as a title.
package picture

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"trapline/cmd/tracejson"
)

// ErrNothing means that a trace has nothing that can be drawn.
var ErrNothing = errors.New("nothing to draw: aggregate stack() or use quantize, lquantize or llquantize")

// Sizes in pixels.
const (
	width  = 1200
	margin = 10
	line   = 18 // of text, and of a frame
	letter = 7  // width of a character
)

// A panel is one picture; draw writes what is at x in [0, inner) and y from 0 down.
type panel struct {
	title  string
	height int
	draw   func(b *strings.Builder)
}

const inner = width - 2*margin

// Write draws the rows of a trace, one picture below the other: for each aggregation whose
// keys have a stack a flame graph, for each distribution bars.
func Write(w io.Writer, rows []tracejson.Row) error {
	panels := append(flames(rows), bars(rows)...)
	if len(panels) == 0 {
		return ErrNothing
	}
	height := margin
	for _, p := range panels {
		height += p.height + 2*line
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="ui-monospace, 'DejaVu Sans Mono', monospace" font-size="12">
<rect width="100%%" height="100%%" fill="#fff"/>
`, width, height)
	y := margin
	for _, p := range panels {
		fmt.Fprintf(&b, "<g transform=\"translate(%d %d)\">\n<text y=\"12\" font-size=\"14\" font-weight=\"bold\">%s</text>\n<g transform=\"translate(0 %d)\">\n",
			margin, y, escape(p.title), line+4)
		p.draw(&b)
		b.WriteString("</g></g>\n")
		y += p.height + 2*line
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}

// clip shortens a text to what fits into so many pixels, "" if that is next to nothing.
func clip(s string, pixels float64) string {
	n := int(pixels) / letter
	switch r := []rune(s); {
	case len(r) <= n:
		return s
	case n < 3:
		return ""
	default:
		return string(r[:n-1]) + "…"
	}
}

// texts are the keys of a row that are no stacks, joined.
func texts(row tracejson.Row) string {
	var all []string
	for _, k := range row.Keys {
		if k.Stack == nil {
			all = append(all, k.Text)
		}
	}
	return strings.Join(all, ", ")
}
