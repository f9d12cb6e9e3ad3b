// Package picture draws aggregations of traces: stacks as flame graphs, distributions as
// bars.
//
//	tracejson.Rows --flames, bars--> pictures --Write--> one SVG file
//
// Lengths along the lines are percentages, so that a picture is as wide as the window and its
// text keeps its size. The viewer shows what is under the pointer in full, as a title. In a
// browser a click on a frame of a flame graph widens it, and names can be searched; any other
// viewer shows the same picture.
package picture

import (
	_ "embed"
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
	width   = 1200 // where the viewer does not say
	margin  = 10
	line    = 18 // of text, and of a frame
	control = 30 // the search field
)

// A panel is one picture; draw writes what is at y from 0 down.
type panel struct {
	title  string
	height int
	draw   func(b *strings.Builder)
}

//go:embed picture.css
var style string

//go:embed flame.js
var script string

// Write draws the rows of a trace, one picture below the other: for each aggregation whose
// keys have a stack a flame graph, for each distribution bars.
func Write(w io.Writer, rows []tracejson.Row) error {
	graphs := flames(rows)
	panels := append(graphs, bars(rows)...)
	if len(panels) == 0 {
		return ErrNothing
	}
	var b strings.Builder
	y := margin
	if len(graphs) > 0 {
		fmt.Fprintf(&b, searchField, y)
		y += control
	}
	for _, p := range panels {
		p.write(&b, y)
		y += p.height + 2*line
	}
	if len(graphs) > 0 {
		fmt.Fprintf(&b, "<script><![CDATA[\n%s]]></script>\n", script)
	}
	_, err := fmt.Fprintf(w, document, width, y, style, b.String())
	return err
}

const document = `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d">
<style>
%s</style>
<rect width="100%%" height="100%%" fill="#fff"/>
%s</svg>
`

// searchField is an element of HTML, which browsers show.
const searchField = `<foreignObject x="1%%" y="%d" width="98%%" height="26"><input xmlns="http://www.w3.org/1999/xhtml" type="search" placeholder="search" aria-label="search functions"/></foreignObject>
`

func (p panel) write(b *strings.Builder, y int) {
	fmt.Fprintf(b, `<svg class="panel" x="1%%" y="%d" width="98%%" height="%d">
<text class="title" y="12">%s</text>
<text class="matched" x="100%%" y="12"/>
<svg y="%d" height="%d">
`, y, p.height+line+4, escape(p.title), line+4, p.height)
	p.draw(b)
	b.WriteString("</svg></svg>\n")
}

func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
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
