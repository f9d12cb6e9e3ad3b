package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"trapline/cmd/tracejson"
)

// A capture is a trace that is to be made for its aggregations. It is made before any guest runs,
// and must be closed.
type capture struct {
	t    *tracing
	file *os.File // for the trace; it has no name
}

// newCapture makes one, for the command name.
func newCapture(name string, t *tracing) (*capture, error) {
	switch {
	case t.list || t.compile || t.version || t.output != "":
		return nil, usagef("%s: -l, -e, -V and -o are for dtrace", name)
	case len(t.sources) == 0:
		return nil, usagef("%s: nothing to trace: give a program with -n, -f, -m, -P, -i or -s", name)
	}
	f, err := os.CreateTemp("", "trapline-trace")
	if err == nil {
		err = os.Remove(f.Name())
	}
	if err != nil {
		return nil, fmt.Errorf("making room for the trace: %w", err)
	}
	t.into, t.options.Quiet = f, true
	if err := t.options.Set("oformat", "json"); err != nil {
		f.Close()
		return nil, err
	}
	return &capture{t, f}, nil
}

func (c *capture) close() { c.file.Close() }

// run runs the trace and returns its aggregations. What the guest's command and the program write
// is dropped.
func (c *capture) run(e *env) ([]tracejson.Row, error) {
	silent := *e
	silent.stdout = io.Discard
	err := silent.trace(c.t)
	e.last = silent.last
	var x *exit
	if said := errors.As(err, &x) && x.err == nil && x.status != statusSignal; err != nil && !said { // exit(n) in D is a good end
		return nil, err
	}
	if _, err := c.file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading the trace: %w", err)
	}
	return tracejson.Read(c.file)
}

// captured makes and runs one trace.
func (e *env) captured(name string, t *tracing) ([]tracejson.Row, error) {
	c, err := newCapture(name, t)
	if err != nil {
		return nil, err
	}
	defer c.close()
	return c.run(e)
}
