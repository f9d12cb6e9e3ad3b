package trace

import (
	"errors"
	"fmt"

	"trapline/probes"
	"trapline/probes/d/buffer"
	"trapline/probes/d/consume"
	"trapline/probes/d/option"
	"trapline/probes/host"
)

// output is how records become what the user sees.
type output struct {
	trace consume.Trace
	read  *consume.Reader
	sink  consume.Sink
	host  onHost
	// atOnce is by clause: what it has recorded is shown as soon as it has fired.
	atOnce []bool

	shown   consume.Enabling // the last one that the trace was asked for,
	shownID uint32           // and its EPID
}

// onHost is what actions do on the host, and to the trace itself.
type onHost struct {
	host.Host
	tr *Trace
}

// open readies the output.
func (tr *Trace) open() (err error) {
	tr.out.host = onHost{host.Host{Stdout: tr.Stdout, Stderr: tr.Stderr}, tr}
	tr.out.trace = consume.Trace{
		Program: tr.prog, Layouts: tr.vm.Layouts(), Tables: tr.vm.Tables(), Enabling: tr.enabling,
		Calls: tr.calls, Symbol: tr.Symbol, Counts: tr.set.TakeHits, Host: &tr.out.host,
	}
	for _, c := range tr.prog.Clauses {
		tr.out.atOnce = append(tr.out.atOnce, c.OnAggs())
	}
	if tr.Options.InlineFrames {
		if tr.out.trace.Inlined, err = tr.Inlined(); err != nil {
			return fmt.Errorf("option inlineframes: %w", err)
		}
	}
	tr.out.read = consume.NewReader(&tr.out.trace)
	tr.out.sink, err = consume.New(&tr.out.trace, tr.Options.View, tr.Stdout, tr.Stderr)
	return err
}

// enabling finds what an EPID stands for, for consumers. The result is valid until the next call.
func (tr *Trace) enabling(epid uint32) *consume.Enabling {
	o := &tr.out
	if epid == o.shownID && epid != 0 {
		return &o.shown
	}
	id, clause, ok := tr.on.Get(epid)
	if !ok {
		return nil
	}
	p, _ := tr.Registry.Probe(id)
	o.shown, o.shownID = consume.Enabling{Probe: shownProbe(p), Clause: clause}, epid
	return &o.shown
}

// calls reports whether the probes of a provider are where processes call the kernel.
func (tr *Trace) calls(provider string) bool {
	p, _ := tr.Registry.Provider(provider)
	return probes.AboutOf(p).Calls
}

func shownProbe(p *probes.Probe) consume.Probe {
	return consume.Probe{ID: uint32(p.ID()), Prov: p.Provider(), Module: p.Module(), Func: p.Function(), Name: p.Name()}
}

// SetOption implements consume.Host: the options that may change while a trace runs and
// are not the consumer's own.
func (h *onHost) SetOption(name, value string) error {
	if !option.WhileRunning(name) {
		return errors.New("it cannot be set while a trace runs")
	}
	err := h.tr.Options.Set(name, value)
	if name == "switchrate" {
		h.tr.tick.Every(h.tr.Options.SwitchRate, h.tr.Show)
	}
	return err
}

// Show prints what has been recorded, unless that waits for the end.
func (tr *Trace) Show() {
	if tr.Options.BufPolicy == buffer.Switch {
		tr.drain()
	}
	tr.Keep(tr.out.sink.Flush())
}

// drain takes everything out of the buffers.
func (tr *Trace) drain() {
	for _, b := range tr.vm.Buffers() {
		tr.full(b)
	}
}

// full empties one buffer.
func (tr *Trace) full(b *buffer.Buffer) { tr.Keep(tr.out.read.Drain(b, tr.out.sink)) }

// drops reports what found no room in aggregations and variables.
func (tr *Trace) drops() error {
	var d consume.Drops
	for _, t := range tr.vm.Tables() {
		d.Aggregations += t.Drops
	}
	d.Variables, d.Spec, d.SpecFails, d.Errors = tr.vm.VarDrops(), tr.vm.SpecDrops, tr.vm.SpecFails, tr.vm.ErrorFaults
	return tr.out.sink.Drops(d)
}
