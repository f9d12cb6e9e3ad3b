package cli

import (
	"io"

	"github.com/spf13/pflag"

	"trapline/cmd/internal/picture"
	"trapline/cmd/internal/sandbox"
	"trapline/cmd/tracejson"
	"trapline/probes/d/option"
)

const flameNotes = `With a program, flame runs it, and takes the flags of dtrace. Without one it reads a trace of
'trapline dtrace --format json' from standard input. It draws a flame graph for each aggregation
with a stack() among its keys: a function is as wide as its share, and the functions that it calls
are above it. Distributions become bars.
`

// runFlame draws the aggregations of a trace.
func runFlame(e *env, args []string) error {
	t := &tracing{options: option.New()}
	var svg string
	f := t.flags(e, "flame", flameNotes, func(f *pflag.FlagSet) {
		f.StringVar(&svg, "svg", "", "write the picture to `FILE` instead of standard output")
	})
	err := t.parse(f, args)
	if err != nil {
		return err
	}
	if svg == "" && terminal(e.stdout) {
		return usagef("flame: the picture is a file for a browser: name it with --svg FILE")
	}
	var rows []tracejson.Row
	if len(t.sources) == 0 && len(t.args) == 0 {
		rows, err = tracejson.Read(e.stdin)
	} else {
		e.allow(sandbox.Policy{Files: []string{svg}})
		rows, err = e.captured("flame", t)
	}
	if err != nil {
		return err
	}
	draw := func(w io.Writer) error { return picture.Write(w, rows) }
	if svg == "" {
		return draw(e.stdout)
	}
	return writeFile(svg, draw)
}
