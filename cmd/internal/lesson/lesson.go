// Package lesson tells one firing of a probe step by step, for people who learn how
// instructions are traced.
//
//	Watcher: a target between the provider and the machine --> Firing: what happened
//	Firing --Lesson--> steps of prose and pictures --Text, HTML-->
//
// All values are those of the firing. The pictures are those of the paper on kinst.
package lesson

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"strings"

	"trapline/cmd/internal/listing"
)

// A Lesson is a firing told in steps.
type Lesson struct {
	Title string
	Steps []Step
}

// A Step is one thing that happens.
type Step struct {
	Title  string
	Blocks []Block
}

// A Block is a paragraph, or a picture whose columns stand below each other.
type Block struct {
	Text    string
	Picture bool
}

// say adds a paragraph.
func (s *Step) say(format string, args ...any) {
	s.Blocks = append(s.Blocks, Block{Text: fmt.Sprintf(format, args...)})
}

// show adds a picture, or to the last one; lines end in newlines.
func (s *Step) show(lines ...string) {
	text := strings.Join(lines, "")
	if n := len(s.Blocks); n > 0 && s.Blocks[n-1].Picture {
		s.Blocks[n-1].Text += text
		return
	}
	s.Blocks = append(s.Blocks, Block{Text: text, Picture: true})
}

// width is where paragraphs are broken on a terminal.
const width = 92

// Text writes the lesson for a terminal.
func (l Lesson) Text(w io.Writer) error {
	var b strings.Builder
	b.WriteString(l.Title + "\n")
	for i, s := range l.Steps {
		fmt.Fprintf(&b, "\n%d. %s\n\n", i+1, s.Title)
		for j, block := range s.Blocks {
			if j > 0 {
				b.WriteString("\n")
			}
			if block.Picture {
				b.WriteString(indent(block.Text))
			} else {
				b.WriteString(indent(wrap(block.Text)))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("   " + line)
	}
	return b.String()
}

// wrap breaks a paragraph into lines.
func wrap(text string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteString("\n")
			column = 0
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String() + "\n"
}

var body = template.Must(template.New("lesson").Parse(`{{range .Steps}}<section>
<h2>{{.Title}}</h2>
{{range .Blocks}}{{if .Picture}}<pre>{{.Text}}</pre>{{else}}<p>{{.Text}}</p>{{end}}
{{end}}</section>
{{end}}`))

const style = `body { counter-reset: step; } h2::before { counter-increment: step; content: counter(step) ". "; color: var(--soft); }`

// HTML writes the lesson as a page.
func (l Lesson) HTML(w io.Writer) error {
	var b bytes.Buffer
	if err := body.Execute(&b, l); err != nil {
		return err
	}
	return listing.Page{Title: l.Title, Style: style, Body: template.HTML(b.String())}.Write(w)
}
