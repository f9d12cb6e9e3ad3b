package kernel

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"trapline/kernel/arch"
)

var (
	// ErrNotELF is wrapped by Open and New for a file of another format.
	ErrNotELF = errors.New("not an ELF file")
	// ErrCompressed is wrapped by Open and New for a kernel as it is booted: it can run,
	// but its symbols are elsewhere.
	ErrCompressed = errors.New("this is a compressed kernel (bzImage); symbols come from the vmlinux with --debug-file")

	errTruncated = errors.New("truncated")
)

// Bytes of an ELF64 header, which the offsets below are in, and of a section's.
const headerSize, sectionSize = 64, 64

// checkHeader says in one line what keeps the file from being a kernel that can be
// traced. debug/elf would say less, or read past the end.
func checkHeader(data []byte) (*arch.Arch, error) {
	a, err := checkObject(data)
	if err != nil {
		return nil, err
	}
	switch t := elf.Type(binary.LittleEndian.Uint16(data[16:])); t {
	case elf.ET_EXEC, elf.ET_DYN:
		return a, nil
	case elf.ET_REL:
		return nil, errors.New("a relocatable object (a kernel module?), not a kernel image")
	default:
		return nil, fmt.Errorf("an ELF file of type %s, not a kernel image", t)
	}
}

// checkObject is checkHeader for any type of file.
func checkObject(data []byte) (*arch.Arch, error) {
	if !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return nil, notELF(data)
	}
	if len(data) < headerSize {
		return nil, fmt.Errorf("%w: the file has %d bytes, an ELF header 64", errTruncated, len(data))
	}
	le := binary.LittleEndian
	machine := elf.Machine(le.Uint16(data[18:]))
	switch {
	case elf.Class(data[elf.EI_CLASS]) != elf.ELFCLASS64:
		return nil, errors.New("a 32-bit ELF file; only 64-bit kernels can be traced")
	case elf.Data(data[elf.EI_DATA]) != elf.ELFDATA2LSB:
		return nil, errors.New("a big-endian ELF file; only little-endian kernels can be traced")
	}
	a, err := arch.ForELF(machine)
	if err != nil {
		return nil, err
	}
	return a, checkTables(data)
}

func notELF(data []byte) error {
	const magicAt = 0x202 // of the boot protocol's header
	switch {
	case len(data) == 0:
		return fmt.Errorf("%w: it is empty", ErrNotELF)
	case len(data) >= magicAt+4 && string(data[magicAt:magicAt+4]) == "HdrS":
		return ErrCompressed
	}
	return ErrNotELF
}

// checkTables looks that both header tables lie in the file.
func checkTables(data []byte) error {
	le, size := binary.LittleEndian, uint64(len(data))
	phoff, shoff := le.Uint64(data[32:]), le.Uint64(data[40:])
	phlen := uint64(le.Uint16(data[54:])) * uint64(le.Uint16(data[56:]))
	shlen := uint64(le.Uint16(data[58:])) * uint64(le.Uint16(data[60:]))
	if err := within("program header table", phoff, phlen, size); err != nil {
		return err
	}
	if err := within("section header table", shoff, shlen, size); err != nil {
		return err
	}
	return checkNames(data, shoff)
}

// maxName is more than the bytes of any name of a section or symbol in what is not damaged: a
// longer one would have to be read, or copied, for all that have it, or end as it does.
const maxName = 1 << 12

// checkNames looks that the names of sections are not too long.
func checkNames(data []byte, shoff uint64) error {
	le := binary.LittleEndian
	stride, n, strndx := uint64(le.Uint16(data[58:])), uint64(le.Uint16(data[60:])), uint64(le.Uint16(data[62:]))
	if stride < sectionSize || strndx >= n {
		return nil // debug/elf refuses it, or there are none
	}
	header := func(i uint64) []byte { return data[shoff+i*stride:] }
	off, size := le.Uint64(header(strndx)[24:]), le.Uint64(header(strndx)[32:])
	if off > uint64(len(data)) || size > uint64(len(data))-off {
		return nil
	}
	names := data[off : off+size]
	for i := range n {
		at := min(uint64(le.Uint32(header(i))), size)
		if end := min(at+maxName, size); end-at == maxName && bytes.IndexByte(names[at:end], 0) < 0 {
			return fmt.Errorf("damaged: the name of section %d has more than %d bytes", i, maxName)
		}
	}
	return nil
}

// checkExtents looks that every section and segment lies in the file.
func checkExtents(f *elf.File, size uint64) error {
	for _, s := range f.Sections {
		if s.Type == elf.SHT_NOBITS || s.Type == elf.SHT_NULL {
			continue
		}
		if err := cmp.Or(within("section "+s.Name, s.Offset, s.FileSize, size), checkClaim(s)); err != nil {
			return err
		}
	}
	for i, p := range f.Progs {
		if err := within(fmt.Sprintf("segment %d", i), p.Off, p.Filesz, size); err != nil {
			return err
		}
		if p.Type == elf.PT_LOAD && p.Filesz > p.Memsz {
			return fmt.Errorf("damaged: segment %d is larger in the file than in memory", i)
		}
	}
	return nil
}

func within(what string, off, n, size uint64) error {
	if off > size || n > size-off {
		return fmt.Errorf("%w: the %s ends at byte %d, the file at %d", errTruncated, what, off+n, size)
	}
	return nil
}
