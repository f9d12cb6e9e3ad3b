package session

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"trapline/kernel"
	"trapline/kernel/callsite"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/d/check"
	"trapline/probes/ktext"
	"trapline/probes/patch"
)

// A Module is the file of a module.
type Module struct {
	Image *kernel.Image
	Types check.Types // as those of a Config
	Debug
	// Static are the sites of its static probes, at link-time addresses.
	Static []callsite.Site
}

func (m *Module) name() string { return m.Image.Module() }

// part is the module as text.
func (m *Module) part() ktext.Part { return ktext.Part{Module: m.name(), Symbols: m.Image.Symtab()} }

// foresee lists the probes that a description will mean when the module is loaded.
func (m *Module) foresee(s *Session, d probes.Desc) (all []ktext.Foreseen) {
	u := ktext.Unloaded{Part: m.part(), Image: m.Image}
	for _, p := range s.registry.Providers() {
		if f, ok := p.(ktext.Forecaster); ok && kernel.Match(d.Provider, p.Name()) {
			all = append(all, f.Foresee(u, d)...)
		}
	}
	return append(all, m.foreseeStatic(d)...)
}

// modules follows the modules of the guest by breakpoints in the kernel's own loader:
//
//	do_init_module    loaded: sections, symbols --> probes of what the program describes
//	free_module       unloaded: they are switched off, and kept for the next time
//
// Nothing of it is there when the session knows no module's file.
type modules struct {
	s       *Session
	os      guestos.Modular
	files   map[string]*Module // by name; nil: there is none
	loaded  []*loaded          // in the order of loading
	gone    []goneModule       // the newest last
	watches []watch
	sites   []patch.Site
	hits    uint64 // of the watches
}

// A watch is a probe that tells of a module, and what is done then with where the kernel
// describes it.
type watch struct {
	probe *probes.Probe
	do    func(addr uint64) error
}

// A loaded module is one that the guest has and of which there is a file.
type loaded struct {
	*Module
	addr   uint64          // where the kernel describes it
	probes []*probes.Probe // that are enabled, by ID
}

// A goneModule is where a module was. Aggregations keep addresses.
type goneModule struct {
	*Module
	places []kernel.Place
}

const maxGone = 64

func newModules(s *Session) *modules {
	m := &modules{s: s, files: map[string]*Module{}}
	for _, f := range s.Modules {
		m.files[f.name()] = f
	}
	return m
}

// watcher is the provider of the probes that tell of modules. Nobody can ask for them.
type watcher struct{}

func (watcher) Name() string                                 { return "" }
func (watcher) Provide(probes.Desc) ([]*probes.Probe, error) { return nil, nil }
func (watcher) Enable([]*probes.Probe) error                 { return nil }
func (watcher) Disable([]*probes.Probe) error                { return nil }

// start begins to follow, and takes the modules that are there already.
func (m *modules) start() error {
	if len(m.s.Modules) == 0 && m.s.FindModule == nil {
		if _, ok := m.s.OS.(guestos.Modular); ok && m.missed() {
			m.s.complain("modules are not traced: pass their files with --module or --module-dir")
		}
		return nil
	}
	os, ok := m.s.OS.(guestos.Modular)
	if !ok {
		return fmt.Errorf("modules cannot be followed: %s has none", m.s.OS.System().Name)
	}
	m.os = os
	events, err := os.ModuleEvents()
	if err != nil {
		return fmt.Errorf("modules cannot be followed: %w", err)
	}
	g := m.s.registry.Group(watcher{}, "", "", 0)
	for i, e := range []struct {
		function string
		do       func(addr uint64) error
	}{{events.Loaded, m.load}, {events.InitGone, m.dropInit}, {events.Unloaded, m.unload}} {
		p := g.Numbered(i, 0)
		m.watches = append(m.watches, watch{p, e.do})
		if err := m.watch(p, e.function); err != nil {
			return fmt.Errorf("modules cannot be followed: %s: %w", e.function, err)
		}
	}
	if err := m.s.set.EnableSites(m.sites); err != nil {
		return err
	}
	return m.takeAll()
}

// missed reports whether a description names a module that is not there.
func (m *modules) missed() bool {
	return slices.ContainsFunc(m.s.unmatched, func(err error) bool { return errors.Is(err, ktext.ErrNoModule) })
}

// takeAll takes the modules that are loaded. A kernel that has not run yet has no list.
func (m *modules) takeAll() error {
	all, err := m.os.Modules(m.s.Target)
	if err != nil {
		return nil
	}
	for _, x := range all {
		if err := m.add(x); err != nil {
			return err
		}
	}
	return nil
}

// watch makes a point of a function's first instruction.
func (m *modules) watch(p *probes.Probe, function string) error {
	syms, err := m.s.ktext.Kernel().Named(function)
	if err != nil {
		return err
	}
	f, instrs, err := m.s.ktext.Decode(syms[0])
	if f == nil {
		return err
	}
	if why := instrs[0].Plan.Reason(); why != "" {
		return fmt.Errorf("its first instruction cannot be traced: %s", why)
	}
	m.s.set.Add(f, instrs[0])
	m.sites = append(m.sites, patch.Site{Probe: p, Addr: syms[0].Addr})
	return nil
}

// event takes a firing of a watch. It reports whether it was one.
func (m *modules) event(f *probes.Firing) bool {
	i := slices.IndexFunc(m.watches, func(w watch) bool { return w.probe == f.Probe })
	if i < 0 {
		return false
	}
	m.hits++
	m.s.keep(m.watches[i].do(f.CPU.Reg(m.s.Target.Arch().Args[0])))
	return true
}

// end stops following.
func (m *modules) end() error { return m.s.set.DisableSites(m.sites) }

// probes lists the enabled ones of modules.
func (m *modules) probes() (out []*probes.Probe) {
	for _, l := range m.loaded {
		out = append(out, l.probes...)
	}
	return out
}

// file is the file of a module, nil if there is none.
func (m *modules) file(name string) (*Module, error) {
	f, known := m.files[name]
	if known || m.s.FindModule == nil {
		return f, nil
	}
	f, err := m.s.FindModule(name)
	m.files[name] = f
	return f, err
}

// load takes the module that the kernel describes at an address.
func (m *modules) load(addr uint64) error {
	x, err := m.os.Module(m.s.Target, addr)
	if err != nil {
		return err
	}
	return m.add(x)
}

// add makes the probes of a module that is in its place now.
func (m *modules) add(x guestos.Module) error {
	f, err := m.file(x.Name)
	if f == nil || err != nil {
		return err
	}
	if !m.belongs(f, x) {
		m.s.complain("module %s is not traced: the guest loaded a different build than %s", x.Name, f.Image.Name())
		return nil
	}
	f.Image.SetPlaces(x.Sections)
	if x.Live {
		f.Image.DropInit()
	}
	l := &loaded{Module: f, addr: x.Addr}
	m.loaded = append(m.loaded, l)
	m.publish()
	f.place(m.s)
	m.match(l)
	if err := m.s.registry.Enable(l.probes); err != nil {
		l.probes = nil
		return fmt.Errorf("module %s: %w", x.Name, err)
	}
	m.tell(l, "is loaded, and has %d probe%s")
	return nil
}

// belongs compares the build ID of the guest's module with the file's.
func (m *modules) belongs(f *Module, x guestos.Module) bool {
	note, _, ok := f.Image.Section(".note.gnu.build-id")
	if !ok {
		return true
	}
	have := make([]byte, len(note))
	addr, ok := x.Sections[".note.gnu.build-id"]
	return ok && m.s.Target.ReadMem(addr, have) == nil && bytes.Equal(note, have)
}

// publish tells everyone which modules there are.
func (m *modules) publish() {
	var parts []ktext.Part
	var images []*kernel.Image
	for _, l := range m.loaded {
		parts = append(parts, l.part())
		images = append(images, l.Image)
	}
	m.s.ktext.SetModules(parts)
	m.os.Unwind(m.s.Target, images)
}

// match finds the probes of a module for all clauses. What a description cannot have there is
// told if it names the module: otherwise another may have it.
func (m *modules) match(l *loaded) {
	for i, c := range m.s.prog.Clauses {
		for _, text := range c.Probes {
			d, err := probes.ParseDesc(text)
			if err != nil || !m.s.ktext.InModule(d.Module, l.name()) {
				continue
			}
			named := d.Module == l.name()
			d.Module = l.name()
			ps, err := m.s.registry.Match(d)
			if err != nil && named {
				m.s.complain("module %s: %v", l.name(), err)
			}
			for _, p := range m.s.inlined.keep(text, ps) {
				if p.Module() == l.name() {
					m.s.on.addLate(p, i)
					l.probes = append(l.probes, p)
				}
			}
		}
	}
	slices.SortFunc(l.probes, func(a, b *probes.Probe) int { return cmp.Compare(a.ID(), b.ID()) })
	l.probes = slices.Compact(l.probes)
}

// find is the loaded module that the kernel describes at an address, -1 if it is none of
// ours.
func (m *modules) find(addr uint64) int {
	return slices.IndexFunc(m.loaded, func(l *loaded) bool { return l.addr == addr })
}

// dropInit forgets what a module has only for its init.
func (m *modules) dropInit(addr uint64) error {
	i := m.find(addr)
	if i < 0 {
		return nil
	}
	l := m.loaded[i]
	m.s.show() // while all addresses have names
	gone := l.Image.DropInit()
	var off []*probes.Probe
	l.probes = slices.DeleteFunc(l.probes, func(p *probes.Probe) bool {
		_, in := kernel.LinkOf(gone, p.Key)
		if in {
			off = append(off, p)
		}
		return in
	})
	if err := m.s.registry.Disable(off); err != nil {
		return err
	}
	m.forget(l, gone)
	m.publish()
	return nil
}

// unload forgets a module.
func (m *modules) unload(addr uint64) error {
	i := m.find(addr)
	if i < 0 {
		return nil
	}
	l := m.loaded[i]
	m.s.show() // while all addresses have names
	if err := m.s.registry.Disable(l.probes); err != nil {
		return err
	}
	m.forget(l, l.Image.Places())
	m.s.registry.Retire(l.name())
	m.loaded = slices.Delete(m.loaded, i, i+1)
	m.publish()
	m.tell(l, "is unloaded, and with it %d probe%s")
	return nil
}

// forget drops what is known of text of a module, but its names.
func (m *modules) forget(l *loaded, places []kernel.Place) {
	m.gone = append(m.gone, goneModule{l.Module, places})
	m.gone = m.gone[max(0, len(m.gone)-maxGone):]
	for _, p := range places {
		for _, provider := range m.s.registry.Providers() {
			if f, ok := provider.(probes.Forgetter); ok {
				f.Forget(p.Addr, p.Addr+p.Size)
			}
		}
		m.s.set.Forget(p.Addr, p.Addr+p.Size)
	}
}

// tell tells the user about a module that has probes.
func (m *modules) tell(l *loaded, format string) {
	if n := len(l.probes); n > 0 && !m.s.Options.Quiet {
		plural := "s"
		if n == 1 {
			plural = ""
		}
		m.s.complain("module %s "+format, l.name(), n, plural)
	}
}

// text reads a module's text from its file. It reports false where there is none.
func (m *modules) text(addr uint64, p []byte) bool {
	return slices.ContainsFunc(m.loaded, func(l *loaded) bool { return l.Image.Text(addr, p) == nil })
}

// lost names an address in a module that was there last.
func (m *modules) lost(addr uint64) (module, name string, off uint64, ok bool) {
	for _, g := range slices.Backward(m.gone) {
		link, in := kernel.LinkOf(g.places, addr)
		if !in {
			continue
		}
		if sym, ok := g.Image.Symtab().AtLink(link); ok {
			return g.name(), sym.Name, link - sym.Addr, true
		}
	}
	return "", "", 0, false
}

// left reports whether a module was at an address that is not there any more.
func (m *modules) left(addr uint64) bool {
	return slices.ContainsFunc(m.gone, func(g goneModule) bool {
		_, in := kernel.LinkOf(g.places, addr)
		return in
	})
}

// described are the modules, of which there are files, that a description's module means.
func (m *modules) described(pattern string) (out []*Module) {
	for _, f := range m.s.Modules {
		if m.s.ktext.InModule(pattern, f.name()) {
			out = append(out, f)
		}
	}
	if kernel.IsGlob(pattern) || len(out) > 0 {
		return out
	}
	if f, err := m.file(pattern); f != nil && err == nil {
		out = append(out, f)
	}
	return out
}

// link is the link-time address of a probe of text. It is not ok if that is not there.
func (m *modules) link(p *probes.Probe) (uint64, bool) { return m.debug(p).link(p.Key) }

// A foreseen probe is one that there will be when its module is loaded.
type foreseen struct {
	ktext.Foreseen
	of *Debug
}

// foresee lists those that a description means, which may be one of those that were made for
// another.
func (m *modules) foresee(text string) (all []foreseen) {
	d, err := probes.ParseDesc(text)
	if err != nil {
		return nil
	}
	meant, made := m.s.inlined.addrs[text]
	for _, f := range m.described(d.Module) {
		for _, p := range f.foresee(m.s, d) {
			there := func(x foreseen) bool { return x.Desc == p.Desc }
			if !slices.ContainsFunc(all, there) && (!made || slices.Contains(meant, p.Addr)) {
				all = append(all, foreseen{p, &f.Debug})
			}
		}
	}
	return all
}

// debug is the debug information about a probe of text.
func (m *modules) debug(p *probes.Probe) *Debug {
	for _, l := range m.loaded {
		if l.name() == p.Module() {
			return &l.Debug
		}
	}
	return &m.s.Debug
}

// debugAt is the debug information about an address.
func (m *modules) debugAt(addr uint64) *Debug {
	for _, l := range m.loaded {
		if _, ok := l.Image.Link(addr); ok {
			return &l.Debug
		}
	}
	return &m.s.Debug
}

// expects reports whether a description may mean probes of a module that is not loaded yet. It
// is an error that the module that it names has no such function.
func (m *modules) expects(d probes.Desc) (yes bool, err error) {
	for _, f := range m.described(d.Module) {
		switch tab := f.Image.Symtab(); {
		case d.Function == "" || len(tab.Glob(d.Function)) > 0:
			return true, nil
		case d.Module == f.name():
			err = &ktext.UnknownError{Function: d.Function, Module: f.name(), Near: tab.Nearest(d.Function, 3)}
		}
	}
	return false, err
}
