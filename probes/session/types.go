package session

import (
	"maps"
	"strings"

	"trapline/kernel"
	"trapline/kernel/ctypes"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/d/check"
	"trapline/probes/d/library"
	"trapline/probes/d/syntax"
	"trapline/probes/fbt"
	"trapline/probes/modules"
)

// isType tells the parser of the types that it has not seen in the source it reads: those
// of the sources before, and of the kernel.
func (s *Session) isType(before *syntax.Program) func(name string) bool {
	names := make(map[string]bool)
	for _, it := range before.Items {
		if d, ok := it.(*syntax.Decl); ok && d.Class == "typedef" {
			for _, n := range d.Names {
				names[n.Name] = true
			}
		}
	}
	return func(name string) bool {
		types := s.types()
		if names[name] || types == nil {
			return names[name]
		}
		_, ok := types.Typedef(name)
		return ok
	}
}

// argTypes are the types of args[] of the probes of a description, none if they differ or
// are not known. Only providers that know types are asked.
func (s *Session) argTypes(text string) []*ctypes.Type {
	desc, err := probes.ParseDesc(text)
	if err != nil {
		return nil
	}
	for _, p := range s.registry.Providers() {
		typed, ok := p.(probes.Typed)
		if ok && desc.Provider != "" && kernel.Match(desc.Provider, p.Name()) {
			return typed.ArgTypes(desc)
		}
	}
	return nil
}

// allTypes are the kernel's, and for names that it does not have the modules', in their order.
type allTypes struct {
	check.Types // the kernel's
	modules     []*modules.Module
}

// Tagged implements check.Types.
func (a allTypes) Tagged(kind ctypes.Kind, tag string) (*ctypes.Type, bool) {
	return a.find(func(t check.Types) (*ctypes.Type, bool) { return t.Tagged(kind, tag) })
}

// Typedef implements check.Types.
func (a allTypes) Typedef(name string) (*ctypes.Type, bool) {
	return a.find(func(t check.Types) (*ctypes.Type, bool) { return t.Typedef(name) })
}

func (a allTypes) find(in func(check.Types) (*ctypes.Type, bool)) (*ctypes.Type, bool) {
	t, ok := in(a.Types)
	for i := 0; !ok && i < len(a.modules); i++ {
		if types := a.modules[i].Types; types != nil {
			t, ok = in(types)
		}
	}
	return t, ok
}

// types are those that a program may name. Nil: nothing is known.
func (s *Session) types() check.Types {
	if s.Types == nil || len(s.Modules) == 0 {
		return s.Types
	}
	return allTypes{s.Types, s.Modules}
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

// shownArgs are the types of args[] of a probe as they are shown: those that the guest's
// libraries declare, or those that the provider knows.
func (s *Session) shownArgs(d probes.Desc) (types []string) {
	for _, lib := range library.For(libraries(s.OS.System()), d.Provider+":") {
		if s.Types == nil || !s.hasMember(lib.Tag, lib.Member) {
			continue
		}
		if x := lib.Probe(d.Provider, d.Name); x != nil {
			for _, t := range x.Xlated {
				types = append(types, t.Unnamed())
			}
			return types
		}
	}
	for _, t := range s.argTypes(d.String()) {
		types = append(types, t.String())
	}
	return types
}

// guestMacros are the macro variables that are about the tracer's own process in
// dtrace(1). A trace must not depend on who makes it, so here they are those of the first
// process of the guest, which is the superuser's.
var guestMacros = map[string]string{
	"pid": "1", "ppid": "0", "pgid": "1", "sid": "1", "taskid": "0", "projid": "0",
	"uid": "0", "euid": "0", "gid": "0", "egid": "0", "target": "1",
}

func macroVars(given map[string]string) map[string]string {
	all := maps.Clone(guestMacros)
	maps.Copy(all, given)
	return all
}

// hasProvider reports whether a provider is there.
func (s *Session) hasProvider(name string) bool {
	for _, p := range s.registry.Providers() {
		if p.Name() == name {
			return true
		}
	}
	return false
}

// libraries are those of a system.
func libraries(system *guestos.System) (all []library.File) {
	for _, l := range system.Libraries {
		all = append(all, library.File(l))
	}
	return all
}

// addLibrary puts what the sources need of the guest's libraries before them, if anything is known
// of what those are about.
func (s *Session) addLibrary(all *syntax.Program, sources []Source) error {
	if s.Types == nil || s.Options.NoLibs {
		return nil
	}
	var text strings.Builder
	for _, src := range sources {
		text.WriteString(src.Text)
	}
	for _, lib := range library.For(libraries(s.OS.System()), text.String()) {
		if !s.hasMember(lib.Tag, lib.Member) {
			continue
		}
		p, err := syntax.Parse(lib.Name, []byte(lib.Text), syntax.Options{IsType: s.isType(all)})
		if err != nil {
			return err
		}
		all.Items = append(all.Items, p.Items...)
	}
	return nil
}

// hasMember reports whether a structure of the kernel's has a member.
func (s *Session) hasMember(tag, member string) bool {
	t, ok := s.Types.Tagged(ctypes.Struct, tag)
	if ok {
		_, ok = t.Member(member)
	}
	return ok
}

// typesTrouble tells what is wrong with the image's type information: what could
// not be read is missing without another word.
func (s *Session) typesTrouble() {
	t, ok := s.Types.(interface{ Err() error })
	if ok && t.Err() != nil {
		s.complain("types of the kernel: %v", t.Err())
	}
}
