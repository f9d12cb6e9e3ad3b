package guestos

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"trapline/kernel"
	"trapline/kernel/ctypes"
	"trapline/kernel/debuginfo"
)

// A Module is a loadable module in the guest's kernel.
type Module struct {
	Addr     uint64 // of what the kernel describes it with
	Name     string
	Sections map[string]uint64 // where they are, by name; nil for a shared object
	Sizes    map[string]uint64 // of Sections, in bytes, if the kernel has them
	Base     uint64            // of a shared object: what is added to the addresses of its file
	Live     bool              // its init has run, and what was only for that is gone or going
}

// Modular is an OS into whose kernel modules are loaded.
type Modular interface {
	// Modules are those that are loaded, in the order in which they were.
	Modules(mem Mem) ([]Module, error)
	// Module is the one that the kernel describes at an address.
	Module(mem Mem, addr uint64) (Module, error)
	// ModuleEvents are the functions of the kernel that tell of modules. It fails where
	// modules cannot be followed.
	ModuleEvents() (ModuleEvents, error)
	// Unwind has Stack find its way through these modules, which have their places, and
	// no others.
	Unwind(mem Mem, modules []*kernel.Image)
}

// ModuleEvents are names of functions, "" for none. Their first argument is the address of what
// describes a module.
type ModuleEvents struct {
	Loaded   string // it is in its place, and none of its code has run
	InitGone string // what was only for its init is about to be freed
	Unloaded string // it is about to be freed, and runs no more
}

// linuxModuleEvents: do_init_module calls a module's init; module_arch_freeing_init and
// free_module are called before memory is freed, free_module for a module, too, whose init
// has failed.
var linuxModuleEvents = ModuleEvents{"do_init_module", "module_arch_freeing_init", "free_module"}

// modules is where Linux keeps what Modules returns: offsets in bytes.
type modules struct {
	list, name, state, sections uint64 // in struct module
	nameSize                    int

	attrs                    sectionAttrs
	sectionName, sectionAddr uint64 // in an attribute
}

// sectionAttrs is where struct module_sect_attrs keeps the attributes of a module's sections.
type sectionAttrs struct {
	count, first, size uint64 // their number, the first of them, and the size of one
	pointers           uint64 // from Linux 6.15 on instead: a pointer to pointers to them, the last nil
}

// Values of enum module_state, and a limit for what cannot be right.
const (
	moduleLive  = 0
	moduleGoing = 2
	maxModules  = 4096
	maxSections = 1024

	maxModuleName = 1024 // bytes
)

// modulesOf finds the offsets.
func modulesOf(all *debuginfo.Types) (modules, error) {
	var m modules
	module, err1 := structOf(all, "module")
	attrs, err2 := structOf(all, "module_sect_attrs")
	if err := cmp.Or(err1, err2); err != nil {
		return m, err
	}
	if name, ok := module.Member("name"); ok {
		m.name, m.nameSize = uint64(name.Offset), name.Type.Bytes()
	}
	err := cmp.Or(
		field(module, "list", 16, &m.list), field(module, "state", 4, &m.state),
		field(module, "sect_attrs", 8, &m.sections), m.attributes(all, attrs),
	)
	if err == nil && (m.nameSize == 0 || m.nameSize > maxModuleName) {
		err = errors.New("struct module has another form")
	}
	return m, err
}

// attributes finds the offsets in struct module_sect_attrs and in its attributes, of which there are
// two forms.
func (m *modules) attributes(all *debuginfo.Types, attrs *ctypes.Type) error {
	if _, counted := attrs.Member("nsections"); !counted {
		attr, err := structOf(all, "bin_attribute")
		return cmp.Or(err, within(attrs, &m.attrs.pointers, "grp", "bin_attrs"),
			within(attr, &m.sectionName, "attr", "name"), within(attr, &m.sectionAddr, "private"))
	}
	attr, err := structOf(all, "module_sect_attr")
	if err != nil {
		return err
	}
	if list, ok := attrs.Member("attrs"); ok {
		m.attrs.first, m.attrs.size = uint64(list.Offset), uint64(attr.Bytes())
	}
	if m.attrs.size == 0 {
		return errors.New("struct module_sect_attrs has another form")
	}
	return cmp.Or(field(attrs, "nsections", 4, &m.attrs.count), field(attr, "address", 8, &m.sectionAddr),
		within(attr, &m.sectionName, "battr", "attr", "name"))
}

// within stores the offset of a member of members.
func within(s *ctypes.Type, off *uint64, names ...string) error {
	for _, name := range names {
		if s == nil {
			return errors.New("a structure is missing")
		}
		f, ok := s.Member(name)
		if !ok {
			return fmt.Errorf("struct %s has no member %s", s.Name, name)
		}
		*off += uint64(f.Offset)
		s = f.Type.Base()
	}
	return nil
}

// ModuleEvents implements Modular.
func (l *linux) ModuleEvents() (ModuleEvents, error) {
	e := linuxModuleEvents
	for _, name := range []string{"modules", e.Loaded, e.InitGone, e.Unloaded} {
		if l.symbol(name) == 0 {
			return e, fmt.Errorf("the kernel has no symbol %s", name)
		}
	}
	return e, l.types().noModules
}

// Modules implements Modular: they are in the list "modules", the newest first.
func (l *linux) Modules(mem Mem) ([]Module, error) {
	head, at := l.symbol("modules"), l.types().modules
	if head == 0 || l.types().noModules != nil {
		return nil, nil
	}
	var all []Module
	next, err := l.u64(mem, head)
	for ; err == nil && next != head && next != 0 && len(all) < maxModules; next, err = l.u64(mem, next) {
		state, err := l.u32(mem, next-at.list+at.state)
		if err != nil {
			return nil, fmt.Errorf("reading the list of modules: %w", err)
		}
		if state > moduleGoing { // it is not in its place yet
			continue
		}
		m, err := l.Module(mem, next-at.list)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the list of modules: %w", err)
	}
	slices.Reverse(all)
	return all, nil
}

// Module implements Modular: a module's sections are those that the kernel shows in
// /sys/module/NAME/sections.
func (l *linux) Module(mem Mem, addr uint64) (Module, error) {
	at := l.types().modules
	m := Module{Addr: addr, Sections: map[string]uint64{}}
	name := make([]byte, at.nameSize)
	err := mem.ReadMem(addr+at.name, name)
	state, err1 := l.u32(mem, addr+at.state)
	sections, err2 := l.u64(mem, addr+at.sections)
	if err = cmp.Or(err, err1, err2); err != nil {
		return m, fmt.Errorf("reading a module at %#x: %w", addr, err)
	}
	m.Name, m.Live = cString(name), state == moduleLive
	if sections == 0 {
		return m, fmt.Errorf("module %s: the kernel does not tell where its sections are", m.Name)
	}
	if err := l.eachAttr(mem, sections, func(attr uint64) error { return l.section(mem, attr, &m) }); err != nil {
		return m, fmt.Errorf("reading the sections of module %s: %w", m.Name, err)
	}
	return m, nil
}

// eachAttr calls do with the address of each attribute of the sections of a module.
func (l *linux) eachAttr(mem Mem, sections uint64, do func(attr uint64) error) error {
	at := l.types().modules.attrs
	if at.pointers != 0 {
		return l.eachPointer(mem, sections+at.pointers, do)
	}
	count, err := l.u32(mem, sections+at.count)
	for i := uint64(0); err == nil && i < min(uint64(count), maxSections); i++ {
		err = do(sections + at.first + i*at.size)
	}
	return err
}

// eachPointer calls do with each pointer of an array that ends with nil; list is where the address of
// the array is.
func (l *linux) eachPointer(mem Mem, list uint64, do func(uint64) error) error {
	array, err := l.u64(mem, list)
	for i := uint64(0); err == nil && array != 0 && i < maxSections; i++ {
		var p uint64
		if p, err = l.u64(mem, array+8*i); err != nil || p == 0 {
			break
		}
		err = do(p)
	}
	return err
}

func (l *linux) section(mem Mem, attr uint64, m *Module) error {
	at := l.types().modules
	name, err := l.u64(mem, attr+at.sectionName)
	addr, err2 := l.u64(mem, attr+at.sectionAddr)
	if err = cmp.Or(err, err2); err != nil {
		return err
	}
	text, err := l.text64(mem, name)
	if _, twice := m.Sections[text]; !twice {
		m.Sections[text] = addr
	}
	return err
}

func cString(b []byte) string {
	s, _, _ := bytes.Cut(b, []byte{0})
	return string(s)
}

// Unwind implements Modular. The tables are read from the guest, which has sorted them.
func (l *linux) Unwind(mem Mem, modules []*kernel.Image) {
	l.frames.modules = modules
	clear(l.frames.made)
	l.tables = l.tables[:0]
	for _, img := range modules {
		if t := l.moduleORC(mem, img); t != nil {
			l.tables = append(l.tables, moduleTable{img, t})
		}
	}
}

// A moduleTable is the ORC table of a module, at the addresses of the running kernel.
type moduleTable struct {
	img *kernel.Image
	*orcTable
}

func (l *linux) moduleORC(mem Mem, img *kernel.Image) *orcTable {
	ips, base, ok1 := l.loadedSection(mem, img, ".orc_unwind_ip")
	entries, _, ok2 := l.loadedSection(mem, img, ".orc_unwind")
	if !ok1 || !ok2 || len(ips) == 0 || len(entries)/orcEntrySize != len(ips)/4 {
		return nil
	}
	kernel := l.orc()
	if kernel == nil {
		return nil
	}
	return &orcTable{base: base, ips: ips, entries: entries, format: kernel.format}
}

// loadedSection is a section of a module as the guest has it, and where.
func (l *linux) loadedSection(mem Mem, img *kernel.Image, name string) (data []byte, addr uint64, ok bool) {
	file, link, ok := img.Section(name)
	if !ok {
		return nil, 0, false
	}
	if addr, ok = img.Run(link); !ok {
		return nil, 0, false
	}
	data = make([]byte, len(file))
	return data, addr, mem.ReadMem(addr, data) == nil
}

// orcAt is the table for an address, and the address as the table has it.
func (l *linux) orcAt(kernel *orcTable, pc uint64) (t *orcTable, at uint64) {
	if link := pc - l.img.Slide(); l.inText(link) {
		return kernel, link
	}
	for _, m := range l.tables {
		if _, ok := m.img.Link(pc); ok {
			return m.orcTable, pc
		}
	}
	return nil, 0
}
