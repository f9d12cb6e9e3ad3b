package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/pflag"

	"trapline/probes/d/option"
	"trapline/probes/d/syntax"
	"trapline/probes/front"
)

// tracing is the command line of dtrace.
type tracing struct {
	guest   guestOptions
	sources []front.Source
	options *option.Options
	setting []string // of -x and the flags that stand for it, in order
	list    bool
	compile bool
	quiet   bool
	verbose bool
	destroy bool
	zero    bool
	version bool
	output  string
	into    io.Writer // instead of the standard output, if not nil
	bufsize string
	from    string
	args    []string // macro arguments
	show    shown
	pid     string // of -p
}

// absent are the flags of dtrace(1) that are not here, and why. The flags -32 and -64 are
// seen as -3 and -6.
var absent = []struct{ flag, why string }{
	{"3", noProcesses}, {"6", noProcesses},
	{"A", noAnonymous}, {"a", noAnonymous},
	{"B", "it has no meaning here: there are no boot loader files to write"},
	{"G", noProcesses},
	{"h", noProcesses + " (--help shows the flags)"},
}

const (
	noAnonymous = "anonymous tracing has no meaning here: '--from boot' traces the boot"
	noProcesses = "probes in object files of processes have no meaning here"
)

// absentFlag refuses a flag.
type absentFlag struct{ flag, why string }

func (absentFlag) String() string { return "" }
func (absentFlag) Type() string   { return "" }

func (a absentFlag) Set(string) error {
	name := map[string]string{"3": "32", "6": "64"}[a.flag]
	if name == "" {
		name = a.flag
	}
	return usagef("dtrace: -%s: %s", name, a.why)
}

func addAbsent(f *pflag.FlagSet) {
	for _, a := range absent {
		name := "absent-" + a.flag
		f.VarPF(absentFlag(a), name, a.flag, "").NoOptDefVal = "on"
		f.MarkHidden(name)
	}
}

// sourceFlag collects the programs in the order in which they are given.
type sourceFlag struct {
	t    *tracing
	kind syntax.SpecKind
	file bool
}

func (s sourceFlag) String() string { return "" }

func (sourceFlag) Type() string { return "string" }

func (s sourceFlag) Set(text string) error {
	if !s.file {
		s.t.sources = append(s.t.sources, front.Source{Text: text, Kind: s.kind})
		return nil
	}
	body, err := os.ReadFile(text)
	if err != nil {
		return &exit{statusError, fmt.Errorf("dtrace: failed to open script: %w", err)}
	}
	s.t.sources = append(s.t.sources, front.Source{File: text, Text: string(body)})
	return nil
}

const dtraceNotes = `A probe is PROVIDER:MODULE:FUNCTION:NAME. Parts may be left out, and may be patterns. fbt has the
probes entry and return of each function: fbt::FUNCTION:entry. kinst has probes of instructions,
in the functions that the description names: kinst::FUNCTION: is all of them,
kinst::FUNCTION:OFFSET is one. 'trapline disas' shows the offsets, '-x help' the options.
Arguments that are not flags, and all arguments after --, are macro arguments: $1, $2 and so on.

Tracing starts when the guest's init starts the command of -c. Without a command, or with
--from boot, it starts with the guest.
`

// flags returns dtrace's flags for the command name, with notes for its help, after those that own
// adds.
func (t *tracing) flags(e *env, name, notes string, own func(*pflag.FlagSet)) *pflag.FlagSet {
	f := e.newFlags(name, notes, kernelFiles())
	own(f)
	t.guest.imageFlag(f)
	f.VarP(sourceFlag{t: t, kind: syntax.ByName}, "name", "n", "enable `PROBE`, with an optional /predicate/ and {actions}")
	f.VarP(sourceFlag{t: t, kind: syntax.ByFunc}, "function", "f", "enable the probes of `FUNCTION`, or MODULE:FUNCTION")
	f.VarP(sourceFlag{t: t, kind: syntax.ByModule}, "in-module", "m", "enable the probes of `MODULE`")
	f.VarP(sourceFlag{t: t, kind: syntax.ByProvider}, "provider", "P", "enable the probes of `PROVIDER`")
	f.VarP(sourceFlag{t: t, kind: syntax.ByID}, "id", "i", "enable the probe `NUMBER`, which -l shows")
	f.VarP(sourceFlag{t: t, file: true}, "script", "s", "run the D script `FILE`")
	f.BoolVarP(&t.list, "list", "l", false, "list the probes instead of enabling them")
	f.BoolVarP(&t.compile, "compile", "e", false, "compile and match, then exit without tracing")
	f.BoolVarP(&t.quiet, "quiet", "q", false, "print traced data only")
	f.StringVarP(&t.output, "output", "o", "", "append the trace to `FILE`")
	f.StringVarP(&t.bufsize, "bufsize", "b", "", "set the `SIZE` of the trace buffer")
	f.VarP((*settingFlag)(&t.setting), "option", "x", "set option `NAME[=VALUE]`; -x help lists them")
	t.addOptionFlags(f)
	f.BoolVarP(&t.verbose, "verbose", "v", false, "report what was skipped, and why")
	f.BoolVarP(&t.destroy, "destructive", "w", false, "allow destructive actions")
	f.BoolVarP(&t.zero, "zero", "Z", false, "allow descriptions that match no probe")
	f.BoolVarP(&t.version, "api-version", "V", false, "print the version of the D language")
	f.StringVar(&t.guest.moduleDir, "module-dir", "", "find the files of modules that the guest loads below `DIR`")
	f.StringVar(&t.from, "from", "", "enable probes at `WHEN`: boot, before the guest's first instruction; by default when its command starts")
	t.guest.add(f)
	addAbsent(f)
	return f
}

// noFlags is for a command that has none of its own.
func noFlags(*pflag.FlagSet) {}

// parse reads the command line and settles the options.
func (t *tracing) parse(f *pflag.FlagSet, args []string) error {
	if err := parse(f, args); err != nil {
		return err
	}
	t.args = f.Args()
	if t.from != "" && t.from != "boot" {
		return usagef("dtrace: --from %q: it must be boot", t.from)
	}
	if _, err := strconv.ParseUint(t.pid, 10, 31); t.pid != "" && err != nil {
		return usagef("dtrace: -p %s: it must be the number of a process", t.pid)
	}
	for _, s := range t.setting {
		if err := t.options.SetArg(s); err != nil && s != "help" {
			return usagef("dtrace: %w", err)
		}
	}
	if t.bufsize != "" {
		if err := t.options.Set("bufsize", t.bufsize); err != nil {
			return usagef("dtrace: -b: %w", err)
		}
	}
	t.options.Quiet = t.options.Quiet || t.quiet
	t.options.Verbose = t.options.Verbose || t.verbose
	t.options.Destructive = t.options.Destructive || t.destroy
	t.options.ZeroDefs = t.options.ZeroDefs || t.zero
	return nil
}
