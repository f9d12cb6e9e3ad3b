package testscripts

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// A command is one that scripts have besides testscript's own.
type command struct {
	name, args, doc string
	run             func(ts *testscript.TestScript, args []string)
}

var commands = []command{
	{"status", "N PROGRAM [ARG...]", "run a program, which must end with exit status N", status},
	{"figures", "NAME,... FILE FILE", "the lines of --stats in two files have the same figures of these names", figures},
	{"await", "FILE TEXT", "wait until a file contains a text", await},
}

func scriptCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	m := map[string]func(*testscript.TestScript, bool, []string){}
	for _, c := range commands {
		m[c.name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) < len(strings.Fields(c.args))-strings.Count(c.args, "[") {
				ts.Fatalf("usage: %s %s", c.name, c.args)
			}
			c.run(ts, args)
		}
	}
	return m
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
