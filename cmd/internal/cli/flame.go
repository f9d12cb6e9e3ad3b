package cli

import (
	"io"

	"trapline/cmd/internal/picture"
	"trapline/cmd/internal/sandbox"
	"trapline/cmd/tracejson"
	"trapline/probes/d/option"
)

const flameNotes = `Without a D program a trace of 'trapline dtrace --format json' is read from standard input,
otherwise the program is run, and the flags are those of dtrace. Of each aggregation whose
keys have a stack() a flame graph is drawn: a function is as wide as its share, those that
it calls are above it. Distributions are drawn as bars.
`

// runFlame draws the aggregations of a trace.
func runFlame(e *env, args []string) error {
	t := &tracing{options: option.New()}
	f := t.flags(e, "flame", flameNotes)
	svg := f.String("svg", "", "write the picture to `FILE`, not to standard output")
	err := t.parse(f, args)
	if err != nil {
		return err
	}
	if *svg == "" && terminal(e.stdout) {
		return usagef("flame: the picture is a file for a browser: name it with --svg FILE")
	}
	var rows []tracejson.Row
	if len(t.sources) == 0 && len(t.args) == 0 {
		rows, err = tracejson.Read(e.stdin)
	} else {
		e.allow(sandbox.Policy{Files: []string{*svg}})
		rows, err = e.captured("flame", t)
	}
	if err != nil {
		return err
	}
	draw := func(w io.Writer) error { return picture.Write(w, rows) }
	if *svg == "" {
		return draw(e.stdout)
	}
	return writeFile(*svg, draw)
}
