package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"trapline/cmd/internal/guests"
	"trapline/probes/copies"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
	"trapline/probes/front"
	"trapline/probes/modules"
	"trapline/probes/session"
)

// epoch is the time of the guest's start, 2025-01-01 00:00:00 UTC, in nanoseconds: what
// its clock chip shows.
const epoch = 1735689600e9

func runDtrace(e *env, args []string) error {
	t := &tracing{options: option.New()}
	err := t.parse(t.flags(e, "dtrace", dtraceNotes, noFlags), args)
	e.json = slices.Contains(t.setting, "oformat=json")
	if err != nil {
		return err
	}
	switch {
	case t.version:
		_, err := fmt.Fprintln(e.stdout, "dtrace: Sun D 1.13")
		return err
	case slices.Contains(t.setting, "help"):
		return listOptions(e.stdout)
	case len(t.sources) == 0 && !t.list:
		return usagef("dtrace: nothing to trace: give a program with -n, -f, -m, -P, -i or -s")
	}
	return e.trace(t)
}

// listOptions shows the options of -x.
func listOptions(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, name := range option.Names() {
		fmt.Fprintf(w, "%s\t%s\n", name, option.About(name))
	}
	return w.Flush()
}

// trace compiles the programs, runs the guest to where tracing starts, and traces.
func (e *env) trace(t *tracing) (err error) {
	e.allow(t.policy())
	stop, err := t.guest.profiling.start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	log := io.Discard
	if t.guest.console {
		log = e.stderr
	}
	g, err := e.newGuest(t.guest, t.wanted(log))
	if err != nil {
		return err
	}
	defer g.close()
	tr := &tracer{env: e, tracing: t, guest: g, out: e.stdout}
	defer func() {
		if cerr := tr.closeOutput(); err == nil {
			err = cerr
		}
	}()
	return tr.run()
}

// wanted is what tracing wants of a guest.
func (t *tracing) wanted(console io.Writer) guestConfig {
	o := t.options
	return guestConfig{
		console: console, own: console, symbols: true, ahead: t.from != "boot" && !t.list && !t.compile,
		inPlace: o.Patch == "inplace", hooked: o.Engine == "hook", shared: o.Tramp == "thread",
		kept: o.Translations, verbose: o.Verbose,
	}
}

// tracer is a session on a guest.
type tracer struct {
	*env
	*tracing
	guest   *guest
	session *session.Session
	out     io.Writer
	file    *os.File // of -o, once the programs have been found to be right
}

// Write writes to the trace.
func (t *tracer) Write(p []byte) (int, error) { return t.out.Write(p) }

func (t *tracer) run() error {
	if err := t.prepare(); err != nil {
		return err
	}
	if t.compile && !t.list {
		return nil
	}
	if err := t.openOutput(); err != nil {
		return err
	}
	if t.list {
		return t.listProbes()
	}
	if err := t.approach(); err != nil {
		return err
	}
	return t.record()
}

// listProbes lists the probes. Where one is of a function that the kernel chooses when it boots, the
// guest runs until it has.
func (t *tracer) listProbes() error {
	if t.guest.undecided() {
		if err := t.approach(); err != nil {
			return err
		}
	}
	return t.showProbes()
}

// prepare compiles the programs and finds their probes. What is not known before the guest has run is
// passed over: approach prepares them again.
func (t *tracer) prepare() error {
	none := t.options.ZeroDefs || t.list
	t.options.ZeroDefs = none
	err := t.find()
	if err != nil && t.guest.undecided() {
		t.options.ZeroDefs = true
		err = t.find()
		t.options.ZeroDefs = none
	}
	return err
}

// find is prepare of what is known.
func (t *tracer) find() error {
	g := t.guest
	t.options.CPUs = g.machine.CPUs()
	static, err := g.Image.StaticProbes()
	if err != nil {
		return err
	}
	types := g.Types()
	files, err := guests.Traced(g.modules, types)
	if err != nil {
		return err
	}
	t.session, err = session.New(session.Config{
		Target: g.machine, Symbols: g.Image.Symtab(), Text: g.Image.Text, OS: g.OS, Types: types,
		Debug: modules.Debug{
			At:        g.Image,
			Locals:    func() (modules.Locals, error) { return g.debug(t.env).Locals() },
			Functions: func() (*modules.Functions, error) { return g.debug(t.env).Inlinable() },
			Source:    func() (*copies.Source, error) { return g.debug(t.env).Source() },
		},
		Static:  static,
		Modules: files, FindModule: guests.Finder(g.options.moduleDir, types),
		Options: t.options, Stdout: t, Stderr: t.stderr, Epoch: epoch,
	})
	if err != nil || len(t.sources) == 0 {
		return err
	}
	stop := t.screen.busy(elapsed("finding probes"))
	err = t.session.Compile(t.sources, t.macros())
	stop()
	if err != nil {
		return fmt.Errorf("dtrace: %w", g.inlinedOnly(t.env, err))
	}
	return t.write(t.session, t.stderr)
}

// macros are the macro arguments: $0 is the script.
func (t *tracer) macros() front.Macros {
	name := "dtrace"
	for _, s := range t.sources {
		if s.File != "" {
			name = s.File
			break
		}
	}
	return front.Macros{Args: append([]string{name}, t.args...), Vars: map[string]string{"target": cmp.Or(t.pid, "1")}}
}

func (t *tracer) openOutput() error {
	if t.into != nil {
		t.out = t.into
	}
	if t.output == "" {
		return nil
	}
	var err error
	t.file, err = os.OpenFile(t.output, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("dtrace: failed to open the output file: %w", err)
	}
	t.out = t.file
	return nil
}

func (t *tracer) closeOutput() error {
	if t.file == nil {
		return nil
	}
	if err := t.file.Close(); err != nil {
		return fmt.Errorf("writing the trace: %w", err)
	}
	return nil
}

// showProbes lists the probes, and complains of descriptions that match none.
func (t *tracer) showProbes() error {
	if err := t.session.List(t.out); err != nil {
		return fmt.Errorf("writing the list: %w", err)
	}
	none := t.session.Unmatched()
	if len(none) == 0 || t.zero {
		return nil
	}
	for _, err := range none[:len(none)-1] {
		t.complain(fmt.Errorf("dtrace: %w", err))
	}
	return fmt.Errorf("dtrace: %w", none[len(none)-1])
}

// approach runs the guest to where tracing starts. A kernel that has moved itself needs
// other probes then.
func (t *tracer) approach() error {
	t.allow(hostPolicy(t.session.Effects()))
	moved, err := t.guest.approach(t.env, t.from == "boot")
	if err != nil || !moved {
		return err
	}
	return t.prepare()
}

// record traces the guest to its end.
func (t *tracer) record() error {
	stop := t.screen.busy(elapsed("enabling probes"))
	err := t.session.Start()
	stop()
	if err != nil {
		return fmt.Errorf("dtrace: could not enable tracing: %w", err)
	}
	end, err := t.guest.follow(t.env, t.over)
	if err == nil && end == endPowerOff && t.session.Clockwork() {
		end = t.guest.pass()
	}
	if done := t.session.Finish(); err == nil {
		err = done
	}
	t.guest.watched = t.session.Watched()
	if done := t.guest.finish(t.env, end); err == nil {
		err = done
	}
	if err != nil {
		return err
	}
	return t.verdict(end)
}

// over says that there is nothing more to trace, or no way to show it.
func (t *tracer) over() bool {
	_, exited := t.session.Exited()
	_, halted := t.session.Halted()
	return exited || halted || t.session.Err() != nil
}

// verdict is the status of dtrace: that of exit(), that of a panic for panic(), the guest's
// trouble, or 0. A command that failed is only reported, and an interrupt is a good end.
func (t *tracer) verdict(end ending) error {
	if n, ok := t.session.Exited(); ok {
		return &exit{status: n & 0xff}
	}
	if act, halted := t.session.Halted(); halted && act == code.Panic {
		return &exit{status: statusPanic}
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
