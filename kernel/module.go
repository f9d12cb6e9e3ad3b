package kernel

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"trapline/kernel/arch"
	"trapline/kernel/callsite"
)

// ErrNotModule is wrapped by OpenModule for an ELF file that is no loadable module.
var ErrNotModule = errors.New("not a loadable module")

// A Place is where a piece of a module lies in the running kernel.
type Place struct {
	Link, Addr uint64 // the piece's link-time address, and that in the guest
	Size       uint64 // bytes
}

// OpenModule reads a loadable module: a relocatable ELF file or, for kernels that load such, a shared
// object; it may be compressed with gzip, xz or zstd. It links a relocatable one to itself: each
// loaded section gets a link-time address, and what the file's relocations say of these goes into
// symbols, text and debug information. What they say of other symbols stays open.
//
// The image is at its link-time addresses until SetPlaces. It must be closed. Errors
// wrap ErrNotELF or ErrNotModule, or say in one line what is wrong with the file.
func OpenModule(path string) (*Image, error) {
	data, err := ReadModule(path)
	if err != nil {
		return nil, err
	}
	return NewModule(data, path)
}

// ReadModule reads the file of a module, and decompresses it if need be. What is in it is
// not looked at.
func ReadModule(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("opening module: %w", err)
	}
	if data, err = decompress(data); err != nil {
		return nil, fmt.Errorf("module %s: %w", path, err)
	}
	return data, nil
}

// NewModule is OpenModule of what ReadModule has read. name stands for the path in messages;
// data is changed.
func NewModule(data []byte, name string) (*Image, error) {
	a, err := checkModule(data)
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", name, err)
	}
	img := &Image{name: name, data: data, arch: a}
	if err := img.read(img.loadModule); err != nil {
		return nil, fmt.Errorf("module %s: %w", name, err)
	}
	return img, nil
}

// loadModule links a module and finds its segments.
func (img *Image) loadModule() error {
	shared := img.elf.Type == elf.ET_DYN
	switch described := img.elf.Section(metadata) != nil; {
	case shared && !described:
		return fmt.Errorf("%w but a linked file", ErrNotModule)
	case !described && img.elf.Section(".gnu.linkonce.this_module") == nil:
		return fmt.Errorf("%w: it has neither section .gnu.linkonce.this_module nor %s", ErrNotModule, metadata)
	}
	img.module = moduleName(img)
	if shared {
		return img.load()
	}
	if err := img.link(); err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	img.segments = img.loadSections()
	return nil
}

// metadata is the section in which a module of a kernel with a linker of its own says what it is.
const metadata = "set_modmetadata_set"

// checkModule is checkHeader for a relocatable file or a shared object.
func checkModule(data []byte) (*arch.Arch, error) {
	if len(data) >= headerSize {
		switch elf.Type(binary.LittleEndian.Uint16(data[16:])) {
		case elf.ET_REL, elf.ET_DYN:
			return checkObject(data)
		}
	}
	if _, err := checkHeader(data); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w but a linked file", ErrNotModule)
}

// moduleName is what the loader calls a module, or would, by its file's name.
func moduleName(img *Image) string {
	info, _, _ := img.Section(".modinfo")
	for field := range bytes.SplitSeq(info, []byte{0}) {
		if name, ok := bytes.CutPrefix(field, []byte("name=")); ok && len(name) > 0 {
			return string(name)
		}
	}
	name, _, _ := strings.Cut(filepath.Base(img.name), ".")
	return strings.ReplaceAll(name, "-", "_")
}

// Module is the name of the module that the image is, "" for the kernel proper.
func (img *Image) Module() string { return img.module }

// VersionMagic says of a module which kernels it is for: their release and some of their
// options. It is "" where it says nothing.
func (img *Image) VersionMagic() string {
	info, _, _ := img.Section(".modinfo")
	for field := range bytes.SplitSeq(info, []byte{0}) {
		if magic, ok := bytes.CutPrefix(field, []byte("vermagic=")); ok {
			return strings.TrimSpace(string(magic))
		}
	}
	return ""
}

// SetPlaces sets where the guest has loaded a module: the addresses of its sections, by
// name. Sections that are not named are not there. Symtab and Text follow at once.
func (img *Image) SetPlaces(at map[string]uint64) {
	img.places = []Place{}
	seen := map[string]bool{}
	for _, s := range img.elf.Sections {
		if addr, ok := at[s.Name]; ok && loaded(s) && !seen[s.Name] {
			seen[s.Name] = true
			img.places = append(img.places, Place{Link: s.Addr, Addr: addr, Size: s.Size})
		}
	}
	img.moves++
}

// SetBase sets where the guest has loaded a module that is a shared object: what is added to its
// link-time addresses. Symtab and Text follow at once.
func (img *Image) SetBase(base uint64) {
	img.places = []Place{}
	for _, s := range img.segments {
		img.places = append(img.places, Place{Link: s.Vaddr, Addr: base + s.Vaddr, Size: s.Memsz})
	}
	img.moves++
}

// HasSizes reports whether the loaded sections of a module have these sizes, by name. Those that are not
// named do not count.
func (img *Image) HasSizes(sizes map[string]uint64) bool {
	for name, size := range sizes {
		if s := img.elf.Section(name); s == nil || s.Size != size {
			return false
		}
	}
	return len(sizes) > 0
}

// DropInit takes away, and gives, the places of what a module has only for its
// initialization: the guest has freed it, or is about to.
func (img *Image) DropInit() (gone []Place) {
	var kept []Place
	for _, p := range img.places {
		if s := img.sectionAt(p.Link); s != nil && strings.HasPrefix(s.Name, ".init") {
			gone = append(gone, p)
		} else {
			kept = append(kept, p)
		}
	}
	img.places = append([]Place{}, kept...)
	img.moves++
	return gone
}

// sectionAt is the loaded section of a module that begins at a link-time address.
func (img *Image) sectionAt(link uint64) *elf.Section {
	for _, s := range img.elf.Sections {
		if loaded(s) && s.Addr == link {
			return s
		}
	}
	return nil
}

// StaticProbes are the sites of the static probes that are compiled into the image: of a
// kernel at the addresses where it runs, of a module at link-time addresses. There are none if
// it was linked without relocations.
func (img *Image) StaticProbes() (sites []callsite.Site, err error) {
	defer Recover(&err)
	if !callsite.Linked(img.elf) || !callsite.Named(img.names()) {
		return nil, nil // as most kernels: they are spared the reading of all symbols and relocations
	}
	if sites, err = callsite.Find(img.elf); err != nil {
		return nil, fmt.Errorf("kernel image %s: %w", img.name, err)
	}
	for i := range sites {
		if sites[i].Addr += img.slide; img.module != "" {
			sites[i].Addr += img.elf.Sections[sites[i].Section].Addr
		}
	}
	return sites, nil
}

// names is the string table of the symbols, empty if there is none.
func (img *Image) names() []byte {
	symbols := img.elf.SectionByType(elf.SHT_SYMTAB)
	if symbols == nil || int(symbols.Link) >= len(img.elf.Sections) {
		return nil
	}
	return img.bytes(img.elf.Sections[symbols.Link])
}

// External is the symbol of elsewhere for which an address stands in the text of a module's file,
// which is not where the guest has it.
func (img *Image) External(link uint64) (name string, ok bool) {
	name, ok = img.external[link]
	return name, ok
}

// Places are those of SetPlaces.
func (img *Image) Places() []Place { return img.places }

// Run is the address in the running kernel of a link-time address; it is not ok where
// that has not been loaded.
func (img *Image) Run(link uint64) (addr uint64, ok bool) {
	if img.places == nil {
		return link + img.slide, true
	}
	for _, p := range img.places {
		if link-p.Link < p.Size {
			return p.Addr + (link - p.Link), true
		}
	}
	return 0, false
}

// Link is the link-time address of an address in the running kernel; it is not ok where
// no piece of a module is.
func (img *Image) Link(addr uint64) (link uint64, ok bool) {
	if img.places == nil {
		return addr - img.slide, true
	}
	return LinkOf(img.places, addr)
}

// LinkOf is the link-time address of an address in one of the places.
func LinkOf(places []Place, addr uint64) (link uint64, ok bool) {
	for _, p := range places {
		if addr-p.Addr < p.Size {
			return p.Link + (addr - p.Addr), true
		}
	}
	return 0, false
}

// loaded reports whether a module's loader keeps a copy of a section. Each CPU has its own of
// the per-CPU section, elsewhere.
func loaded(s *elf.Section) bool {
	return s.Flags&elf.SHF_ALLOC != 0 && s.Size > 0 && s.Name != ".data..percpu"
}

// loadSections are the loaded sections as segments.
func (img *Image) loadSections() []Segment {
	var segs []Segment
	for _, s := range img.elf.Sections {
		if loaded(s) {
			segs = append(segs, Segment{Vaddr: s.Addr, Paddr: s.Addr, Memsz: s.Size, Data: img.bytes(s)})
		}
	}
	return segs
}
