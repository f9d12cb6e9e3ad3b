package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"trapline/cmd/tracejson"
)

// capture runs a trace and returns its aggregations. What the guest's command and the
// program write is dropped.
func (e *env) capture(name string, t *tracing) ([]tracejson.Row, error) {
	switch {
	case t.list || t.compile || t.version || t.output != "":
		return nil, usagef("%s: -l, -e, -V and -o are for dtrace", name)
	case len(t.sources) == 0:
		return nil, usagef("%s: nothing to trace: give a program with -n, -f, -m, -P, -i or -s", name)
	}
	f, err := os.CreateTemp("", "trapline-trace")
	if err != nil {
		return nil, fmt.Errorf("making room for the trace: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	t.output, t.options.Out.Quiet = f.Name(), true
	if err := t.options.Set("oformat", "json"); err != nil {
		return nil, err
	}
	silent := *e
	silent.stdout = io.Discard
	err = silent.trace(t)
	e.last = silent.last
	var x *exit
	if said := errors.As(err, &x) && x.err == nil && x.status != statusSignal; err != nil && !said { // exit(n) in D is a good end
		return nil, err
	}
	return tracejson.Read(f)
}
