// Package page writes HTML pages that are one file: nothing is fetched, and they can be
// mailed, attached to a CI run or opened from disk.
package page

import (
	_ "embed"
	"html/template"
	"io"
)

// A Page is the content of an HTML page.
type Page struct {
	Title string
	Style template.CSS  // besides that of every page
	Body  template.HTML // below the title
}

//go:embed page.html
var source string

var page = template.Must(template.New("page").Parse(source))

// Write writes the page.
func (p Page) Write(w io.Writer) error { return page.Execute(w, p) }
