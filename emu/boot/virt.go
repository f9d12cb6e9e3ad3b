package boot

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/u-root/u-root/pkg/dt"
)

// A VirtMachine is a machine that is described to its kernel by a device tree, as far as
// booting has to know it.
type VirtMachine struct {
	ELF    elf.Machine // of its kernels
	Base   uint64      // physical address of RAM
	Offset uint64      // from there to the kernel, where the kernel's file does not say
	// AtText is where kernels of loader(8) are entered without it: at the start of their text.
	AtText bool
	// Tree is the root of the device tree, for the given RAM. Virt adds the chosen node.
	Tree func(ram Range) *dt.Node
}

// Virt places c.Kernel, a Linux Image or an ELF file, and its device tree in c.RAM, which
// begins at v.Base:
//
//	RAM: | ... kernel ... | free | device tree | initrd |
//
// An ELF kernel goes to the physical addresses that it names if those are RAM, otherwise to
// where an Image would go. On error RAM is in an undefined state.
func Virt(c Config, v VirtMachine) (*Placed, error) {
	k, err := v.parse(c)
	if err != nil {
		return nil, err
	}
	ram := Range{v.Base, uint64(len(c.RAM))}
	initrd, tree, err := placeAtTop(c, ram, k.needs)
	if err != nil {
		return nil, err
	}
	blob, err := v.tree(c, ram, initrd)
	if err != nil {
		return nil, err
	}
	if uint64(len(blob)) > TreeRoom {
		return nil, fmt.Errorf("the device tree of %d bytes is too long: the limit is %d", len(blob), TreeRoom)
	}
	tree.Size = uint64(len(blob))
	for _, l := range k.loads {
		l.phys -= v.Base
		if err := l.into(c.RAM, c.Kernel); err != nil {
			return nil, fmt.Errorf("loading the kernel: %w", err)
		}
	}
	copy(c.RAM[tree.Base-v.Base:], blob)
	copy(c.RAM[initrd.Base-v.Base:], c.Initrd)
	if initrd.Size == 0 {
		initrd = Range{}
	}
	if _, moves := wantsKASLR(c.CommandLine); moves {
		k.image = nil // it does not stay where it was linked
	}
	return &Placed{Kind: k.kind, PC: k.entry, Tree: tree, Kernel: k.needs, Initrd: initrd, Image: k.image}, nil
}

// TreeRoom is how much memory the device tree has at least, in bytes. What comes before the kernel may
// use what the tree leaves.
const TreeRoom = 64 << 10

const (
	maxVirtCmdLine = 2047 // arm64's; a kernel that takes less says so itself
)

// placeAtTop finds room for initrd and device tree. The tree lies in one page of 64 KiB, so
// that any kernel can map it in one piece.
func placeAtTop(c Config, ram, kernel Range) (initrd, tree Range, err error) {
	size := uint64(len(c.Initrd))
	free := ram.End() - kernel.End()
	if kernel.Base < ram.Base || kernel.End() < kernel.Base {
		return initrd, tree, fmt.Errorf("the kernel has segments too far from each other, from %#x on", kernel.Base)
	}
	if kernel.End() > ram.End() {
		return initrd, tree, fmt.Errorf("the kernel does not fit in %d MiB of RAM: it needs %d MiB", mib(ram.Size), mib(kernel.End()-ram.Base))
	}
	if size > free || free-size < 2*TreeRoom+pageSize {
		return initrd, tree, fmt.Errorf("the initrd of %d MiB does not fit in %d MiB of RAM: the kernel takes the first %d MiB",
			mib(size), mib(ram.Size), mib(kernel.End()-ram.Base))
	}
	initrd = Range{(ram.End() - size) &^ (pageSize - 1), size}
	return initrd, Range{Base: (initrd.Base - TreeRoom) &^ (TreeRoom - 1)}, nil
}

func (v VirtMachine) parse(c Config) (*kernel, error) {
	switch {
	case len(c.CommandLine) > maxVirtCmdLine:
		return nil, fmt.Errorf("the kernel command line of %d bytes is too long: the limit is %d", len(c.CommandLine), maxVirtCmdLine)
	case strings.ContainsRune(c.CommandLine, 0):
		return nil, errors.New("the kernel command line has a NUL byte in it")
	}
	kind, err := Identify(c.Kernel)
	if err != nil {
		return nil, err
	}
	switch kind {
	case ELF:
		return v.parseELF(c)
	case RawImage:
		return v.parseImage(c.Kernel)
	}
	return nil, fmt.Errorf("the kernel is for the wrong machine: a %s, want one for %s", kind, v.ELF)
}

// Offsets in the header of a Linux Image (Linux, Documentation/arm64/booting.rst and
// riscv/boot-image-header.rst). The architectures differ in the magic number alone.
const (
	imageTextOffset = 0x08
	imageSize       = 0x10
	imageMagic      = 0x38
)

var imageMagics = map[elf.Machine]string{
	elf.EM_AARCH64: "ARM\x64",
	elf.EM_RISCV:   "RSC\x05",
}

func (v VirtMachine) parseImage(file File) (*kernel, error) {
	head := make([]byte, 0x40)
	if err := readAt(file, head, 0); err != nil {
		return nil, fmt.Errorf("reading the kernel's header: %w", err)
	}
	if !bytes.HasPrefix(head[imageMagic:], []byte(imageMagics[v.ELF])) {
		return nil, fmt.Errorf("the kernel is for the wrong machine: its Image is not one for %s", v.ELF)
	}
	offset, size := binary.LittleEndian.Uint64(head[imageTextOffset:]), binary.LittleEndian.Uint64(head[imageSize:])
	if size == 0 {
		return nil, errors.New("the kernel's Image does not say how much memory it needs: it is too old")
	}
	have := uint64(file.Size())
	if size > maxRAM || offset > maxRAM || have > size {
		return nil, errors.New("the header of the kernel's Image is damaged")
	}
	at := v.Base + offset
	return &kernel{
		kind:  RawImage,
		entry: at,
		needs: Range{at, size},
		loads: []load{{at, 0, have, size}},
	}, nil
}

func (v VirtMachine) parseELF(c Config) (*kernel, error) {
	f, err := openELF(c.Kernel, v.ELF)
	if err != nil {
		return nil, err
	}
	segments, err := segmentsOf(f, c.Kernel.Size())
	if err != nil {
		return nil, err
	}
	if r := extent(segments); r.Base < v.Base || r.End() > v.Base+uint64(len(c.RAM)) {
		v.relocate(segments)
	}
	at := f.Entry
	if r := image(segments); v.AtText && r != nil && wantsLoader(f) {
		at = r.Virt
	}
	entry, err := physical(at, segments)
	if err != nil {
		return nil, err
	}
	return &kernel{kind: ELF, entry: entry, needs: extent(segments), loads: loads(segments), image: image(segments)}, nil
}

// relocate gives segments the physical addresses of an Image: as far from each other as
// their virtual ones.
func (v VirtMachine) relocate(segments []elf.ProgHeader) {
	first := segments[0].Vaddr
	for _, s := range segments {
		first = min(first, s.Vaddr)
	}
	for i := range segments {
		segments[i].Paddr = v.Base + v.Offset + segments[i].Vaddr - first
	}
}

// seed is n bytes of randomness for the guest, the same in every run.
func seed(what string, n int) []byte {
	var b []byte
	for i := 0; len(b) < n; i++ {
		h := sha256.Sum256(fmt.Appendf(nil, "trapline %s %d", what, i))
		b = append(b, h[:]...)
	}
	return b[:n]
}

// wantsKASLR reports whether the command line has the word kaslr, and returns it without the
// nokaslr before: the last word counts.
func wantsKASLR(line string) (string, bool) {
	words := strings.Fields(line)
	at := slices.Index(words, "kaslr")
	if at < 0 || slices.Contains(words[at:], "nokaslr") {
		return line, false
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "nokaslr" })
	return strings.Join(words, " "), true
}

// tree is the flattened device tree. The kernel's seed for its random numbers is always
// there, since it would wait for it otherwise; that for its own address (KASLR) only if it
// is asked for.
func (v VirtMachine) tree(c Config, ram, initrd Range) ([]byte, error) {
	line, kaslr := wantsKASLR(c.CommandLine)
	chosen := dt.NewNode("chosen", dt.WithProperty(
		dt.PropertyString("bootargs", line),
		dt.Property{Name: "rng-seed", Value: seed("rng-seed", 64)},
	))
	if initrd.Size > 0 {
		chosen.Properties = append(chosen.Properties,
			dt.PropertyU64("linux,initrd-start", initrd.Base), dt.PropertyU64("linux,initrd-end", initrd.End()))
	}
	if kaslr {
		chosen.Properties = append(chosen.Properties, dt.Property{Name: "kaslr-seed", Value: seed("kaslr-seed", 8)})
	}
	root := v.Tree(ram)
	root.Children = append([]*dt.Node{chosen}, root.Children...)
	tree := dt.FDT{
		Header:   dt.Header{Magic: dt.Magic, Version: 17, LastCompVersion: 16},
		RootNode: root,
	}
	var blob bytes.Buffer
	if _, err := tree.Write(&blob); err != nil {
		return nil, fmt.Errorf("making the device tree: %w", err)
	}
	return blob.Bytes(), nil
}
