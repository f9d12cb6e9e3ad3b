// Package cli is the command trapline: its subcommands, their flags, and the wiring of
// images, the machine and the tracer.
//
//	Main -> command table -> dtrace, boot, ... -> guest: image + machine + control channel
//	                                          '-> session: the trace, on the guest's machine
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"trapline/kernel"
)

// Exit statuses. Those of a guest in trouble leave room for the statuses of programs.
const (
	statusError  = 1   // a program that does not compile, a probe that cannot be enabled, any error of ours
	statusUsage  = 2   // the command line
	statusLimit  = 124 // --until or --timeout
	statusHang   = 125 // nothing can wake the guest
	statusPanic  = 126 // the guest's kernel has panicked
	statusTriple = 127 // triple fault, or the emulator failed
	statusSignal = 130 // interrupted

	statusTerminated = 143 // SIGTERM
)

// An exit ends the program with a status, and a message if it has one.
type exit struct {
	status int
	err    error // nil: nothing more to say
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// usagef is an error in the command line.
func usagef(format string, args ...any) error {
	return &exit{statusUsage, fmt.Errorf(format, args...)}
}

// env is what a command is run with.
type env struct {
	ctx            context.Context
	stdin          io.Reader
	stdout, stderr io.Writer

	screen   *screen      // nil unless messages go to a terminal
	json     bool         // errors are objects of JSON
	describe *manual      // a command that is asked for it describes itself here
	last     string       // the line of --stats: it comes after every message
	confined *confinement // of the process; nil if it is not to be confined
	secret   *secret      // of the process
}

// sink remembers that something could not be written, for callers that do not look.
type sink struct {
	io.Writer
	screen *screen // that it is shown on, if it is
	err    error
}

func (s *sink) Write(p []byte) (int, error) {
	s.screen.wrote(p)
	n, err := s.Writer.Write(p)
	if err != nil {
		s.err = fmt.Errorf("writing the output: %w", err)
	}
	return n, err
}

// A command is one word after trapline.
type command struct {
	name, args, short string
	run               func(e *env, args []string) error
	signals           bool // it ends in order when interrupted
}

// commands in the order of the help text.
func commands() []command {
	return []command{
		{"dtrace", "[-k IMAGE] [dtrace(1) flags] [macro arguments]", "trace a guest with D", runDtrace, true},
		{"boot", "[flags] [IMAGE]", "run a guest and show its console", runBoot, true},
		{"image", "ls | get IMAGE | info IMAGE", "list, fetch, build and describe images", runImage, true},
		{"snapshot", "ls | save IMAGE | info KEY | rm KEY... | rm --all", "list, save and remove snapshots of guests that have booted", runSnapshot, true},
		{"disas", "[-k IMAGE] FUNCTION | --all", "show instructions, and how each would be probed", runDisas, false},
		{"annotate", "[-k IMAGE] [-c LINE] FUNCTION", "count how often each instruction and line runs", runAnnotate, true},
		{"explain", "[-k IMAGE] [-c LINE] PROBE", "explain one firing of a probe, step by step", runExplain, true},
		{"flame", "[--svg FILE] [dtrace flags]", "draw stacks as a flame graph, distributions as bars", runFlame, true},
		{"diff", "A B [dtrace flags]", "run one trace on two images and show what differs", runDiff, true},
		{"script", "[flags] FILE|DIR...", "run test scripts, as CI does", runScript, true},
		{"explore", "--cpus N -c LINE [flags] [IMAGE]", "find an order of the CPUs in which something goes wrong", runExplore, true},
		{"inline", "[-k IMAGE] FUNCTION", "show where a function has been inlined", runInline, false},
		{"verify", "[flags] [IMAGE]", "compare displaced instructions with the emulator itself", runVerify, true},
		{"completion", "bash | zsh | fish", "print a completion script for a shell", runCompletion, false},
		{"version", "[-v]", "print the versions of trapline and of the emulator library", runVersion, false},
	}
}

// Main runs trapline with the arguments after its name and returns its exit status. The process
// is taken to be its own: where a guest has run in it, it is in a sandbox.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return mainIn(new(confinement), args, stdin, stdout, stderr)
}

// mainIn is Main in a process that is confined, or nil in one that must not be.
func mainIn(c *confinement, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &sink{Writer: stdout}
	e := &env{ctx: context.Background(), stdin: stdin, stdout: out, stderr: stderr, confined: c, secret: new(secret)}
	if terminal(stderr) {
		e.screen = &screen{out: stderr, patience: patience}
		e.stderr = &messages{stderr, e.screen}
	}
	if terminal(stdout) {
		out.screen = e.screen
	}
	err := e.dispatch(args)
	if ok := err == nil || errors.Is(err, pflag.ErrHelp); ok && out.err != nil {
		err = out.err
	}
	return e.finish(err)
}

func (e *env) dispatch(args []string) error {
	if len(args) == 0 {
		help(e.stderr)
		return &exit{status: statusUsage}
	}
	switch args[0] {
	case "help":
		return e.help(args[1:])
	case "complete": // asked by the programs of runCompletion
		return e.complete(args[1:])
	case "--help", "-h":
		return e.help(nil)
	case "--version":
		return runVersion(e, nil)
	}
	c, err := find(args[0])
	if err != nil {
		return err
	}
	return e.call(c, args[1:])
}

func find(name string) (command, error) {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
		if c.name == name {
			return c, nil
		}
	}
	hint := ""
	if near := kernel.Nearest(names, name, 1); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s? ", near[0])
	}
	return command{}, usagef("there is no command %q: %s'trapline help' lists them", name, hint)
}

// call runs a command. An interrupt lets it come to its end; a second one is deadly.
func (e *env) call(c command, args []string) error {
	if c.signals {
		defer e.heed()()
	}
	return e.signalled(c.run(e, args))
}

// heed has a signal end the command in order; a second one ends the process.
func (e *env) heed() (stop func()) {
	ctx, cancel := context.WithCancelCause(e.ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(received{s})
		case <-ctx.Done():
		}
	}()
	e.ctx = ctx
	return func() { signal.Stop(signals); cancel(nil) }
}

// received is why a command was cancelled.
type received struct{ os.Signal }

func (r received) Error() string { return r.String() }

// signalled gives a command that was asked to terminate the status of that, whatever it has made of it: what
// it has printed may not be all.
func (e *env) signalled(err error) error {
	var r received
	if !errors.As(context.Cause(e.ctx), &r) || r.Signal != syscall.SIGTERM {
		return err
	}
	var x *exit
	if err == nil || errors.As(err, &x) && (x.err == nil || x.status == statusSignal) {
		return &exit{status: statusTerminated}
	}
	return err
}

// finish turns an error into a message of one line and a status.
func (e *env) finish(err error) int {
	status := 0
	var x *exit
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
	case errors.As(err, &x):
		if status = x.status; x.err != nil {
			e.fail(x.err, status)
		}
	default:
		status = statusError
		e.fail(err, status)
	}
	io.WriteString(e.stderr, e.last)
	return status
}

// complain writes an error that does not end the program.
func (e *env) complain(err error) { e.fail(err, 0) }

// fail writes an error. D's own messages begin with dtrace:, whatever we are called.
func (e *env) fail(err error, status int) {
	text := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " ") + advice(err)
	if !strings.HasPrefix(text, "dtrace: ") {
		text = "trapline: " + text
	}
	if e.json {
		writeFailure(e.stderr, err, text, status)
		return
	}
	fmt.Fprintln(e.stderr, text)
}
