package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/pflag"
)

func help(w io.Writer) {
	fmt.Fprint(w, "trapline boots a kernel under an emulator and traces it with D.\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  trapline %-56s %s\n", fmt.Sprintf("%-8s %s", c.name, c.args), c.short)
	}
	fmt.Fprintln(w)
	helpNotes(w)
}

// helpNotes is what there is to say of all commands.
func helpNotes(w io.Writer) {
	fmt.Fprint(w, `An IMAGE is a name that 'trapline image ls' shows, or the path of a kernel.
'trapline COMMAND --help' shows the flags of a command. Try:

  trapline dtrace -c 'forks 3' -n 'kinst::sys_*:0 { @[probefunc] = count(); }'

Exit status: 0 fine, 1 an error, 2 a wrong command line; 124 a limit was reached,
125 the guest hangs, 126 its kernel panicked, 127 it triple-faulted or the emulator
failed; 130 interrupted, 143 terminated by SIGTERM. boot -c gives the command's own,
dtrace that of exit(); Ctrl-C is a good end of a trace, 0.
`)
}

// help tells all, or what one command does, or writes man pages.
func (e *env) help(args []string) error {
	switch {
	case len(args) == 0:
		help(e.stdout)
		return nil
	case args[0] == "--man" && len(args) == 2:
		return writeManuals(args[1])
	case args[0] == "--man":
		return usagef("help: --man DIR: name a directory for the man pages")
	}
	c, err := find(args[0])
	if err != nil {
		return err
	}
	return c.run(e, []string{"--help"})
}

// newFlags makes the flag set of a command, with what there is to say after it.
func (e *env) newFlags(name string, notes ...string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.SortFlags = false
	f.Usage = func() {
		c, _ := find(name)
		manual{c, f, notes}.help(e.stdout)
	}
	if e.describe != nil {
		e.describe.flags, e.describe.notes = f, notes
	}
	return f
}

// parse parses flags; what it does not understand is a usage error, unless the flag has
// one of its own.
func parse(f *pflag.FlagSet, args []string) error {
	err := f.Parse(args)
	var x *exit
	if err == nil || errors.Is(err, pflag.ErrHelp) || errors.As(err, &x) {
		return err
	}
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		reason := errors.Unwrap(bad)
		switch {
		case errors.Is(err, strconv.ErrSyntax):
			reason = errors.New("it must be a whole number")
		case errors.Is(err, strconv.ErrRange):
			reason = errors.New("the number is too large")
		}
		return usagef("--%s %s: %w", bad.GetFlag().Name, bad.GetValue(), reason)
	}
	return usagef("%s: %v: 'trapline %s --help' shows the flags", f.Name(), err, f.Name())
}
