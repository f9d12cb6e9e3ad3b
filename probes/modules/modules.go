package modules

import (
	"bytes"
	"fmt"
	"slices"

	"trapline/kernel"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/ktext"
	"trapline/probes/patch"
	"trapline/probes/sdt"
)

// Modules follows the modules of the guest by breakpoints in the kernel's own loader:
//
//	do_init_module    loaded: sections, symbols --> probes of what the program describes
//	free_module       unloaded: they are switched off, and kept for the next time
//
// Nothing of it is there when the session knows no module's file.
type Modules struct {
	Config
	modular guestos.Modular
	set     *patch.Set
	text    *ktext.Text
	byName  map[string]*Module // by name; nil: there is none
	loaded  []*loaded          // in the order of loading
	gone    []goneModule       // the newest last
	watches []watch
	sites   []patch.Site
	hits    uint64 // of the watches
}

// A watch is a probe that fires when a module comes or goes, and what is done then with where the kernel
// describes it.
type watch struct {
	probe *probes.Probe
	do    func(addr uint64) error
}

// A loaded module is one that the guest has and whose file is known.
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

// Config is what Modules are made of.
type Config struct {
	Target   probes.Target
	OS       guestos.OS
	Registry *probes.Registry
	Kernel   *Debug
	// Files are those of the modules that the guest may load, Find finds that of another by its name,
	// nil if there is none. It may be nil.
	Files []*Module
	Find  func(name string) (*Module, error)
	// Static finds or makes the provider of static probes of a name.
	Static func(name string) *sdt.Provider
	// Match finds the probes of a module that is in its place now, and makes their enablings.
	Match func(m *Module) []*probes.Probe
	// Show shows what is recorded. Keep takes an error, Complain a message for the user, Say one
	// that is not for those who want quiet.
	Show          func()
	Keep          func(err error)
	Complain, Say func(format string, args ...any)
}

// New makes Modules of the files of a Config.
func New(c Config) *Modules {
	m := &Modules{Config: c, byName: map[string]*Module{}}
	for _, f := range c.Files {
		m.byName[f.Name()] = f
	}
	return m
}

// Use is called once, with the breakpoints and the text that modules are a part of.
func (m *Modules) Use(set *patch.Set, text *ktext.Text) { m.set, m.text = set, text }

// watcher is the provider of the probes that tell of modules. Nobody can ask for them.
type watcher struct{}

func (watcher) Name() string                                 { return "" }
func (watcher) Provide(probes.Desc) ([]*probes.Probe, error) { return nil, nil }
func (watcher) Enable([]*probes.Probe) error                 { return nil }
func (watcher) Disable([]*probes.Probe) error                { return nil }

// Start begins to follow modules, missed if a description names one that is not there, and takes the modules that are there already.
func (m *Modules) Start(missed bool) error {
	if len(m.Files) == 0 && m.Find == nil {
		if _, ok := m.OS.(guestos.Modular); ok && missed {
			m.Complain("modules are not traced: pass their files with --module or --module-dir")
		}
		return nil
	}
	os, ok := m.OS.(guestos.Modular)
	if !ok {
		return fmt.Errorf("modules cannot be followed: %s has none", m.OS.System().Name)
	}
	m.modular = os
	events, err := os.ModuleEvents()
	if err != nil {
		return fmt.Errorf("modules cannot be followed: %w", err)
	}
	g := m.Registry.Group(watcher{}, "", "", 0)
	for i, e := range []struct {
		function string
		do       func(addr uint64) error
	}{{events.Loaded, m.load}, {events.InitGone, m.dropInit}, {events.Unloaded, m.unload}} {
		if e.function == "" {
			continue
		}
		p := g.Numbered(i, 0)
		m.watches = append(m.watches, watch{p, e.do})
		if err := m.watch(p, e.function); err != nil {
			return fmt.Errorf("modules cannot be followed: %s: %w", e.function, err)
		}
	}
	if err := m.set.EnableSites(m.sites); err != nil {
		return err
	}
	return m.takeAll()
}

// takeAll takes the modules that are loaded. A kernel that has not run yet has no list.
func (m *Modules) takeAll() error {
	all, err := m.modular.Modules(m.Target)
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

// watch makes points of the first instructions of the functions of a name.
func (m *Modules) watch(p *probes.Probe, function string) error {
	syms, err := m.text.Kernel().Named(function)
	if err != nil {
		return err
	}
	for _, s := range syms {
		f, instrs, err := m.text.Decode(s)
		if f == nil {
			return err
		}
		if why := instrs[0].Plan.Reason(); why != "" {
			return fmt.Errorf("its first instruction cannot be traced: %s", why)
		}
		m.set.Add(f, instrs[0])
		m.sites = append(m.sites, patch.Site{Probe: p, Addr: s.Addr})
	}
	return nil
}

// Event takes a firing of a watch. It reports whether it was one.
func (m *Modules) Event(f *probes.Firing) bool {
	i := slices.IndexFunc(m.watches, func(w watch) bool { return w.probe == f.Probe })
	if i < 0 {
		return false
	}
	m.hits++
	m.Keep(m.watches[i].do(f.CPU.Reg(m.Target.Arch().Args[0])))
	return true
}

// Hits is how often the guest ran into the breakpoints by which modules are followed.
func (m *Modules) Hits() uint64 { return m.hits }

// End stops following.
func (m *Modules) End() error { return m.set.DisableSites(m.sites) }

// Probes lists the enabled ones of modules.
func (m *Modules) Probes() (out []*probes.Probe) {
	for _, l := range m.loaded {
		out = append(out, l.probes...)
	}
	return out
}

// file is the file of a module, nil if there is none.
func (m *Modules) file(name string) (*Module, error) {
	f, known := m.byName[name]
	if known || m.Find == nil {
		return f, nil
	}
	f, err := m.Find(name)
	m.byName[name] = f
	return f, err
}

// load takes the module that the kernel describes at an address.
func (m *Modules) load(addr uint64) error {
	x, err := m.modular.Module(m.Target, addr)
	if err != nil {
		return err
	}
	return m.add(x)
}

// add makes the probes of a module that is in its place now.
func (m *Modules) add(x guestos.Module) error {
	f, err := m.file(x.Name)
	if f == nil || err != nil {
		return err
	}
	if f.Image.SetPlaces(x.Sections); x.Sections == nil {
		f.Image.SetBase(x.Base)
	}
	if !m.belongs(f, x) {
		f.Image.SetPlaces(nil)
		m.Complain("module %s is not traced: the guest loaded a different build than %s", x.Name, f.Image.Name())
		return nil
	}
	if x.Live {
		f.Image.DropInit()
	}
	l := &loaded{Module: f, addr: x.Addr}
	m.loaded = append(m.loaded, l)
	m.publish()
	f.place(m.Static)
	l.probes = m.Match(f)
	if err := m.Registry.Enable(l.probes); err != nil {
		l.probes = nil
		return fmt.Errorf("module %s: %w", x.Name, err)
	}
	m.tell(l, "is loaded, and has %d probe%s")
	return nil
}

// belongs compares the build ID of the guest's module with that of the file, which has its place; or the
// sizes of sections, where the guest's kernel does not load the note.
func (m *Modules) belongs(f *Module, x guestos.Module) bool {
	const id = ".note.gnu.build-id"
	note, link, ok := f.Image.Section(id)
	if !ok {
		return true
	}
	if _, loaded := x.Sections[id]; !loaded && x.Sizes != nil {
		return f.Image.HasSizes(x.Sizes)
	}
	have := make([]byte, len(note))
	addr, ok := f.Image.Run(link)
	return ok && m.Target.ReadMem(addr, have) == nil && bytes.Equal(note, have)
}

// publish passes on which modules are loaded.
func (m *Modules) publish() {
	var parts []ktext.Part
	var images []*kernel.Image
	for _, l := range m.loaded {
		parts = append(parts, l.Part())
		images = append(images, l.Image)
	}
	m.text.SetModules(parts)
	m.modular.Unwind(m.Target, images)
}

// find is the loaded module that the kernel describes at an address, -1 if it is none of
// ours.
func (m *Modules) find(addr uint64) int {
	return slices.IndexFunc(m.loaded, func(l *loaded) bool { return l.addr == addr })
}

// dropInit forgets what a module has only for its init.
func (m *Modules) dropInit(addr uint64) error {
	i := m.find(addr)
	if i < 0 {
		return nil
	}
	l := m.loaded[i]
	m.Show() // while all addresses have names
	gone := l.Image.DropInit()
	var off []*probes.Probe
	l.probes = slices.DeleteFunc(l.probes, func(p *probes.Probe) bool {
		_, in := kernel.LinkOf(gone, p.Key)
		if in {
			off = append(off, p)
		}
		return in
	})
	if err := m.Registry.Disable(off); err != nil {
		return err
	}
	m.forget(l, gone)
	m.publish()
	return nil
}

// unload forgets a module.
func (m *Modules) unload(addr uint64) error {
	i := m.find(addr)
	if i < 0 {
		return nil
	}
	l := m.loaded[i]
	m.Show() // while all addresses have names
	if err := m.Registry.Disable(l.probes); err != nil {
		return err
	}
	m.forget(l, l.Image.Places())
	m.Registry.Retire(l.Name())
	m.loaded = slices.Delete(m.loaded, i, i+1)
	m.publish()
	m.tell(l, "is unloaded, and with it %d probe%s")
	return nil
}

// forget drops what is known of text of a module, but its names.
func (m *Modules) forget(l *loaded, places []kernel.Place) {
	m.gone = append(m.gone, goneModule{l.Module, places})
	m.gone = m.gone[max(0, len(m.gone)-maxGone):]
	for _, p := range places {
		for _, provider := range m.Registry.Providers() {
			if f, ok := provider.(probes.Forgetter); ok {
				f.Forget(p.Addr, p.Addr+p.Size)
			}
		}
		m.set.Forget(p.Addr, p.Addr+p.Size)
	}
}

// tell reports to the user a module that has probes.
func (m *Modules) tell(l *loaded, format string) {
	if n := len(l.probes); n > 0 {
		plural := "s"
		if n == 1 {
			plural = ""
		}
		m.Say("module %s "+format, l.Name(), n, plural)
	}
}

// Text reads a module's text from its file. It reports false where there is none.
func (m *Modules) Text(addr uint64, p []byte) bool {
	return slices.ContainsFunc(m.loaded, func(l *loaded) bool { return l.Image.Text(addr, p) == nil })
}

// Lost names an address in a module that was there last.
func (m *Modules) Lost(addr uint64) (module, name string, off uint64, ok bool) {
	for _, g := range slices.Backward(m.gone) {
		link, in := kernel.LinkOf(g.places, addr)
		if !in {
			continue
		}
		if sym, ok := g.Image.Symtab().AtLink(link); ok {
			return g.Name(), sym.Name, link - sym.Addr, true
		}
	}
	return "", "", 0, false
}

// Left reports whether a module was at an address that is not there any more.
func (m *Modules) Left(addr uint64) bool {
	return slices.ContainsFunc(m.gone, func(g goneModule) bool {
		_, in := kernel.LinkOf(g.places, addr)
		return in
	})
}

// Described returns the modules with a file that a description's module means.
func (m *Modules) Described(pattern string) (out []*Module) {
	for _, f := range m.Files {
		if m.text.InModule(pattern, f.Name()) {
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

// LinkOf is the link-time address of a probe of text. It is not ok if that is not there.
func (m *Modules) LinkOf(p *probes.Probe) (uint64, bool) { return m.DebugOf(p).LinkOf(p.Key) }

// A Foreseen probe is one that there will be when its module is loaded.
type Foreseen struct {
	ktext.Foreseen
	Debug *Debug
}

// Foresee lists those of a description that mean accepts, each name once.
func (m *Modules) Foresee(d probes.Desc, mean func(link uint64) bool) (all []Foreseen) {
	for _, f := range m.Described(d.Module) {
		for _, p := range f.foresee(m.Registry, d) {
			there := func(x Foreseen) bool { return x.Desc == p.Desc }
			if !slices.ContainsFunc(all, there) && mean(p.Addr) {
				all = append(all, Foreseen{p, &f.Debug})
			}
		}
	}
	return all
}

// DebugOf is the debug information about a probe of text.
func (m *Modules) DebugOf(p *probes.Probe) *Debug {
	for _, l := range m.loaded {
		if l.Name() == p.Module() {
			return &l.Debug
		}
	}
	return m.Kernel
}

// DebugAt is the debug information about an address.
func (m *Modules) DebugAt(addr uint64) *Debug {
	for _, l := range m.loaded {
		if _, ok := l.Image.Link(addr); ok {
			return &l.Debug
		}
	}
	return m.Kernel
}

// Expects reports whether a description may mean probes of a module that is not loaded yet. It
// is an error that the module that it names has no such function.
func (m *Modules) Expects(d probes.Desc) (yes bool, err error) {
	for _, f := range m.Described(d.Module) {
		switch tab := f.Image.Symtab(); {
		case d.Function == "" || len(tab.Glob(d.Function)) > 0:
			return true, nil
		case d.Module == f.Name():
			err = &ktext.UnknownError{Function: d.Function, Module: f.Name(), Near: tab.Nearest(d.Function, 3)}
		}
	}
	return false, err
}
