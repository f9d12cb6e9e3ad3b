package boot

import "encoding/binary"

// Offsets in the zero page, and from hdrSetupSects on also in the first sectors of a bzImage
// (Linux, Documentation/arch/x86/boot.rst, "Details of header fields", and zero-page.rst).
const (
	zpRSDP        = 0x070 // 8 bytes: address of ACPI's first table, or 0
	zpE820Entries = 0x1e8 // 1 byte
	zpE820Table   = 0x2d0 // 20 bytes each: address, size, type

	hdrSetupSects    = 0x1f1 // 1: sectors of 512 bytes before the kernel, less one
	hdrRootFlags     = 0x1f2 // 2: mount the root read-only
	hdrSysSize       = 0x1f4 // 4: the kernel in units of 16 bytes
	hdrBootFlag      = 0x1fe // 2: 0xaa55
	hdrJump          = 0x200 // 2: a jump over the header, whose target is its end
	hdrMagic         = 0x202 // 4: "HdrS"
	hdrVersion       = 0x206 // 2
	hdrLoader        = 0x210 // 1: type of the boot loader
	hdrLoadFlags     = 0x211 // 1
	hdrCode32        = 0x214 // 4: where the kernel is loaded
	hdrRamdiskImage  = 0x218 // 4
	hdrRamdiskSize   = 0x21c // 4
	hdrCmdLine       = 0x228 // 4
	hdrInitrdMax     = 0x22c // 4: last address of an initrd
	hdrAlignment     = 0x230 // 4: of a relocatable kernel
	hdrRelocatable   = 0x234 // 1
	hdrMinAlignment  = 0x235 // 1: as a power of two
	hdrXLoadFlags    = 0x236 // 2
	hdrCmdLineSize   = 0x238 // 4: without its NUL
	hdrPrefAddress   = 0x258 // 8: where the kernel is best loaded
	hdrInitSize      = 0x260 // 4: bytes it needs there to start
	hdrEnd           = 0x290 // the largest header ends here
	hdrEndSynthetic  = 0x268 // the one that we make ends here
	versionSynthetic = 0x20f

	loadedHigh   = 1 << 0 // in hdrLoadFlags
	kernel64     = 1 << 0 // in hdrXLoadFlags: there is a 64-bit entry
	loaderOther  = 0xff   // in hdrLoader: no number has been assigned
	alignmentLog = 21     // 2 MiB

	// The limits of x86 kernels that do not say theirs: vmlinux has no header.
	defaultInitrdMax = 0x7fffffff
	defaultCmdLine   = 2047
)

// Types of memory in the map.
const (
	e820RAM      = 1
	e820Reserved = 2
)

// A zeroPage is Linux's struct boot_params, as long as it is here: bytes at offsets.
type zeroPage []byte

func newZeroPage() zeroPage { return make(zeroPage, pageSize) }

func (z zeroPage) u16(offset int) uint16      { return binary.LittleEndian.Uint16(z[offset:]) }
func (z zeroPage) u32(offset int) uint32      { return binary.LittleEndian.Uint32(z[offset:]) }
func (z zeroPage) u64(offset int) uint64      { return binary.LittleEndian.Uint64(z[offset:]) }
func (z zeroPage) put16(offset int, v uint16) { binary.LittleEndian.PutUint16(z[offset:], v) }
func (z zeroPage) put32(offset int, v uint32) { binary.LittleEndian.PutUint32(z[offset:], v) }
func (z zeroPage) put64(offset int, v uint64) { binary.LittleEndian.PutUint64(z[offset:], v) }

// newHeader makes the header that a bzImage would have, for a kernel that has none.
func newHeader(needs Range) zeroPage {
	z := newZeroPage()
	z.put16(hdrRootFlags, 1)
	z.put16(hdrBootFlag, 0xaa55)
	z[hdrJump], z[hdrJump+1] = 0xeb, hdrEndSynthetic-hdrMagic
	copy(z[hdrMagic:], "HdrS")
	z.put16(hdrVersion, versionSynthetic)
	z[hdrLoadFlags] = loadedHigh
	z.put32(hdrCode32, uint32(needs.Base))
	z.put32(hdrInitrdMax, defaultInitrdMax)
	z.put32(hdrAlignment, 1<<alignmentLog)
	z[hdrMinAlignment] = alignmentLog
	z.put16(hdrXLoadFlags, kernel64)
	z.put32(hdrCmdLineSize, defaultCmdLine)
	z.put64(hdrPrefAddress, needs.Base)
	z.put32(hdrInitSize, uint32(needs.Size))
	return z
}

// writeZeroPage completes the header and puts zero page and command line in RAM.
func (k *kernel) writeZeroPage(c Config, initrd Range) {
	z := zeroPage(c.RAM[zeroPageAt : zeroPageAt+pageSize])
	copy(z, k.header)
	z[hdrLoader] = loaderOther
	z.put32(hdrCmdLine, cmdLineAt)
	z.put32(hdrRamdiskImage, uint32(initrd.Base))
	z.put32(hdrRamdiskSize, uint32(initrd.Size))
	entries := memoryMap(uint64(len(c.RAM)))
	z[zpE820Entries] = uint8(len(entries))
	copy(z[zpE820Table:], e820Bytes(entries))
	if c.hasACPI() {
		z.put64(zpRSDP, acpiAt)
	}
	clear(c.RAM[cmdLineAt:cmdLineEnd])
	copy(c.RAM[cmdLineAt:], c.CommandLine)
}

// e820 is an entry of the memory map, named for the BIOS call that returns it.
type e820 struct {
	base, size uint64
	kind       uint32
}

// memoryMap is the map of a machine with that much RAM.
func memoryMap(ram uint64) []e820 {
	return []e820{{0, lowEnd, e820RAM}, {lowEnd, highStart - lowEnd, e820Reserved}, {highStart, ram - highStart, e820RAM}}
}

// e820Bytes are the entries as the BIOS returns them, 20 bytes each.
func e820Bytes(entries []e820) (b []byte) {
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint64(b, e.base)
		b = binary.LittleEndian.AppendUint64(b, e.size)
		b = binary.LittleEndian.AppendUint32(b, e.kind)
	}
	return b
}
