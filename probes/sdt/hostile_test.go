package sdt

import (
	"strings"
	"testing"

	"trapline/probes"
)

// However far apart the image's symbols say that the ends of the jump table are, there is an answer.
func TestTableEnds(t *testing.T) {
	const start, end = "ffffffff81002000", "ffffffff81002030"
	for _, c := range []struct{ start, end, want string }{
		{start, end, "reading"},
		{start, start, ""},
		{end, start, ""},
		{start, "ffffffff83002001", ""},
		{start, "ffffffffffffffff", ""},
		{start, "0000000000000010", ""},
		{"0000000000000010", end, ""},
		{"0000000000000001", "ffffffffffffffff", ""},
	} {
		image := strings.NewReplacer(start, c.start, end, c.end).Replace(functions)
		_, r, _, _ := setupWith(t, image, table)
		d, err := probes.ParseDesc("sdt:::reading")
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if ps, _ := r.Match(d); len(ps) > 0 {
			got = ps[0].Name()
		}
		if got != c.want {
			t.Errorf("a table from %s to %s: probe %q, want %q", c.start, c.end, got, c.want)
		}
	}
}
