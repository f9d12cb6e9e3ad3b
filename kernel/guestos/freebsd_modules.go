package guestos

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"trapline/kernel"
	"trapline/kernel/ctypes"
	"trapline/kernel/debuginfo"
)

// freebsdModuleEvents: linker_file_register_modules is called when a file is in its place, before its
// initialization, and link_elf_unload_file at the end.
var freebsdModuleEvents = ModuleEvents{Loaded: "linker_file_register_modules", Unloaded: "link_elf_unload_file"}

// freebsdFiles heads the list of the kernel's files, the kernel proper among them.
const freebsdFiles = "linker_files"

// freebsdModules is where FreeBSD keeps what Modules returns: offsets in bytes.
type freebsdModules struct {
	next, filename, address uint64 // in struct linker_file
	objects                 *freebsdObjects
}

// freebsdObjects is where the loader of relocatable files keeps the pieces of one: struct elf_file and
// Elf_progent of link_elf_obj.c. Kernels that load shared objects do without.
type freebsdObjects struct {
	table, count     uint64 // in struct elf_file
	pieceSize        uint64
	addr, size, name uint64 // in a piece
}

func freebsdModulesOf(all *debuginfo.Types) (freebsdModules, error) {
	var m freebsdModules
	err := fields(all, "linker_file", member{"filename", 8, &m.filename}, member{"address", 8, &m.address})
	if err != nil {
		return m, err
	}
	file, err := structOf(all, "linker_file")
	if err == nil {
		err = within(file, &m.next, "link", "tqe_next")
	}
	if err == nil {
		m.objects, err = freebsdObjectsOf(all)
	}
	return m, err
}

// freebsdObjectsOf finds struct elf_file, of which the kernel has another by that name, as the parameter
// of a function. It is nil without that function.
func freebsdObjectsOf(all *debuginfo.Types) (*freebsdObjects, error) {
	f, ok := all.Function("link_elf_protect_range")
	if !ok {
		return nil, nil
	}
	params := f.Base().Params
	if len(params) == 0 || params[0].Base().Kind != ctypes.Pointer {
		return nil, errors.New("link_elf_protect_range has another form")
	}
	var o freebsdObjects
	file := params[0].Base().Elem.Base()
	if err := cmp.Or(field(file, "progtab", 8, &o.table), field(file, "nprogtab", 4, &o.count)); err != nil {
		return nil, err
	}
	table, _ := file.Member("progtab")
	piece := table.Type.Base().Elem.Base()
	o.pieceSize = uint64(piece.Bytes())
	return &o, cmp.Or(field(piece, "addr", 8, &o.addr), field(piece, "size", 8, &o.size), field(piece, "name", 8, &o.name))
}

// ModuleEvents implements Modular.
func (f *freebsd) ModuleEvents() (ModuleEvents, error) {
	e := freebsdModuleEvents
	for _, name := range []string{freebsdFiles, e.Loaded, e.Unloaded} {
		if len(f.img.Symtab().Lookup(name)) == 0 {
			return e, fmt.Errorf("the kernel has no symbol %s", name)
		}
	}
	return e, f.types().noModules
}

// Modules implements Modular: the files behind the first, which is the kernel.
func (f *freebsd) Modules(mem Mem) ([]Module, error) {
	head, ok := f.img.Symtab().Value(freebsdFiles)
	if !ok || f.types().noModules != nil {
		return nil, nil
	}
	var all []Module
	next, err := f.u64(mem, head)
	for range maxModules {
		if err != nil || next == 0 {
			break
		}
		m, e := f.Module(mem, next)
		if e != nil {
			return nil, e
		}
		if m.Sections != nil || m.Base != 0 {
			all = append(all, m)
		}
		next, err = f.u64(mem, next+f.types().modules.next)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the list of modules: %w", err)
	}
	return all, nil
}

// Module implements Modular. Of the kernel proper it gives the name alone. No part of a module is
// freed after its initialization.
func (f *freebsd) Module(mem Mem, addr uint64) (Module, error) {
	at := f.types().modules
	m := Module{Addr: addr}
	name, err := f.u64(mem, addr+at.filename)
	if err == nil {
		m.Name, err = f.text64(mem, name)
	}
	if err != nil {
		return m, fmt.Errorf("reading a module at %#x: %w", addr, err)
	}
	m.Name = m.Name[strings.LastIndexByte(m.Name, '/')+1:]
	short, loadable := strings.CutSuffix(m.Name, Loadable)
	if m.Name = short; !loadable {
		return m, nil
	}
	if at.objects != nil {
		m.Sections, m.Sizes, err = f.pieces(mem, addr, at.objects)
	} else {
		m.Base, err = f.u64(mem, addr+at.address)
	}
	if err != nil {
		return m, fmt.Errorf("reading where module %s is: %w", m.Name, err)
	}
	return m, nil
}

// pieces are the sections of a relocatable file.
func (f *freebsd) pieces(mem Mem, file uint64, o *freebsdObjects) (at, sizes map[string]uint64, err error) {
	at, sizes = map[string]uint64{}, map[string]uint64{}
	table, err := f.u64(mem, file+o.table)
	if err != nil {
		return at, sizes, err
	}
	count, err := f.u32(mem, file+o.count)
	for i := uint64(0); err == nil && i < min(uint64(count), maxSections); i++ {
		err = f.piece(mem, table+i*o.pieceSize, o, at, sizes)
	}
	return at, sizes, err
}

func (f *freebsd) piece(mem Mem, piece uint64, o *freebsdObjects, at, sizes map[string]uint64) error {
	name, err1 := f.u64(mem, piece+o.name)
	addr, err2 := f.u64(mem, piece+o.addr)
	size, err3 := f.u64(mem, piece+o.size)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	text, err := f.text64(mem, name)
	if _, twice := at[text]; !twice {
		at[text], sizes[text] = addr, size
	}
	return err
}

// Unwind implements Modular.
func (f *freebsd) Unwind(_ Mem, modules []*kernel.Image) {
	f.frames.modules = modules
	clear(f.made)
}
