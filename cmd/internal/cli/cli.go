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
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
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
}

// A command is one word after trapline.
type command struct {
	name, args, short string
	run               func(e *env, args []string) error
}

// commands in the order of the help text.
func commands() []command {
	return []command{
		{"dtrace", "[-k IMAGE] [dtrace(1) flags] [macro arguments]", "trace a guest with D", runDtrace},
		{"boot", "[flags] IMAGE", "run a guest with its console shown", runBoot},
		{"image", "ls | get IMAGE | info IMAGE", "images known, fetched, cached", runImage},
		{"disas", "[-k IMAGE] FUNCTION | --all", "instructions, and how each would be probed", runDisas},
		{"version", "", "versions of trapline and of the emulator library", runVersion},
	}
}

// Main runs trapline with the arguments after its name and returns its exit status.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	e := &env{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr}
	return e.finish(e.dispatch(args))
}

func (e *env) dispatch(args []string) error {
	if len(args) == 0 {
		help(e.stderr)
		return &exit{status: statusUsage}
	}
	switch args[0] {
	case "help", "--help", "-h":
		help(e.stdout)
		return nil
	case "--version":
		return runVersion(e, nil)
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(e, args[1:])
		}
	}
	return usagef("there is no command %q: 'trapline help' lists them", args[0])
}

// finish turns an error into a message of one line and a status.
func (e *env) finish(err error) int {
	var x *exit
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return 0
	case errors.As(err, &x):
		if x.err != nil {
			e.complain(x.err)
		}
		return x.status
	}
	e.complain(err)
	return statusError
}

// complain writes an error. D's own messages begin with dtrace:, whatever we are called.
func (e *env) complain(err error) {
	text := strings.TrimSpace(err.Error())
	if !strings.HasPrefix(text, "dtrace: ") {
		text = "trapline: " + text
	}
	fmt.Fprintln(e.stderr, text)
}

func help(w io.Writer) {
	fmt.Fprint(w, "trapline boots a kernel under an emulator and traces it with D.\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  trapline %-8s %-46s %s\n", c.name, c.args, c.short)
	}
	fmt.Fprint(w, `
An IMAGE is a name that 'trapline image ls' shows, or the path of a kernel.
'trapline COMMAND --help' tells the flags of a command. Try:

  trapline dtrace -c 'forks 3' -n 'kinst::sys_*:0 { @[probefunc] = count(); }'
`)
}

// newFlags makes the flag set of a command, with its usage text.
func (e *env) newFlags(name string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.SortFlags = false
	f.Usage = func() {
		for _, c := range commands() {
			if c.name == name {
				fmt.Fprintf(e.stdout, "trapline %s %s\n%s\n\n%s", c.name, c.args, c.short, f.FlagUsages())
			}
		}
	}
	return f
}

// parse parses flags; what it does not understand is a usage error.
func parse(f *pflag.FlagSet, args []string) error {
	err := f.Parse(args)
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return err
	}
	return usagef("%s: %v: 'trapline %s --help' tells the flags", f.Name(), err, f.Name())
}
