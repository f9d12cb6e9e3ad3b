package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"trapline/cmd/internal/sandbox"
	"trapline/emu"
	"trapline/images"
	"trapline/probes/d/option"
	"trapline/verify"
)

const footprintNotes = `verify --footprint runs the guest twice, without and with the probes of a program, and compares the
time and the place of each system call, exception and interrupt, memory and devices at checkpoints,
the state at the end, and the output. If the runs differ it runs them again to find the first event
and the first byte of memory that differ. It takes the flags of dtrace, and drops what the program
writes.

The exit status is 0 if nothing differs.
`

// A footprint compares a guest without probes and one with them.
type footprint struct {
	*env
	args  []string
	image string
	every seconds
	json  string
	at    verify.Place // what to look at closely
	ram   [2][]byte    // at that checkpoint, without and with probes
	base  uint64       // its physical address
	bar   images.Progress
}

// runFootprint compares the histories of a guest.
func runFootprint(e *env, args []string) (err error) {
	p := &footprint{env: e, args: args, at: verify.Place{Block: -1, Checkpoint: -1}, bar: e.progress()}
	t, err := p.options()
	if err != nil {
		return err
	}
	if err := writable(p.json); err != nil {
		return err
	}
	e.allow(t.policy())
	e.allow(sandbox.Policy{Files: []string{p.json}})
	stop, err := t.guest.profiling.start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	report, err := p.compare()
	if err != nil {
		return err
	}
	return p.show(report)
}

// show writes the report. Its status is that of the command.
func (p *footprint) show(report *verify.Footprint) error {
	if p.json != "" {
		if err := writeReport(p.json, report); err != nil {
			return err
		}
	}
	if _, err := report.WriteTo(p.stdout); err != nil {
		return err
	}
	if len(report.Differences) > 0 {
		return &exit{status: statusError}
	}
	return nil
}

// options parses the command line for one of the runs: a session changes its options.
func (p *footprint) options() (*tracing, error) {
	t := &tracing{options: option.New()}
	p.every = 0.1
	f := t.flags(p.env, "verify", footprintNotes, func(f *pflag.FlagSet) {
		f.Bool("footprint", false, "compare runs without and with probes")
		f.Var(&p.every, "checkpoint", "compare every `SECONDS` of the guest's time")
		f.StringVar(&p.json, "json", "", "write the report to `FILE`")
	})
	if err := t.parse(f, p.args); err != nil {
		return nil, err
	}
	switch {
	case len(t.args) > 1:
		return nil, usagef("verify: one IMAGE at a time, not %d", len(t.args))
	case t.list || t.compile || t.version || t.output != "" || t.guest.stats || t.guest.console:
		return nil, usagef("verify: -l, -e, -V, -o, --stats and --console are for dtrace")
	case len(t.sources) == 0:
		return nil, usagef("verify: --footprint needs probes: give a program with -n, -f, -m, -P, -i or -s")
	case p.every.nanoseconds() == 0:
		return nil, usagef("verify: --checkpoint must be more than 0")
	}
	if len(t.args) == 1 {
		t.guest.image, t.args = t.args[0], nil
	}
	p.image = t.guest.image
	t.options.Quiet = true
	return t, nil
}

// compare runs the guest twice, and twice again where the runs part.
func (p *footprint) compare() (*verify.Footprint, error) {
	p.bar.Start("checkpoints", -1)
	defer p.bar.Done()
	without, with, symbol, err := p.both()
	if err != nil {
		return nil, err
	}
	if p.at = verify.Part(without, with); p.at.Block >= 0 || p.at.Checkpoint >= 0 {
		if without, with, symbol, err = p.both(); err != nil {
			return nil, err
		}
	}
	report := verify.NewFootprint(p.image, without, with, symbol)
	report.Memory(p.base, p.ram[0], p.ram[1])
	return report, nil
}

func (p *footprint) both() (without, with *verify.History, symbol func(uint64) string, err error) {
	if without, _, err = p.history(false); err != nil {
		return nil, nil, nil, err
	}
	with, symbol, err = p.history(true)
	return without, with, symbol, err
}

// history runs the guest to its end. What it and its command write belongs to the history.
func (p *footprint) history(probed bool) (h *verify.History, symbol func(uint64) string, err error) {
	t, err := p.options()
	if err != nil {
		return nil, nil, err
	}
	h = new(verify.History)
	var output bytes.Buffer
	inner := *p.env
	inner.stdout, inner.stderr = &output, &output
	g, err := inner.newGuest(t.guest, t.wanted(&output))
	if err != nil {
		return nil, nil, err
	}
	defer g.close()
	tr := &tracer{env: p.env, tracing: t, guest: g, out: io.Discard}
	if err := tr.prepare(); err != nil {
		return nil, nil, err
	}
	if err := tr.approach(); err != nil {
		return nil, nil, err
	}
	if err := p.record(tr, probed, h); err != nil {
		return nil, nil, err
	}
	h.Output = output.Bytes()
	return h, g.symbolText, nil
}

// record runs the guest on, from where tracing starts.
func (p *footprint) record(tr *tracer, probed bool, h *verify.History) error {
	g := tr.guest
	journal, err := p.journal(g.machine, probed)
	if err != nil {
		return err
	}
	if probed {
		if err := tr.session.Start(); err != nil {
			return fmt.Errorf("dtrace: could not enable tracing: %w", err)
		}
	}
	end, err := g.follow(tr.env, tr.over)
	switch {
	case err != nil:
		return err
	case g.halted():
		return g.trouble(end)
	case tr.session.Err() != nil:
		return tr.session.Err()
	case tr.over():
		return errors.New("verify: the program has ended the run: it must let the guest come to its own end")
	}
	if err := g.conclude(h, journal, end); err != nil || !probed {
		return err
	}
	return tr.session.Finish()
}

// journal begins that of a run, which looks at what p.at says.
func (p *footprint) journal(m *emu.Machine, probed bool) (*emu.Journal, error) {
	keep := emu.Never
	if p.at.Block >= 0 {
		keep = uint64(p.at.Block)
	}
	j, err := m.Journal(p.every.nanoseconds(), keep)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	run := 0
	if probed {
		run = 1
	}
	j.OnCheckpoint = func(i int) {
		p.bar.Add(1)
		if i == p.at.Checkpoint {
			p.base, p.ram[run] = m.RAM()
		}
	}
	return j, nil
}

// conclude adds what there is at the end of a run, with the probes still in place.
func (g *guest) conclude(h *verify.History, j *emu.Journal, end ending) (err error) {
	g.log.flush()
	h.End, h.Clock, h.Hits = string(end), g.machine.Now(), g.machine.Counters().Hits
	if g.init.host != nil {
		if status, ok := g.init.host.Status(); ok {
			h.End = fmt.Sprintf("%s, status %d", end, status)
		}
	}
	if h.Events, err = j.Close(); err != nil {
		return err
	}
	h.Checkpoints = j.Checkpoints
	h.State, err = g.machine.StateHash()
	return err
}

// symbolText is an address as function+offset, if it is in one.
func (g *guest) symbolText(addr uint64) string {
	if s, ok := g.Image.Symtab().At(addr); ok {
		return fmt.Sprintf("%s+%#x", s.Name, addr-s.Addr)
	}
	return fmt.Sprintf("%#x", addr)
}
