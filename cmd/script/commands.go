package script

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"trapline/images"
)

// A Command is one that scripts have besides testscript's own.
type Command struct {
	Name, Args, Doc string
	run             func(ts *testscript.TestScript, neg bool, args []string)
}

// Commands are those of every script, in the order of the manual.
var Commands = []Command{
	{"trapline", "[ARG...]", "run trapline, as exec trapline does", trapline},
	{"status", "N PROGRAM [ARG...]", "run a program, which must end with exit status N", plain(status)},
	{"figures", "NAME,... FILE FILE", "the lines of --stats in two files have the same figures of these names", plain(figures)},
	{"await", "FILE TEXT", "wait until a file contains a text", plain(await)},
}

// Usage is a line for each command.
func Usage() string {
	var b strings.Builder
	for _, c := range Commands {
		fmt.Fprintf(&b, "    %-32s %s\n", c.Name+" "+c.Args, c.Doc)
	}
	return b.String()
}

// plain is a command that cannot be negated.
func plain(run func(*testscript.TestScript, []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("this command cannot be negated")
		}
		run(ts, args)
	}
}

func commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	m := map[string]func(*testscript.TestScript, bool, []string){}
	for _, c := range Commands {
		m[c.Name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if len(args) < len(strings.Fields(c.Args))-strings.Count(c.Args, "[") {
				ts.Fatalf("usage: %s %s", c.Name, c.Args)
			}
			c.run(ts, neg, args)
		}
	}
	return m
}

func trapline(ts *testscript.TestScript, neg bool, args []string) {
	switch err := ts.Exec("trapline", args...); {
	case err == nil && neg:
		ts.Fatalf("unexpected success")
	case err != nil && !neg:
		ts.Fatalf("%v", err)
	}
}

func status(ts *testscript.TestScript, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	have := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		have = exit.ExitCode() // -1: killed by a signal, as it is when the test has no time left
	case err != nil:
		ts.Fatalf("running %s: %v", args[1], err)
	}
	if have != want {
		ts.Fatalf("exit status %d, want %d", have, want)
	}
}

func figures(ts *testscript.TestScript, args []string) {
	a, b := statsLine(ts, args[1]), statsLine(ts, args[2])
	for _, name := range strings.Split(args[0], ",") {
		switch {
		case a[name] == "":
			ts.Fatalf("%s: no figure %s", args[1], name)
		case a[name] != b[name]:
			ts.Fatalf("%s: %s in %s, %s in %s", name, a[name], args[1], b[name], args[2])
		}
	}
}

// statsLine finds the figures of the one line that --stats has written into a file.
func statsLine(ts *testscript.TestScript, file string) map[string]string {
	for line := range strings.Lines(ts.ReadFile(file)) {
		if !strings.HasPrefix(line, "end=") {
			continue
		}
		m := map[string]string{}
		for _, f := range strings.Fields(line) {
			name, value, _ := strings.Cut(f, "=")
			m[name] = value
		}
		return m
	}
	ts.Fatalf("%s: no line of --stats", file)
	return nil
}

func await(ts *testscript.TestScript, args []string) {
	for range 600 {
		// Not ts.ReadFile: that the file is not there yet is no failure.
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && strings.Contains(string(text), args[1]) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("%s does not contain %q after 30 seconds", args[0], args[1])
}

// condition answers [image:NAME]: whether the user has that image.
func condition(cond string) (bool, error) {
	name, ok := strings.CutPrefix(cond, "image:")
	if !ok {
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	spec, err := (images.Store{}).Lookup(name)
	switch spec.State {
	case images.Embedded, images.Fetched, images.Built:
		return true, err
	}
	return false, err
}
