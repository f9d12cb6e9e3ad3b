package session

import (
	"slices"

	"trapline/kernel/callsite"
	"trapline/probes"
	static "trapline/probes/sdt"
)

// addStatic makes the providers of static probes: sdt, and those that the kernel's sites
// name.
func (s *Session) addStatic() error {
	if err := s.addTracepoints(); err != nil {
		return err
	}
	for _, m := range s.Modules { // a program may name them before their modules are loaded
		for _, site := range m.Static {
			s.staticProvider(site.Provider)
		}
	}
	for _, site := range s.Static {
		s.staticProvider(site.Provider).Add(static.Place{Module: s.ktext.Kernel().Module, Name: site.Name, Addr: site.Addr})
	}
	return nil
}

// staticProvider finds or makes the provider of static probes of a name.
func (s *Session) staticProvider(name string) *static.Provider {
	all := s.registry.Providers()
	i := slices.IndexFunc(all, func(p probes.Provider) bool {
		_, ok := p.(*static.Provider)
		return ok && p.Name() == name
	})
	if i >= 0 {
		return all[i].(*static.Provider)
	}
	p := static.New(name, s.registry, s.ktext, s.Target.Arch())
	s.registry.Add(p)
	return p
}

// addTracepoints makes the provider sdt, with the kernel's tracepoints, and the providers of those that
// have another name too.
func (s *Session) addTracepoints() error {
	s.staticProvider(callsite.DefaultProvider)
	of := s.OS.System().Tracepoints
	switch {
	case of == nil:
		return nil
	case !of.Any(s.Symbols):
		for _, name := range append(of.Providers(), callsite.DefaultProvider) {
			s.staticProvider(name).Needs = of.Needs
		}
		return nil
	}
	types, _ := s.Types.(static.Types)
	t, err := static.NewTracepoints(of, s.ktext.Kernel(), types, s.Target.Arch(), s.set.Read)
	if err != nil {
		return err
	}
	t.Thread = func(cpu probes.CPU) uint64 { return s.trace.ThreadOf(cpu).Addr }
	t.Write = s.Target.WriteMem
	for _, name := range t.Providers() {
		s.staticProvider(name).AddTracepoints(t)
	}
	return nil
}
