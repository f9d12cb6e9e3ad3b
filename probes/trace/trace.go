package trace

import (
	"fmt"
	"io"

	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
	"trapline/probes/d/vm"
	"trapline/probes/modules"
	"trapline/probes/patch"
	"trapline/probes/profile"
)

// Config is what a Trace is made of.
type Config struct {
	Target   probes.Target
	OS       guestos.OS
	Registry *probes.Registry
	DTrace   *probes.DTrace
	Options  *option.Options
	Stdout   io.Writer
	Stderr   io.Writer
	Epoch    int64 // ns from 1970 to the guest's start, UTC

	// Watch takes a firing that is not the program's. It reports whether it was one.
	Watch func(f *probes.Firing) bool
	// Locals are the local variables at a probe of text.
	Locals func(p *probes.Probe) (modules.Locals, error)
	// Entry is the probe at the first instruction of a function of the kernel, nil if there is none.
	Entry func(function string) (*probes.Probe, error)
	// Symbol names an address, and Base is one address for all that a symbol or a module covers.
	Symbol func(addr uint64) (module, name string, off uint64, ok bool)
	Base   func(form code.Form, addr uint64) uint64
	// Inlined opens the functions whose copies cover an address, innermost first.
	Inlined func() (func(addr uint64) []string, error)
}

// A Trace is one trace of one guest. It is the sink of all providers.
type Trace struct {
	Config
	prog *code.Program
	on   *Enablings
	set  *patch.Set
	tick *profile.Provider

	vm     *vm.Machine
	out    output
	now    firings
	life   life
	err    error
	halted code.Act // Panic or Breakpoint, when one has run
	vtime  vtime
	deferral
}

// firings are those that are under way: one of the program's, ERROR's inside it, and one that
// stands for hits that the target has counted.
type firings struct {
	env, errEnv, countEnv  env
	errFiring, countFiring probes.Firing
}

// life is how far a trace has come.
type life struct {
	phase phase
	start uint64 // on the guest's clock
	began bool   // BEGIN has fired
}

// phase says which probes fire.
type phase uint8

const (
	setup    phase = iota
	running        // all
	draining       // none: an exit action has run
	ending         // END
	over           // none
)

// New makes a trace that has no program yet.
func New(c Config) *Trace {
	tr := &Trace{Config: c}
	tr.now.env.tr, tr.now.errEnv.tr, tr.now.countEnv.tr = tr, tr, tr
	return tr
}

// Prepare readies the trace of a program at its probes. set has the breakpoints, tick the guest's
// time.
func (tr *Trace) Prepare(prog *code.Program, on *Enablings, set *patch.Set, tick *profile.Provider) error {
	tr.prog, tr.on, tr.set, tr.tick = prog, on, set, tick
	for _, step := range []func() error{tr.allowed, tr.chooseCPU, tr.makeVM, tr.open} {
		if err := step(); err != nil {
			return err
		}
	}
	tr.spareThreads()
	tr.sayUnknown()
	tr.startDeferral()
	tr.vm.OnFault, tr.vm.Base = tr.fault, tr.Base
	for _, b := range tr.vm.Buffers() {
		b.OnFull = tr.full
	}
	return nil
}

// Run begins the trace: it fires BEGIN. The other probes have been enabled.
func (tr *Trace) Run() error {
	tr.tick.Every(tr.Options.SwitchRate, tr.Show)
	tr.life.phase, tr.life.start = running, tr.Target.Now()
	tr.Fire(&probes.Firing{Probe: tr.DTrace.Begin})
	tr.life.began = true
	return tr.err
}

// End fires END and shows what is left. It reports false if there is nothing to end.
func (tr *Trace) End() bool {
	if tr.vm == nil || tr.life.phase == over {
		return false
	}
	tr.enter(ending)
	tr.reserve(0)
	tr.drain()
	tr.Fire(&probes.Firing{Probe: tr.DTrace.End})
	tr.life.phase = over
	tr.drain()
	tr.Keep(tr.drops())
	tr.Keep(tr.out.sink.End())
	tr.Keep(tr.out.sink.Flush())
	if act, yes := tr.Halted(); yes {
		tr.Complain("%v( ) has stopped the guest", act)
	}
	tr.Keep(tr.out.host.Close())
	return true
}

// enter leaves a phase in which probes fire: hits that were counted until now are its firings.
func (tr *Trace) enter(p phase) {
	tr.set.TakeHits()
	tr.life.phase = p
}

// drainOut ends the trace: at once or, with the option statusrate, when the status is looked at next.
// Nothing fires until then.
func (tr *Trace) drainOut() {
	tr.enter(draining)
	if rate := tr.Options.StatusRate; rate > 0 && tr.life.began {
		tr.tick.Every(rate-(tr.Target.Now()-tr.life.start)%rate, tr.Target.Stop)
		return
	}
	tr.Target.Stop()
}

// Exited gives the status of exit(), once it has run. The target has been asked to stop.
func (tr *Trace) Exited() (status int, ok bool) {
	if tr.vm == nil {
		return 0, false
	}
	return tr.vm.Exited()
}

// Keep remembers the first error. The guest need not go on then.
func (tr *Trace) Keep(err error) {
	if err != nil && tr.err == nil {
		tr.err = err
		tr.Target.Stop()
	}
}

// Err is the first error that Keep was given.
func (tr *Trace) Err() error { return tr.err }

// Complain writes a message of the tracer.
func (tr *Trace) Complain(format string, args ...any) {
	_, err := fmt.Fprintf(tr.Stderr, "dtrace: "+format+"\n", args...)
	tr.Keep(err)
}
