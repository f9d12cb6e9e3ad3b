package listing

import (
	_ "embed"
	"html/template"
	"io"
)

// A Page is an HTML page that is one file: nothing is fetched, and it can be mailed, attached to a CI run
// or opened from disk.
type Page struct {
	Title string
	Style template.CSS  // besides that of every page
	Body  template.HTML // below the title
}

//go:embed page.html
var pageSource string

var page = template.Must(template.New("page").Parse(pageSource))

// Write writes the page.
func (p Page) Write(w io.Writer) error { return page.Execute(w, p) }
