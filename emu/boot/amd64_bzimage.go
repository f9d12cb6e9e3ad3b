package boot

import (
	"errors"
	"fmt"
)

// parseBzImage reads the header of a bzImage:
//
//	boot sector and setup code, with the header | compressed kernel | signature
//	(setup_sects + 1) * 512 bytes               | syssize * 16 bytes
//
// The compressed kernel has its 64-bit entry at 0x200. It is loaded where it wants to
// unpack itself (pref_address) and moves out of the way first; init_size covers both. If
// it wants a random place instead, it finds one by the memory map.
func parseBzImage(file File) (*kernel, error) {
	head := make([]byte, hdrEnd)
	if err := readAt(file, head, 0); err != nil {
		return nil, fmt.Errorf("reading the bzImage header: %w", err)
	}
	z := newZeroPage()
	copy(z[hdrSetupSects:min(hdrMagic+int(head[hdrJump+1]), hdrEnd)], head[hdrSetupSects:])
	if v := z.u16(hdrVersion); v < 0x20c {
		return nil, fmt.Errorf("the bzImage has no 64-bit entry: its boot protocol is %d.%d, want 2.12", v>>8, v&0xff)
	}
	if z.u16(hdrXLoadFlags)&kernel64 == 0 || z[hdrLoadFlags]&loadedHigh == 0 {
		return nil, errors.New("the bzImage has no 64-bit entry: a 32-bit kernel")
	}
	return z.bzImage(file)
}

// bzImage is parseBzImage for a header that has been found good.
func (z zeroPage) bzImage(file File) (*kernel, error) {
	l := load{phys: highStart, offset: z.setupSize(), size: uint64(z.u32(hdrSysSize)) * 16}
	if l.offset+int64(l.size) > file.Size() {
		return nil, fmt.Errorf("reading the bzImage: %w: %d bytes, want %d", errTruncated, file.Size(), l.offset+int64(l.size))
	}
	final := Range{z.u64(hdrPrefAddress), uint64(z.u32(hdrInitSize))}
	if l.size < 0x200 || final.Base < highStart || final.Base >= maxRAM {
		return nil, errors.New("the bzImage header is damaged")
	}
	if z[hdrRelocatable] != 0 {
		l.phys = final.Base
	}
	l.memory = l.size
	end := max(final.End(), l.phys+l.size)
	z.put32(hdrCode32, uint32(l.phys))
	return &kernel{
		kind:    BzImage,
		entry:   l.phys + 0x200,
		needs:   Range{l.phys, end - l.phys},
		loads:   []load{l},
		header:  z,
		cmdLine: int(min(z.u32(hdrCmdLineSize), cmdLineEnd-cmdLineAt-1)),
		initrd:  uint64(z.u32(hdrInitrdMax)),
	}, nil
}

// setupSize is the offset of the kernel in the file.
func (z zeroPage) setupSize() int64 {
	sectors := int64(z[hdrSetupSects])
	if sectors == 0 {
		sectors = 4 // boot.rst: for compatibility
	}
	return (sectors + 1) * 512
}
