package listing

import (
	"regexp"
	"strings"
	"testing"
)

// A page asks for nothing: neither its own parts nor those of others refer to anything.
func TestSelfContained(t *testing.T) {
	var b strings.Builder
	if err := (Page{Title: "<a> & b", Style: "p { margin: 0 }", Body: "<p>text</p>"}).Write(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"<title>&lt;a&gt; &amp; b</title>", "p { margin: 0 }", "<p>text</p>"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if outside := regexp.MustCompile(`src=|url\(|@import|https?:|<script|href="[^d#]`).FindString(text); outside != "" {
		t.Errorf("%s", outside)
	}
}
