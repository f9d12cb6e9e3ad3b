package boot

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
)

// parseELF reads an ELF kernel. Its segments are loaded at their physical addresses, and
// it is entered at the physical address of its entry point.
func parseELF(file File) (*kernel, error) {
	f, err := openELF(file, elf.EM_X86_64)
	if err != nil {
		return nil, err
	}
	segments, err := loadable(f, file.Size())
	if err != nil {
		return nil, err
	}
	entry, err := physical(f.Entry, segments)
	if err != nil {
		return nil, err
	}
	needs := extent(segments)
	if wantsLoader(f) {
		l, err := parseLoaded(f, file)
		if err != nil {
			return nil, err
		}
		return &kernel{kind: ELF, needs: needs, loads: loads(segments), image: image(segments), cmdLine: loaderCmdLine, loader: l}, nil
	}
	return &kernel{
		kind:    ELF,
		entry:   entry,
		needs:   needs,
		loads:   loads(segments),
		image:   image(segments),
		header:  newHeader(needs),
		cmdLine: defaultCmdLine,
		initrd:  defaultInitrdMax,
	}, nil
}

// openELF reads the headers of an ELF kernel for a machine. Linux's for arm64 is linked as
// a shared object, because it can be moved.
func openELF(file File, machine elf.Machine) (*elf.File, error) {
	f, err := elf.NewFile(file)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errTruncated
	}
	if err != nil {
		return nil, fmt.Errorf("reading the ELF headers of the kernel: %w", err)
	}
	switch {
	case f.Machine != machine:
		return nil, fmt.Errorf("the kernel is for the wrong machine: %s, want %s", f.Machine, machine)
	case f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB:
		return nil, fmt.Errorf("the kernel has no 64-bit entry: its ELF file is %s, %s", f.Class, f.Data)
	case f.Type != elf.ET_EXEC && !(f.Type == elf.ET_DYN && machine != elf.EM_X86_64):
		return nil, fmt.Errorf("not a kernel: its ELF file is %s, want %s", f.Type, elf.ET_EXEC)
	}
	return f, nil
}

// loadable lists the segments of an amd64 kernel that take memory and checks that they can.
func loadable(f *elf.File, size int64) ([]elf.ProgHeader, error) {
	segments, err := segmentsOf(f, size)
	if err != nil {
		return nil, err
	}
	for _, p := range segments {
		switch {
		case p.Paddr < highStart:
			return nil, fmt.Errorf("the kernel has a segment at %#x, below %d MiB, where the boot loader's tables are", p.Paddr, mib(highStart))
		case p.Paddr >= maxRAM || p.Memsz > maxRAM:
			return nil, fmt.Errorf("the kernel has a segment of %d MiB at %#x, beyond %d MiB", mib(p.Memsz), p.Paddr, mib(maxRAM))
		}
	}
	return segments, nil
}

// segmentsOf lists the segments that take memory and checks that the file has them.
func segmentsOf(f *elf.File, size int64) ([]elf.ProgHeader, error) {
	var segments []elf.ProgHeader
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Memsz == 0 {
			continue
		}
		switch {
		case p.Filesz > p.Memsz:
			return nil, fmt.Errorf("the ELF file is damaged: the segment at %#x has more bytes in the file than in memory", p.Paddr)
		case p.Off > uint64(size) || p.Filesz > uint64(size)-p.Off:
			return nil, fmt.Errorf("reading the kernel's segment at %#x: %w", p.Paddr, errTruncated)
		case p.Memsz > maxRAM:
			return nil, fmt.Errorf("the kernel has a segment of %d MiB at %#x, beyond %d MiB", mib(p.Memsz), p.Paddr, mib(maxRAM))
		}
		segments = append(segments, p.ProgHeader)
	}
	if len(segments) == 0 {
		return nil, errors.New("not a kernel: the ELF file has nothing to load")
	}
	return segments, nil
}

func loads(segments []elf.ProgHeader) []load {
	var l []load
	for _, s := range segments {
		l = append(l, load{s.Paddr, int64(s.Off), s.Filesz, s.Memsz})
	}
	return l
}

// extent is the range from the first byte of all segments to the last.
func extent(segments []elf.ProgHeader) Range {
	first, end := segments[0].Paddr, uint64(0)
	for _, s := range segments {
		first, end = min(first, s.Paddr), max(end, s.Paddr+s.Memsz)
	}
	return Range{first, end - first}
}

// physical is the physical address of the entry point. Some linkers give that, others
// the virtual one.
func physical(entry uint64, segments []elf.ProgHeader) (uint64, error) {
	for _, s := range segments {
		if entry-s.Paddr < s.Memsz {
			return entry, nil
		}
	}
	for _, s := range segments {
		if entry-s.Vaddr < s.Memsz {
			return entry - s.Vaddr + s.Paddr, nil
		}
	}
	return 0, fmt.Errorf("the kernel's entry point %#x is outside its segments", entry)
}

// image finds where the kernel runs: the segments that are as far from their physical
// addresses as its largest executable one is. A start-up segment at its physical address
// or per-CPU data at virtual address 0 do not count.
func image(segments []elf.ProgHeader) *Image {
	var text *elf.ProgHeader
	for i, s := range segments {
		if s.Flags&elf.PF_X != 0 && (text == nil || s.Memsz > text.Memsz) {
			text = &segments[i]
		}
	}
	if text == nil {
		return nil
	}
	distance := text.Vaddr - text.Paddr
	var alike []elf.ProgHeader
	for _, s := range segments {
		if s.Vaddr-s.Paddr == distance {
			alike = append(alike, s)
		}
	}
	r := extent(alike)
	return &Image{Virt: r.Base + distance, Phys: r.Base, Size: r.Size}
}
