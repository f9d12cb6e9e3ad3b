package kernel

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"trapline/kernel/arch"
)

// An Image is the ELF file of a kernel or a module. Its methods may be called from several
// goroutines, except SetSlide, SetPlaces and Close, which must be alone.
type Image struct {
	name     string
	data     []byte // the whole file
	mapped   bool
	arch     *arch.Arch
	elf      *elf.File // headers; contents are taken from data
	segments []Segment
	slide    uint64
	joined   map[*elf.Section][]byte // what another file has of sections, see Join

	module   string            // its name, if it is one
	external map[uint64]string // of a module, by link-time address: symbols of elsewhere
	places   []Place           // of a module that has been loaded
	moves    int               // how often places or slide have changed

	symtab func() *Symtab
	ahead  sync.WaitGroup // of Prefetch
}

// A Segment is a part of the image that is loaded into memory.
type Segment struct {
	Vaddr, Paddr uint64 // link-time virtual and physical address
	Memsz        uint64 // bytes in memory; those beyond Data are zero
	Data         []byte // bytes in the file; must not be changed
}

// Open maps the ELF kernel image at path. The image must be closed.
//
// It fails with ErrNotELF, ErrCompressed or one line of what is wrong with the file. A
// stripped image opens; see [Symtab.Err].
func Open(path string) (*Image, error) {
	data, err := mapFile(path)
	if err != nil {
		return nil, fmt.Errorf("opening kernel image: %w", err)
	}
	if Compressed(data) {
		return openCompressed(data, path)
	}
	img, err := parse(data, path)
	if err != nil {
		unmap(data)
		return nil, err
	}
	img.mapped = true
	return img, nil
}

// openCompressed opens what is in a compressed file.
func openCompressed(data []byte, path string) (*Image, error) {
	defer unmap(data)
	plain, err := Decompress(data)
	if err != nil {
		return nil, fmt.Errorf("kernel image %s: %w", path, err)
	}
	return parse(plain, path)
}

// New reads the ELF kernel image of size bytes from r into memory. name stands for its
// path in messages. Errors are those of Open.
func New(r io.ReaderAt, size int64, name string) (*Image, error) {
	data := make([]byte, size)
	if n, err := r.ReadAt(data, 0); n < len(data) {
		return nil, fmt.Errorf("reading kernel image %s: %w", name, err)
	}
	return parse(data, name)
}

func parse(data []byte, name string) (*Image, error) {
	a, err := checkHeader(data)
	if err != nil {
		return nil, fmt.Errorf("kernel image %s: %w", name, err)
	}
	img := &Image{name: name, data: data, arch: a}
	if err := img.read(img.load); err != nil {
		return nil, fmt.Errorf("kernel image %s: %w", name, err)
	}
	return img, nil
}

// read reads the headers, then does the rest.
func (img *Image) read(rest func() error) (err error) {
	defer Recover(&err)
	if img.elf, err = elf.NewFile(bytes.NewReader(img.data)); err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	if err := checkExtents(img.elf, uint64(len(img.data))); err != nil {
		return err
	}
	img.symtab = sync.OnceValue(func() *Symtab { return newSymtab(img) })
	return rest()
}

// load finds the segments.
func (img *Image) load() error {
	for _, p := range img.elf.Progs {
		if p.Type == elf.PT_LOAD && p.Memsz > 0 {
			img.segments = append(img.segments, Segment{
				Vaddr: p.Vaddr, Paddr: p.Paddr, Memsz: p.Memsz,
				Data: img.data[p.Off : p.Off+p.Filesz : p.Off+p.Filesz],
			})
		}
	}
	return nil
}

// Close unmaps the file. Nothing that the image gave out but symbols and strings may be
// used afterwards.
func (img *Image) Close() error {
	img.ahead.Wait()
	data := img.data
	img.data, img.segments, img.joined = nil, nil, nil
	if !img.mapped || data == nil {
		return nil
	}
	return unmap(data)
}

// Arch is the architecture of the image.
func (img *Image) Arch() *arch.Arch { return img.arch }

// Name is the path that the image was opened with.
func (img *Image) Name() string { return img.name }

// Size is the bytes of the file, decompressed if it is a compressed module.
func (img *Image) Size() int { return len(img.data) }

// Entry is the address of the first instruction as the ELF header has it: physical on
// amd64 Linux. It does not slide.
func (img *Image) Entry() uint64 { return img.elf.Entry }

// Segments are what a loader puts into memory, in file order, at link-time addresses.
func (img *Image) Segments() []Segment { return img.segments }

// Section finds the first section of that name: its bytes (none if it has no room in the
// file; they must not be changed) and its link-time address. A compressed one that is
// damaged is not there.
func (img *Image) Section(name string) (data []byte, addr uint64, ok bool) {
	s := img.elf.Section(name)
	if s == nil || img.data == nil {
		return img.oldCompressed(name)
	}
	if s.Flags&elf.SHF_COMPRESSED != 0 {
		data, err := img.decompressed(s)
		return data, s.Addr, err == nil
	}
	return img.bytes(s), s.Addr, true
}

// CodeSections are the executable sections, in file order, at link-time addresses.
func (img *Image) CodeSections() []Segment {
	var code []Segment
	for _, s := range img.elf.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Flags&elf.SHF_ALLOC != 0 {
			code = append(code, Segment{Vaddr: s.Addr, Memsz: s.Size, Data: img.bytes(s)})
		}
	}
	return code
}

// bytes is the section's part of the file, or of the one it was split from, without a copy.
func (img *Image) bytes(s *elf.Section) []byte {
	if s.Type == elf.SHT_NOBITS || s.Type == elf.SHT_NULL || img.data == nil {
		return img.joined[s]
	}
	return img.data[s.Offset : s.Offset+s.FileSize : s.Offset+s.FileSize]
}

// Symtab is the image's symbol table, read at the first call. It is never nil; a
// stripped image has an empty one.
func (img *Image) Symtab() *Symtab { return img.symtab() }

// Prefetch begins to read the symbol table, by name, for a caller that has other things to
// do before it asks for it.
func (img *Image) Prefetch() { img.ahead.Go(func() { img.Symtab().index() }) }

// Slide is how far the running kernel is from its link-time address, 0 until set.
func (img *Image) Slide() uint64 { return img.slide }

// SetSlide sets where the guest's kernel runs: at the link-time address plus delta.
// Symtab and Text follow at once; what they gave before stays as it was.
func (img *Image) SetSlide(delta uint64) {
	img.slide = delta
	img.moves++
}

// Text fills p with the bytes that the file has for the (slid) address addr. Parts of a
// segment that are not in the file read as zero. It fails where no segment is.
func (img *Image) Text(addr uint64, p []byte) error {
	link, ok := img.Link(addr)
	if !ok {
		return fmt.Errorf("reading kernel image %s: nothing at 0x%x", img.name, addr)
	}
	if n := img.copyAll(link, p); n < len(p) {
		return fmt.Errorf("reading kernel image %s: nothing at 0x%x", img.name, addr+uint64(n))
	}
	return nil
}

// TextLink is Text at a link-time address.
func (img *Image) TextLink(link uint64, p []byte) error {
	if n := img.copyAll(link, p); n < len(p) {
		return fmt.Errorf("reading kernel image %s: nothing at the link-time address 0x%x", img.name, link+uint64(n))
	}
	return nil
}

// copyAll copies what segments hold from a link-time address on, up to the first byte that
// none has.
func (img *Image) copyAll(link uint64, p []byte) (n int) {
	for n < len(p) {
		some := img.copyFrom(link+uint64(n), p[n:])
		if some == 0 {
			break
		}
		n += some
	}
	return n
}

// copyFrom copies what one segment holds at a link-time address.
func (img *Image) copyFrom(link uint64, p []byte) int {
	for _, s := range img.segments {
		off := link - s.Vaddr
		if off >= s.Memsz {
			continue
		}
		if off < uint64(len(s.Data)) {
			return copy(p, s.Data[off:])
		}
		n := min(uint64(len(p)), s.Memsz-off)
		clear(p[:n])
		return int(n)
	}
	return 0
}

// mapFile maps a file for reading. An empty file gives no bytes.
func mapFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	if st.Size() == 0 {
		return nil, nil
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", path, err)
	}
	return data, nil
}

func unmap(data []byte) error {
	if data == nil {
		return nil
	}
	return unix.Munmap(data)
}
