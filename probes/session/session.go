package session

import (
	"errors"
	"fmt"
	"io"

	"trapline/kernel/callsite"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/d/check"
	"trapline/probes/d/code"
	"trapline/probes/d/consume"
	"trapline/probes/d/option"
	"trapline/probes/d/syntax"
	"trapline/probes/d/vm"
	"trapline/probes/fbt"
	"trapline/probes/kinst"
	"trapline/probes/ktext"
	"trapline/probes/patch"
	"trapline/probes/profile"
	"trapline/probes/syscall"
)

// Symbols is what a session asks of a symbol table. *kernel.Symtab is one.
type Symbols = ktext.Symbols

// Config is what a Session is made of.
type Config struct {
	Target  probes.Target
	Symbols Symbols
	// Text reads the text of the image file at an address of the running kernel.
	Text  func(addr uint64, p []byte) error
	OS    guestos.OS
	Types check.Types // of the kernel, of functions if fbt.Types too; nil: nothing is known of them
	Debug             // of the kernel
	// Static are the sites of the static probes that are compiled into the kernel.
	Static []callsite.Site
	// Modules are the files of modules that the guest may load.
	Modules []*Module
	// FindModule finds the file of another module by its name, nil if there is none. It may be
	// nil.
	FindModule func(name string) (*Module, error)

	Options *option.Options // nil: the defaults. A program's pragmas change them.
	Stdout  io.Writer
	Stderr  io.Writer
	Epoch   int64 // ns from 1970 to the guest's start, UTC
}

// A Session is one trace of one guest.
type Session struct {
	Config
	registry *probes.Registry
	set      *patch.Set
	ktext    *ktext.Text
	dtrace   *probes.DTrace
	profile  *profile.Provider

	sources []Source
	ends    []int // by source: the number of clauses up to its end
	counts  []int // by source: probes matched
	tree    *syntax.Program
	prog    *code.Program
	shows   []bool // by clause: show at once what it recorded
	on      enablings

	modules   *modules
	inlined   *inlining
	unmatched []error // descriptions without a probe

	vm    *vm.Machine
	trace consume.Trace
	read  *consume.Reader
	sink  consume.Sink

	env, errEnv, countEnv env
	shown                 consume.Enabling // the last one that trace was asked for,
	shownID               uint32           // and its EPID
	errFiring             probes.Firing
	countFiring           probes.Firing
	phase                 phase
	start                 uint64            // of the trace, on the guest's clock
	began                 bool              // BEGIN has fired
	bases                 map[string]uint64 // by module: see base
	checked               []uint64          // addresses of the cross-check
	err                   error
	host                  host
	vtime                 vtime
	deferral
	halted code.Act // Panic or Breakpoint, when one has run
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

// New makes a session without a program.
func New(c Config) (*Session, error) {
	if c.Options == nil {
		c.Options = option.New()
	}
	s := &Session{Config: c, registry: probes.NewRegistry(), bases: map[string]uint64{}}
	s.inlined = newInlining(s)
	s.modules = newModules(s)
	s.env.s, s.errEnv.s, s.countEnv.s = s, s, s
	var err error
	if s.set, err = patch.New(c.Target, s.text, s); err != nil {
		return nil, err
	}
	if c.Options.Tramp == "thread" {
		if err := s.set.Share(s.owner); err != nil {
			return nil, fmt.Errorf("option tramp=thread: %w", err)
		}
	}
	s.ktext = &ktext.Text{
		Set: s.set, Symbols: c.Symbols, Arch: c.Target.Arch(), System: c.OS.System(), Unsafe: c.OS.Unsafe,
	}
	s.dtrace = probes.NewDTrace(s.registry)
	s.profile = profile.New(s.registry, c.Target, s)
	boundaries := fbt.Config{Registry: s.registry, Text: s.ktext, Target: c.Target, Types: s.typed}
	functions, err := fbt.New(boundaries)
	if err != nil {
		return nil, err
	}
	boundaries.Await = s.threadOf
	calls, err := syscall.New(boundaries)
	if err != nil {
		return nil, err
	}
	instructions := kinst.New(s.registry, s.ktext, c.Target.Arch().Args)
	for _, p := range []probes.Provider{s.dtrace, s.profile, functions, instructions, calls} {
		s.registry.Add(p)
	}
	return s, s.addStatic()
}

// Registry holds the probes that have been made.
func (s *Session) Registry() *probes.Registry { return s.registry }

// Start begins the trace: it fires BEGIN and enables the probes. The guest stands still.
func (s *Session) Start() error {
	if err := s.allowed(); err != nil {
		return err
	}
	var err error
	if err := s.chooseCPU(); err != nil {
		return err
	}
	if err := s.makeVM(); err != nil {
		return err
	}
	s.host = host{s: s, first: s.Stdout}
	s.trace = consume.Trace{
		Program: s.prog, Layouts: s.vm.Layouts(), Tables: s.vm.Tables(), Enabling: s.enabling, Symbol: s.symbol, Counts: s.set.TakeHits, Host: &s.host,
	}
	if s.Options.InlineFrames {
		if _, err := s.openSource(); err != nil {
			return fmt.Errorf("option inlineframes: %w", err)
		}
		s.trace.Inlined = s.inlinedAt
	}
	s.read = consume.NewReader(&s.trace)
	if s.sink, err = consume.New(&s.trace, s.Options.View, s.Stdout, s.Stderr); err != nil {
		return err
	}
	s.spareThreads()
	s.startDeferral()
	s.vm.OnFault, s.vm.Base = s.fault, s.base
	for _, b := range s.vm.Buffers() {
		b.OnFull = s.full
	}
	if err := s.registry.Enable(s.probes()); err != nil {
		return err
	}
	if err := s.keepVTime(); err != nil {
		return errors.Join(err, s.registry.Disable(s.probes()))
	}
	if err := s.modules.start(); err != nil {
		return errors.Join(err, s.registry.Disable(s.probes()))
	}
	if err := s.armCheck(); err != nil {
		return errors.Join(err, s.registry.Disable(s.probes()))
	}
	s.announce()
	s.profile.Every(s.Options.SwitchRate, s.show)
	s.phase = running
	s.start = s.Target.Now()
	s.Fire(&probes.Firing{Probe: s.dtrace.Begin})
	s.began = true
	return s.err
}

// probes lists the enabled ones.
func (s *Session) probes() []*probes.Probe {
	out := make([]*probes.Probe, 0, s.on.len())
	for id := range s.on.each {
		p, _ := s.registry.Probe(id)
		out = append(out, p)
	}
	return append(out, s.modules.probes()...)
}

// Exited gives the status of exit(), once it has run. The target has been told to stop.
func (s *Session) Exited() (status int, ok bool) {
	if s.vm == nil {
		return 0, false
	}
	return s.vm.Exited()
}

// Finish ends the trace: it fires END, shows what is left and takes the breakpoints away.
// It returns the first error there was; with the option crosscheck a *CheckError where
// hits and executions differ. With the option verbose it tells what Report says.
func (s *Session) Finish() error {
	if s.vm == nil || s.phase == over {
		return s.err
	}
	s.enter(ending)
	s.reserve(0)
	s.drain()
	s.Fire(&probes.Firing{Probe: s.dtrace.End})
	s.phase = over
	s.drain()
	s.keep(s.drops())
	s.keep(s.sink.End())
	s.keep(s.sink.Flush())
	if act, yes := s.Halted(); yes {
		s.complain("%v( ) has stopped the guest", act)
	}
	s.keep(s.host.close())
	s.keep(s.set.Err())
	s.keep(s.check())
	if missed := s.set.PassedBy(); missed != "" {
		s.complain("%s", missed)
	}
	if s.Options.Verbose {
		for _, line := range s.Report() {
			s.complain("%s", line)
		}
	}
	s.keep(s.endVTime())
	s.keep(s.modules.end())
	s.keep(s.registry.Disable(s.probes()))
	return s.err
}

// keep remembers the first error. The guest need not go on then.
func (s *Session) keep(err error) {
	if err != nil && s.err == nil {
		s.err = err
		s.Target.Stop()
	}
}

// Err is the first error so far: of writing, or of adjusting breakpoints.
func (s *Session) Err() error { return errors.Join(s.err, s.set.Err()) }

// Report says what providers passed over or suspended, one fact a line.
func (s *Session) Report() []string {
	var out []string
	for _, err := range s.unmatched {
		out = append(out, err.Error())
	}
	out = append(out, s.inlined.notes...)
	for _, p := range s.registry.Providers() {
		if r, ok := p.(probes.Reporter); ok {
			out = append(out, r.Report()...)
		}
	}
	return out
}

// Hits is how often the guest ran into breakpoints of probes.
func (s *Session) Hits() uint64 { return s.set.Total() - s.modules.hits }

// Watched is how often it ran into those by which modules are followed.
func (s *Session) Watched() uint64 { return s.modules.hits }

// symbol names an address for consumers.
func (s *Session) symbol(addr uint64) (module, name string, off uint64, ok bool) {
	if sym, part, ok := s.ktext.At(addr); ok {
		return part.Module, sym.Name, addr - sym.Addr, true
	}
	return s.modules.lost(addr)
}

// base is the start of the symbol that covers an address; of a module, an address in it that
// stands for all.
func (s *Session) base(form code.Form, addr uint64) uint64 {
	sym, part, ok := s.ktext.At(addr)
	if !ok || form != code.Sym && form != code.Mod {
		return addr
	}
	if form == code.Sym {
		return sym.Addr
	}
	if s.bases[part.Module] == 0 {
		s.bases[part.Module] = sym.Addr
	}
	return s.bases[part.Module]
}

// text reads the text of image files.
func (s *Session) text(addr uint64, p []byte) error {
	if s.modules.text(addr, p) {
		return nil
	}
	return s.Text(addr, p)
}

// enabling tells consumers what an EPID stands for. The result is valid until the next
// call.
func (s *Session) enabling(epid uint32) *consume.Enabling {
	if epid == s.shownID && epid != 0 {
		return &s.shown
	}
	id, clause, ok := s.on.get(epid)
	if !ok {
		return nil
	}
	p, _ := s.registry.Probe(id)
	s.shown, s.shownID = consume.Enabling{Probe: shownProbe(p), Clause: clause}, epid
	return &s.shown
}

func shownProbe(p *probes.Probe) consume.Probe {
	return consume.Probe{ID: uint32(p.ID()), Prov: p.Provider(), Module: p.Module(), Func: p.Function(), Name: p.Name()}
}

// complain writes a message of the tracer.
func (s *Session) complain(format string, args ...any) {
	_, err := fmt.Fprintf(s.Stderr, "dtrace: "+format+"\n", args...)
	s.keep(err)
}
