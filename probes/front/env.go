package front

import (
	"maps"

	"trapline/kernel/ctypes"
	"trapline/kernel/guestos"
	"trapline/probes/d/check"
	"trapline/probes/modules"
)

// checkEnv is what sources are checked against.
func (c *Config) checkEnv(sources []Source, m Macros) check.Env {
	return check.Env{
		Regs: c.Arch.Numbers(), Symbol: c.findSymbol, MacroArgs: m.Args, Macros: macroVars(m.Vars),
		Types: c.types(), Args: c.Resolver.ArgTypes, Declared: c.declared, Local: c.Resolver.LocalType,
		HasProvider: c.hasProvider, HasModule: c.Text.InKernel,
		Libraries: append(libraryNames(sources), guestos.LibraryNames()...), Options: c.checkOptions(),
	}
}

// checkOptions are the options of the checker as they are set now.
func (c *Config) checkOptions() check.Options {
	o := c.Options
	return check.Options{DefaultArgs: o.DefaultArgs, ArgRef: o.ArgRef, Empty: o.Empty, StrSize: o.StrSize, Version: o.Version}
}

func (c *Config) findSymbol(module, name string) (addr, size uint64, ok bool) {
	if module != "" && !c.Text.InKernel(module) {
		return 0, 0, false
	}
	for _, sym := range c.Text.Symbols.Lookup(name) {
		return sym.Addr, sym.Size, true
	}
	return 0, 0, false
}

// hasProvider reports whether a provider is there.
func (c *Config) hasProvider(name string) bool {
	for _, p := range c.Registry.Providers() {
		if p.Name() == name {
			return true
		}
	}
	return false
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
func (c *Config) types() check.Types {
	if c.Types == nil || len(c.Modules) == 0 {
		return c.Types
	}
	return allTypes{c.Types, c.Modules}
}

// hasMember reports whether a structure of the kernel's has a member.
func (c *Config) hasMember(tag, member string) bool {
	t, ok := c.Types.Tagged(ctypes.Struct, tag)
	if ok {
		_, ok = t.Member(member)
	}
	return ok
}
