package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"trapline/emu"
	"trapline/kernel/arch"
	"trapline/probes/d/syntax"
	"trapline/probes/session"
)

// epoch is the time of the guest's start, 2025-01-01 00:00:00 UTC, in nanoseconds: what
// its clock chip shows.
const epoch = 1735689600e9

// tracing is the command line of dtrace.
type tracing struct {
	guest   guestOptions
	sources []session.Source
	options *session.Options
	setting []string // of -x, in order
	list    bool
	compile bool
	quiet   bool
	verbose bool
	destroy bool
	zero    bool
	version bool
	output  string
	bufsize string
	from    string
	args    []string
	show    shown
	pid     string // of -p
}

// sourceFlag collects the programs in the order in which they are given.
type sourceFlag struct {
	t    *tracing
	kind syntax.SpecKind
	file bool
}

func (s sourceFlag) String() string { return "" }

func (s sourceFlag) Type() string {
	if s.file {
		return "file"
	}
	return "probe"
}

func (s sourceFlag) Set(text string) error {
	if !s.file {
		s.t.sources = append(s.t.sources, session.Source{Text: text, Kind: s.kind})
		return nil
	}
	body, err := os.ReadFile(text)
	if err != nil {
		return &exit{statusError, fmt.Errorf("dtrace: failed to open script: %w", err)}
	}
	s.t.sources = append(s.t.sources, session.Source{File: text, Text: string(body)})
	return nil
}

// refused are the flags of dtrace(1) that mean nothing here.
var refused = map[string]string{
	"A": "anonymous tracing has no meaning here: '--from boot' traces the boot",
	"a": "anonymous tracing has no meaning here: '--from boot' traces the boot",
	"B": "-B has no meaning here: there are no boot loader files",
	"G": "user-level probes in object files have no meaning here",
}

type refusedFlag struct{ why string }

func (refusedFlag) String() string     { return "" }
func (refusedFlag) Type() string       { return "" }
func (r refusedFlag) Set(string) error { return errors.New(r.why) }
func (refusedFlag) IsBoolFlag() bool   { return true }

func (t *tracing) flags(e *env) *pflag.FlagSet {
	f := e.newFlags("dtrace")
	f.SetInterspersed(true)
	t.guest.imageFlag(f)
	f.VarP(sourceFlag{t: t, kind: syntax.ByName}, "name", "n", "probe by name, with an optional /predicate/ and {actions}")
	f.VarP(sourceFlag{t: t, kind: syntax.ByFunc}, "function", "f", "probes by function")
	f.VarP(sourceFlag{t: t, kind: syntax.ByModule}, "module", "m", "probes by module")
	f.VarP(sourceFlag{t: t, kind: syntax.ByProvider}, "provider", "P", "probes by provider")
	f.VarP(sourceFlag{t: t, kind: syntax.ByID}, "id", "i", "probe by the number that -l shows")
	f.VarP(sourceFlag{t: t, file: true}, "script", "s", "D script")
	f.BoolVarP(&t.list, "list", "l", false, "list the probes instead of enabling them")
	f.BoolVarP(&t.compile, "compile", "e", false, "compile and match, then exit without tracing")
	f.BoolVarP(&t.quiet, "quiet", "q", false, "only explicitly traced data")
	f.StringVarP(&t.output, "output", "o", "", "append the trace to `FILE`")
	f.StringVarP(&t.bufsize, "bufsize", "b", "", "trace buffer `SIZE`")
	f.StringArrayVarP(&t.setting, "option", "x", nil, "option `NAME[=VALUE]`")
	t.addOptionFlags(f)
	f.BoolVarP(&t.verbose, "verbose", "v", false, "tell what was skipped, and why")
	f.BoolVarP(&t.destroy, "destructive", "w", false, "allow destructive actions")
	f.BoolVarP(&t.zero, "zero", "Z", false, "allow descriptions that match no probe")
	f.BoolVarP(&t.version, "api-version", "V", false, "tell the version of the D language")
	t.guest.add(f)
	f.StringVar(&t.from, "from", "", "`boot`: enable before the guest's first instruction, not when its command starts")
	for name, why := range refused {
		f.VarPF(refusedFlag{why}, "refused-"+name, name, "").NoOptDefVal = "true"
		f.MarkHidden("refused-" + name)
	}
	return f
}

func runDtrace(e *env, args []string) error {
	t := &tracing{options: session.NewOptions()}
	f := t.flags(e)
	if err := t.parse(f, args); err != nil {
		return err
	}
	if t.version {
		fmt.Fprintln(e.stdout, "dtrace: Sun D 1.13")
		return nil
	}
	if len(t.sources) == 0 && !t.list {
		return usagef("dtrace: nothing to trace: give a program with -n, -f, -m, -P, -i or -s")
	}
	out := e.stdout
	if t.output != "" {
		file, err := os.OpenFile(t.output, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return fmt.Errorf("dtrace: opening the output file: %w", err)
		}
		defer file.Close()
		out = file
	}
	return e.trace(t, out)
}

func (t *tracing) parse(f *pflag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil {
		var x *exit
		if errors.As(err, &x) || errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return usagef("dtrace: %v: 'trapline dtrace --help' tells the flags", err)
	}
	t.args = f.Args()
	if t.from != "" && t.from != "boot" {
		return usagef("dtrace: --from %q: it must be boot", t.from)
	}
	for _, s := range t.setting {
		if err := t.options.SetArg(s); err != nil {
			return &exit{statusUsage, fmt.Errorf("dtrace: %w", err)}
		}
	}
	if t.bufsize != "" {
		if err := t.options.Set("bufsize", t.bufsize); err != nil {
			return &exit{statusUsage, fmt.Errorf("dtrace: -b: %w", err)}
		}
	}
	t.options.Out.Quiet = t.options.Out.Quiet || t.quiet
	t.options.Verbose = t.options.Verbose || t.verbose
	t.options.Destructive = t.options.Destructive || t.destroy
	t.options.ZeroDefs = t.options.ZeroDefs || t.zero
	return nil
}

// trace compiles the programs, runs the guest to where tracing starts, and traces.
func (e *env) trace(t *tracing, out io.Writer) error {
	log := io.Discard
	if t.guest.console {
		log = e.stderr
	}
	g, err := e.newGuest(t.guest, guestConfig{console: log, inPlace: t.options.Patch == "inplace", symbols: true})
	if err != nil {
		return err
	}
	defer g.close()
	return (&tracer{env: e, tracing: t, guest: g, out: out}).run()
}

// tracer is a session on a guest.
type tracer struct {
	*env
	*tracing
	guest   *guest
	session *session.Session
	out     io.Writer
}

func (t *tracer) run() error {
	g := t.guest
	moves := g.placed.Image == nil // a compressed kernel decides where it runs
	if !moves {
		if done, err := t.prepare(); done || err != nil {
			return err
		}
	}
	end, fromBoot := endStopped, t.from == "boot" || t.tracing.guest.command == ""
	if !fromBoot || moves {
		ready, e, err := t.approach(moves && fromBoot)
		if err != nil {
			return err
		}
		if end = e; !ready {
			return t.unready(end)
		}
	}
	if moves {
		if err := g.findSlide(); err != nil {
			return err
		}
		if done, err := t.prepare(); done || err != nil {
			return err
		}
	}
	return t.record()
}

// approach runs the guest to where tracing starts: to its waiting for a command, or as
// early as the place of a kernel that moves itself is known.
func (t *tracer) approach(early bool) (ready bool, end ending, err error) {
	if early {
		return t.guest.runToSyscalls()
	}
	return t.guest.boot()
}

// unready tells why tracing could not start.
func (t *tracer) unready(end ending) error {
	if t.ctx.Err() != nil {
		return &exit{status: statusSignal}
	}
	if err := t.guest.trouble(end); err != nil {
		return err
	}
	_, err := t.guest.status(end)
	return err
}

// prepare compiles the programs and finds their probes. done is true if that is all.
func (t *tracer) prepare() (done bool, err error) {
	g := t.guest
	t.session, err = session.New(session.Config{
		Target: g.machine, Symbols: g.image.Symtab(), Text: g.image.Text, OS: g.os, Types: g.types(),
		Options: t.options, Stdout: t.out, Stderr: t.stderr, Epoch: epoch,
	})
	if err != nil {
		return false, err
	}
	if len(t.sources) > 0 {
		if err := t.session.Compile(t.sources, t.macros()); err != nil {
			return false, &exit{statusError, fmt.Errorf("dtrace: %w", err)}
		}
		if err := t.write(t.session, t.stderr); err != nil {
			return false, err
		}
	}
	if t.list {
		return true, t.session.List(t.out)
	}
	return t.compile, nil
}

// macros are the macro arguments: $0 is the script.
func (t *tracer) macros() session.Macros {
	name := "dtrace"
	for _, s := range t.sources {
		if s.File != "" {
			name = s.File
			break
		}
	}
	return session.Macros{Args: append([]string{name}, t.args...), Vars: map[string]string{"target": cmp.Or(t.pid, "1")}}
}

// record traces the guest to its end.
func (t *tracer) record() error {
	g := t.guest
	if err := t.session.Start(); err != nil {
		return fmt.Errorf("dtrace: could not enable tracing: %w", err)
	}
	end, err := t.follow()
	if done := t.session.Finish(); err == nil {
		err = done
	}
	for _, line := range t.report() {
		fmt.Fprintln(t.stderr, "dtrace: "+line)
	}
	g.log.flush()
	if err != nil {
		return err
	}
	if g.options.stats {
		if err := g.figures(t.stderr, end); err != nil {
			return err
		}
	}
	return t.verdict(end)
}

func (t *tracer) report() []string {
	if !t.options.Verbose {
		return nil
	}
	return t.session.Report()
}

// follow runs the traced guest until it ends, exit() runs, or the user interrupts.
func (t *tracer) follow() (ending, error) {
	if _, exited := t.session.Exited(); exited || t.ctx.Err() != nil {
		return endStopped, nil
	}
	end, err := t.guest.resume()
	if err == nil && t.guest.command != nil { // traced from the boot: now it waits
		t.guest.machine.Flush()
		end, err = t.guest.resume()
	}
	if t.ctx.Err() != nil {
		end = endInterrupted
	}
	return end, err
}

// verdict is the status of dtrace: that of exit(), the guest's trouble, or 0. A command
// that failed is only told.
func (t *tracer) verdict(end ending) error {
	if n, ok := t.session.Exited(); ok {
		if n == 0 {
			return nil
		}
		return &exit{status: n & 0xff}
	}
	if end == endInterrupted || end == endStopped {
		return nil
	}
	if err := t.guest.trouble(end); err != nil {
		return err
	}
	status, err := t.guest.status(end)
	if err == nil && status != 0 {
		fmt.Fprintf(t.stderr, "dtrace: the command ended with status %d\n", status)
	}
	return err
}

// findSlide learns by how much a kernel has moved itself: its system call entry is in
// LSTAR (SDM vol. 4, IA32_LSTAR).
func (g *guest) findSlide() error {
	const name = "entry_SYSCALL_64"
	entry := g.image.Symtab().Lookup(name)
	at := g.machine.SyscallEntry()
	if len(entry) == 0 || at == 0 {
		return fmt.Errorf("%s: cannot tell where the kernel runs: it has no %s", g.image.Name(), name)
	}
	slide := at - entry[0].Addr
	if slide%(2<<20) != 0 {
		return fmt.Errorf("%s does not belong to this kernel: %s is not where it should be", g.image.Name(), name)
	}
	g.image.SetSlide(slide)
	lo, hi := ^uint64(0), uint64(0)
	for _, f := range g.image.Symtab().Funcs() {
		lo, hi = min(lo, f.Addr), max(hi, f.Addr+f.Size)
	}
	g.machine.AvoidSlots(lo, hi)
	return nil
}

// runToSyscalls runs the guest until it has set its system call entry, to within a
// tenth of a millisecond of its time.
func (g *guest) runToSyscalls() (found bool, end ending, err error) {
	const step = 100_000
	var look func(arch.CPU)
	look = func(arch.CPU) {
		if found = g.machine.SyscallEntry() != 0; found {
			g.machine.Stop()
			return
		}
		g.machine.OnTick(g.machine.Now()+step, look)
	}
	g.machine.OnTick(step, look)
	end, err = g.run()
	g.machine.OnTick(emu.Never, nil)
	return found, end, err
}
