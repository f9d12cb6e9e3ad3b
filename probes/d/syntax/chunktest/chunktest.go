// Package chunktest runs tests of expected errors that are written in the source: a file
// of D programs separated by lines of ---, in which a line that must fail ends in
//
//	### "regexp"
//
// A chunk without such a line must not fail. The idea is that of starlark-go's chunkedfile.
package chunktest

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Run calls compile with each chunk of the file, blanked so that lines keep their
// numbers, and compares the error it returns, "line N: text", with what is expected.
func Run(t *testing.T, file string, compile func(src []byte) error) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line := 1
	for _, chunk := range strings.Split(string(data), "\n---\n") {
		source := strings.Repeat("\n", line-1) + chunk
		check(t, file, source, compile)
		line += strings.Count(chunk, "\n") + 2
	}
}

var expectation = regexp.MustCompile(`\s*### ("(?:[^"\\]|\\.)*"|` + "`[^`]*`" + `)\s*$`)

// check runs one chunk. Expectations are taken out of the source first.
func check(t *testing.T, file, source string, compile func([]byte) error) {
	t.Helper()
	lines := strings.Split(source, "\n")
	wantLine, want := 0, ""
	for i, l := range lines {
		if m := expectation.FindStringSubmatchIndex(l); m != nil {
			quoted, err := strconv.Unquote(l[m[2]:m[3]])
			if err != nil || want != "" {
				t.Fatalf("%s:%d: bad expectation, or a second one (%v)", file, i+1, err)
			}
			wantLine, want = i+1, quoted
			lines[i] = l[:m[0]]
		}
	}
	err := compile([]byte(strings.Join(lines, "\n")))
	switch {
	case err == nil && want != "":
		t.Errorf("%s:%d: no error, want %s", file, wantLine, want)
	case err != nil && want == "":
		t.Errorf("%s:%d: %v", file, firstLine(lines), err)
	case err != nil:
		pattern := regexp.MustCompile("line " + strconv.Itoa(wantLine) + ": " + want)
		if !pattern.MatchString(err.Error()) {
			t.Errorf("%s:%d: %v, want %s", file, wantLine, err, want)
		}
	}
}

func firstLine(lines []string) int {
	for i, l := range lines {
		if l != "" {
			return i + 1
		}
	}
	return 0
}
