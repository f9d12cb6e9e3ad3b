package script

import (
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"strings"
)

// indented sets each line of a log in.
func indented(log, by string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		b.WriteString(by + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

// WriteText writes a line for a script, and below it its log, if there is one.
func WriteText(w io.Writer, r Result) error {
	_, err := fmt.Fprintf(w, "%-4s  %s\n%s", r.Status, r.Name, indented(r.Log, "      "))
	return err
}

// TAP writes results in the Test Anything Protocol, version 13.
type TAP struct {
	W io.Writer
	n int
}

// Start writes the plan for n scripts.
func (t *TAP) Start(n int) error {
	_, err := fmt.Fprintf(t.W, "TAP version 13\n1..%d\n", n)
	return err
}

// Write writes the next result.
func (t *TAP) Write(r Result) error {
	t.n++
	verdict, directive := "ok", ""
	switch r.Status {
	case Failed:
		verdict = "not ok"
	case Skipped:
		directive = " # SKIP " + strings.Join(strings.Fields(r.Log), " ")
		r.Log = ""
	}
	name := strings.ReplaceAll(r.Name, "#", `\#`)
	_, err := fmt.Fprintf(t.W, "%s %d - %s%s\n%s", verdict, t.n, name, directive, indented(r.Log, "# "))
	return err
}

// The parts of a JUnit report that CI systems read.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string       `xml:"classname,attr"`
		Name    string       `xml:"name,attr"`
		Failure *junitDetail `xml:"failure,omitempty"`
		Skipped *junitDetail `xml:"skipped,omitempty"`
		Out     string       `xml:"system-out,omitempty"`
	}
	junitDetail struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes results as a JUnit report. It has no times: those are the host's.
func WriteJUnit(w io.Writer, results []Result) error {
	suite := junitSuite{Name: "trapline", Tests: len(results)}
	for _, r := range results {
		c := junitCase{Class: strings.ReplaceAll(path.Dir(r.Name), "/", "."), Name: path.Base(r.Name)}
		switch r.Status {
		case Failed:
			suite.Failures++
			c.Failure = &junitDetail{lastLine(r.Log), r.Log}
		case Skipped:
			suite.Skipped++
			c.Skipped = &junitDetail{Message: lastLine(r.Log)}
		default:
			c.Out = r.Log
		}
		suite.Cases = append(suite.Cases, c)
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the JUnit report: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

// lastLine is where a log says what went wrong.
func lastLine(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
