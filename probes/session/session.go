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
	"trapline/probes/d/option"
	"trapline/probes/fbt"
	"trapline/probes/front"
	"trapline/probes/kinst"
	"trapline/probes/ktext"
	"trapline/probes/modules"
	"trapline/probes/patch"
	"trapline/probes/profile"
	"trapline/probes/resolve"
	"trapline/probes/syscall"
	"trapline/probes/trace"
)

// Symbols is what a session asks of a symbol table. *kernel.Symtab is one.
type Symbols = ktext.Symbols

// Config is what a Session is made of.
type Config struct {
	Target  probes.Target
	Symbols Symbols
	// Text reads the text of the image file at an address of the running kernel.
	Text          func(addr uint64, p []byte) error
	OS            guestos.OS
	Types         check.Types // of the kernel, of functions if fbt.Types too; nil: nothing is known of them
	modules.Debug             // of the kernel
	// Static are the sites of the static probes that are compiled into the kernel.
	Static []callsite.Site
	// Modules are the files of modules that the guest may load.
	Modules []*modules.Module
	// FindModule finds the file of another module by its name, nil if there is none. It may be
	// nil.
	FindModule func(name string) (*modules.Module, error)

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

	modules *modules.Modules
	trace   *trace.Trace

	resolver       *resolve.Resolver
	*front.Program // nil before Compile
	matched        matched
	bases          map[string]uint64 // by module: see base
	checked        []uint64          // addresses of the cross-check
}

// New makes a session without a program.
func New(c Config) (*Session, error) {
	if c.Options == nil {
		c.Options = option.New()
	}
	s := &Session{Config: c, registry: probes.NewRegistry(), bases: map[string]uint64{}}
	s.dtrace = probes.NewDTrace(s.registry)
	s.modules = modules.New(modules.Config{
		Target: c.Target, OS: c.OS, Registry: s.registry, Kernel: &s.Debug, Files: c.Modules, Find: c.FindModule,
		Static: s.staticProvider, Match: s.matchModule, Show: s.show, Keep: s.keep, Complain: s.complain, Say: s.say,
	})
	s.trace = trace.New(trace.Config{
		Target: c.Target, OS: c.OS, Registry: s.registry, DTrace: s.dtrace, Options: c.Options,
		Stdout: c.Stdout, Stderr: c.Stderr, Epoch: c.Epoch,
		Watch: s.modules.Event, Locals: s.localsOf, Entry: s.entry, Symbol: s.symbol, Base: s.base, Inlined: s.openInlined,
	})
	var err error
	if s.set, err = patch.New(c.Target, s.text, s.trace); err != nil {
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
	s.modules.Use(s.set, s.ktext)
	s.resolver = resolve.New(s.registry, s.ktext, s.modules, &s.Debug)
	s.profile = profile.New(s.registry, c.Target, s.trace)
	boundaries := fbt.Config{Registry: s.registry, Text: s.ktext, Target: c.Target, Types: s.typed}
	functions, err := fbt.New(boundaries)
	if err != nil {
		return nil, err
	}
	boundaries.Await = s.trace.ThreadOf
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
	if err := s.trace.Prepare(s.Code, &s.matched.on, s.set, s.profile); err != nil {
		return err
	}
	if err := s.registry.Enable(s.probes()); err != nil {
		return err
	}
	if err := s.trace.KeepVTime(); err != nil {
		return errors.Join(err, s.registry.Disable(s.probes()))
	}
	if err := s.modules.Start(s.missed()); err != nil {
		return errors.Join(err, s.registry.Disable(s.probes()))
	}
	if err := s.armCheck(); err != nil {
		return errors.Join(err, s.registry.Disable(s.probes()))
	}
	s.announce()
	return s.trace.Run()
}

// probes lists the enabled ones.
func (s *Session) probes() []*probes.Probe {
	out := make([]*probes.Probe, 0, s.matched.on.Len())
	for id := range s.matched.on.Each {
		p, _ := s.registry.Probe(id)
		out = append(out, p)
	}
	return append(out, s.modules.Probes()...)
}

// Exited gives the status of exit(), once it has run. The target has been asked to stop.
func (s *Session) Exited() (status int, ok bool) { return s.trace.Exited() }

// Halted says that a panic() or breakpoint() action has ended the run, and which.
func (s *Session) Halted() (act code.Act, yes bool) { return s.trace.Halted() }

// Finish ends the trace: it fires END, shows what is left and takes the breakpoints away.
// It returns the first error there was; with the option crosscheck a *CheckError where
// hits and executions differ. With the option verbose it reports what Report returns.
func (s *Session) Finish() error {
	if !s.trace.End() {
		return s.trace.Err()
	}
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
	s.sayLost()
	s.keep(s.trace.EndVTime())
	s.keep(s.modules.End())
	s.keep(s.registry.Disable(s.probes()))
	return s.trace.Err()
}

func (s *Session) keep(err error) { s.trace.Keep(err) }

func (s *Session) show() { s.trace.Show() }

// Err is the first error so far: of writing, or of adjusting breakpoints.
func (s *Session) Err() error { return errors.Join(s.trace.Err(), s.set.Err()) }

// sayLost says which probes have fired without what they should pass.
func (s *Session) sayLost() {
	for _, p := range s.registry.Providers() {
		if l, ok := p.(probes.Loser); ok {
			for _, line := range l.Lost() {
				s.complain("%s", line)
			}
		}
	}
}

// Report says what providers passed over or suspended, one fact a line.
func (s *Session) Report() []string {
	var out []string
	for _, err := range s.matched.none {
		out = append(out, err.Error())
	}
	out = append(out, s.resolver.Notes()...)
	for _, p := range s.registry.Providers() {
		if r, ok := p.(probes.Reporter); ok {
			out = append(out, r.Report()...)
		}
	}
	return out
}

// Hits is how often the guest ran into breakpoints of probes.
func (s *Session) Hits() uint64 { return s.set.Total() - s.modules.Hits() }

// Watched is how often it ran into those by which modules are followed.
func (s *Session) Watched() uint64 { return s.modules.Hits() }

// symbol names an address for consumers.
func (s *Session) symbol(addr uint64) (module, name string, off uint64, ok bool) {
	if sym, part, ok := s.ktext.At(addr); ok {
		return part.Module, sym.Name, addr - sym.Addr, true
	}
	return s.modules.Lost(addr)
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
	if s.modules.Text(addr, p) {
		return nil
	}
	return s.Text(addr, p)
}

// complain writes a message of the tracer, say one that option quiet leaves out.
func (s *Session) complain(format string, args ...any) { s.trace.Complain(format, args...) }

func (s *Session) say(format string, args ...any) {
	if !s.Options.Quiet {
		s.complain(format, args...)
	}
}

// entry is the probe at the first instruction of a function of the kernel, nil if there is none.
func (s *Session) entry(function string) (*probes.Probe, error) {
	if len(s.Symbols.Lookup(function)) == 0 {
		return nil, nil
	}
	ps, err := s.registry.Match(probes.Desc{Provider: kinst.Name, Function: function, Name: "0"})
	if err != nil || len(ps) == 0 {
		return nil, err
	}
	return ps[0], nil
}

// localsOf are the local variables at a probe of text.
func (s *Session) localsOf(p *probes.Probe) (modules.Locals, error) {
	return s.modules.DebugOf(p).OpenLocals()
}

// openInlined opens what stacks show of inlined functions.
func (s *Session) openInlined() (func(addr uint64) []string, error) {
	_, err := s.OpenSource()
	return s.resolver.Inlined, err
}

// typed are the kernel and the modules that a description's module means, if types are known.
func (s *Session) typed(module string) (all []fbt.Typed) {
	if types, ok := s.Types.(fbt.Types); ok && s.ktext.InKernel(module) {
		all = append(all, fbt.Typed{Part: s.ktext.Kernel(), Types: types})
	}
	for _, m := range s.modules.Described(module) {
		if types, ok := m.Types.(fbt.Types); ok {
			all = append(all, fbt.Typed{Part: m.Part(), Types: types})
		}
	}
	return all
}
