// Package boot places a kernel in the memory of a machine, as a boot loader does.
//
//	kernel file --Identify--> ELF, bzImage, Image --parse--> what it needs
//	    + RAM, command line, initrd --place--> RAM filled, and the state in which
//	                                           the CPU enters the kernel (Placed)
//
// It works on a slice of bytes and knows neither the emulator nor what the kernel is:
// Linux and a teaching kernel that follows Linux's boot protocol are the same to it.
package boot

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
)

// A File is a kernel file: *bytes.Reader, *io.SectionReader and the like.
type File interface {
	io.ReaderAt
	Size() int64
}

// Config is what a machine is to boot.
type Config struct {
	Kernel      File
	CommandLine string
	Initrd      []byte // nil for none
	// RAM is the guest's memory from its first physical address on, all zero as in a machine
	// that has just been switched on.
	RAM []byte
	// CPUs is how many CPUs an amd64 machine has, 0 for one; the others have a device tree.
	CPUs int
	// IOAPIC says that an amd64 machine has an I/O APIC and local APICs, also with one CPU.
	IOAPIC bool
}

// hasACPI reports whether an amd64 machine is described by tables.
func (c Config) hasACPI() bool { return c.CPUs > 1 || c.IOAPIC }

// Placed says what has been put where.
type Placed struct {
	Kind   Kind
	Entry  Entry  // of amd64
	PC     uint64 // elsewhere: physical address of the entry
	Tree   Range  // elsewhere: the device tree
	Kernel Range  // memory that the kernel needs before it looks at the memory map
	Initrd Range  // empty without one
	Image  *Image // where the kernel runs; nil when it decides for itself (bzImage)
}

// A Range is a range of physical memory.
type Range struct {
	Base, Size uint64 // bytes
}

// End is the first address after the range.
func (r Range) End() uint64 { return r.Base + r.Size }

// An Image is a kernel at the addresses it was linked for: the Size bytes of physical
// memory at Phys are seen at Virt.
type Image struct {
	Virt, Phys, Size uint64
}

// A Kind is a format of kernel files.
type Kind uint8

// The kinds of files that can be booted.
const (
	ELF      Kind = iota + 1 // an uncompressed kernel: vmlinux
	BzImage                  // Linux/x86's compressed kernel: vmlinuz
	RawImage                 // arm64 and riscv64: an Image with the header of Linux's, which others have as well
)

func (k Kind) String() string {
	switch k {
	case ELF:
		return "ELF"
	case BzImage:
		return "bzImage"
	case RawImage:
		return "Image"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// errTruncated is wrapped by errors about files that end too early.
var errTruncated = errors.New("the file is truncated")

// Identify returns what kind of kernel file is. It looks at magic numbers alone; the error
// says what the file is not, and what it is if that is known.
func Identify(file File) (Kind, error) {
	head := make([]byte, min(max(file.Size(), 0), 0x400))
	if err := readAt(file, head, 0); err != nil {
		return 0, fmt.Errorf("reading the kernel file: %w", err)
	}
	switch {
	case len(head) == 0:
		return 0, errors.New("not a kernel: the file is empty")
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return ELF, nil
	case has(head, hdrMagic, "HdrS") && has(head, hdrBootFlag, "\x55\xaa"):
		return BzImage, nil
	case has(head, imageMagic, imageMagics[elf.EM_AARCH64]), has(head, imageMagic, imageMagics[elf.EM_RISCV]):
		return RawImage, nil
	}
	for _, o := range others {
		if has(head, o.offset, o.magic) {
			return 0, fmt.Errorf("not a kernel that can be booted: this is %s", o.name)
		}
	}
	return 0, errors.New("not a kernel: neither an ELF file nor a Linux bzImage or Image")
}

// Machine is the architecture that a kernel without symbols is for, of kind BzImage or
// RawImage.
func Machine(file File) (elf.Machine, error) {
	head := make([]byte, imageMagic+4)
	if err := readAt(file, head, 0); err != nil {
		return 0, fmt.Errorf("reading the kernel file: %w", err)
	}
	for machine, magic := range imageMagics {
		if has(head, imageMagic, magic) {
			return machine, nil
		}
	}
	return elf.EM_X86_64, nil
}

// others are files that people take for a kernel.
var others = []struct {
	offset      int
	magic, name string
}{
	{0, "\x1f\x8b", "a gzip file"},
	{0, "\xfd7zXZ\x00", "an xz file"},
	{0, "\x28\xb5\x2f\xfd", "a zstd file"},
	{0, "BZh", "a bzip2 file"},
	{0, "070701", "an initramfs (cpio)"},
	{0, "!<arch>\n", "an archive (a Debian package?)"},
}

func has(b []byte, offset int, magic string) bool {
	return len(b) >= offset && bytes.HasPrefix(b[offset:], []byte(magic))
}

// readAt fills p from offset.
func readAt(file io.ReaderAt, p []byte, offset int64) error {
	n, err := file.ReadAt(p, offset)
	switch {
	case n == len(p):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return errTruncated
	default:
		return err
	}
}

// mib is n bytes in MiB, rounded up.
func mib(n uint64) uint64 { return (n + 1<<20 - 1) >> 20 }
