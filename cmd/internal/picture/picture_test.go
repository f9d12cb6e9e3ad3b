package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"trapline/cmd/tracejson"
)

const trace = `{"type":"aggregation","keys":["sh",[{"symbol":"leaf<"},{"symbol":"mid"},{"symbol":"main"}]],"values":[{"name":"@","function":"count","value":3}]}
{"type":"aggregation","keys":["sh",[{"symbol":"other"},{"symbol":"main"}]],"values":[{"name":"@","function":"count","value":1}]}
{"type":"aggregation","keys":["sh"],"values":[{"name":"@q","function":"quantize","buckets":[{"value":0,"count":2},{"value":1,"count":4}]}]}
{"type":"aggregation","keys":["sh"],"values":[{"name":"@n","function":"count","value":5}]}
`

func draw(t *testing.T, trace string) string {
	t.Helper()
	rows, err := tracejson.Read(strings.NewReader(trace))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWrite(t *testing.T) {
	svg := draw(t, trace)
	for _, want := range []string{
		"<title>all: 4, 100.0%</title>", "<title>main: 4, 100.0%</title>", "<title>mid: 3, 75.0%</title>",
		"<title>leaf&lt;: 3, 75.0%</title>", "<title>other: 1, 25.0%</title>",
		"@: count by stack", "@q: quantize of sh", "<title>1: 4, 66.7%</title>",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// A flame graph does not depend on the order of rows.
func TestOrder(t *testing.T) {
	lines := strings.SplitAfter(trace, "\n")
	if draw(t, lines[0]+lines[1]) != draw(t, lines[1]+lines[0]) {
		t.Error("another order of rows gives another picture")
	}
}

func TestNothing(t *testing.T) {
	rows, err := tracejson.Read(strings.NewReader(strings.SplitAfter(trace, "\n")[3]))
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(io.Discard, rows); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
}
