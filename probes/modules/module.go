package modules

import (
	"trapline/kernel"
	"trapline/kernel/callsite"
	"trapline/probes"
	"trapline/probes/d/check"
	"trapline/probes/ktext"
	"trapline/probes/sdt"
)

// A Module is the file of a module.
type Module struct {
	Image *kernel.Image
	Types check.Types // as those of a Config
	Debug
	// Static are the sites of its static probes, at link-time addresses.
	Static []callsite.Site
}

// Name is the name by which the guest knows it.
func (m *Module) Name() string { return m.Image.Module() }

// Part is the module as text.
func (m *Module) Part() ktext.Part { return ktext.Part{Module: m.Name(), Symbols: m.Image.Symtab()} }

// foresee lists the probes that a description will mean when the module is loaded.
func (m *Module) foresee(r *probes.Registry, d probes.Desc) (all []ktext.Foreseen) {
	u := ktext.Unloaded{Part: m.Part(), Image: m.Image}
	for _, p := range r.Providers() {
		if f, ok := p.(ktext.Forecaster); ok && kernel.Match(d.Provider, p.Name()) {
			all = append(all, f.Foresee(u, d)...)
		}
	}
	return append(all, m.foreseeStatic(d)...)
}

// place gives the providers the places of a module's static probes.
func (m *Module) place(provider func(name string) *sdt.Provider) {
	for _, site := range m.Static {
		if addr, ok := m.Image.Run(site.Addr); ok {
			provider(site.Provider).Add(sdt.Place{Module: m.Name(), Name: site.Name, Addr: addr})
		}
	}
}

// foreseeStatic lists the static probes that a description will mean when the module is loaded.
func (m *Module) foreseeStatic(d probes.Desc) (all []ktext.Foreseen) {
	d.Module = m.Name()
	for _, site := range m.Static {
		s, _ := m.Image.Symtab().AtLink(site.Addr)
		p := probes.Desc{Provider: site.Provider, Module: m.Name(), Function: s.Name, Name: site.Name}
		if d.Match(p) {
			all = append(all, ktext.Foreseen{Desc: p, Addr: site.Addr})
		}
	}
	return all
}
