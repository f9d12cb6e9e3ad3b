package guestos

import (
	"encoding/binary"
	"sort"

	"trapline/kernel"
)

// ORC tables say for every instruction of a Linux kernel how to find the frame of its
// caller: .orc_unwind_ip has an address for each entry, relative to itself, in order, and
// .orc_unwind the entries, which hold up to the next address. objtool makes them, so
// that the kernel needs no frame pointers.
//
// An entry has six bytes: the offset to add to a register to get the caller's stack
// pointer, the offset where the caller's frame pointer is kept, and 16 bits of fields.
type orcTable struct {
	base    uint64 // link-time address of ips
	ips     []byte
	entries []byte
	format  orcFormat
}

const orcEntrySize = 6

// orcFormat is what changed in Linux 6.4: "end" was a bit, and became two types, one for
// the end of the stack and one for code that no one can unwind.
type orcFormat struct {
	typeBits uint
	endBit   uint // 0 if there is none
	kinds    []orcKind
	regs     []orcReg
}

// The numbers of the registers changed between Linux 6.12 and 7.2. No type and no symbol tells: see
// [orcTable.number].
var (
	orcRegsOld = []orcReg{orcNone, orcPrevSP, orcDX, orcDI, orcBP, orcSP, orcR10, orcR13, orcBPIndirect, orcSPIndirect}
	orcRegsNew = []orcReg{orcNone, orcUnknown, orcDX, orcSP, orcBP, orcDI, orcR10, orcR13, orcPrevSP, orcSPIndirect, orcBPIndirect}

	orcOld = orcFormat{2, 10, []orcKind{orcCall, orcRegs, orcRegsPartial, orcUndefined}, orcRegsOld}
	orcNew = orcFormat{3, 0, []orcKind{orcUndefined, orcEnd, orcCall, orcRegs, orcRegsPartial}, orcRegsOld}
)

// orcKind says what lies at the caller's stack pointer.
type orcKind uint8

const (
	orcUndefined   orcKind = iota
	orcEnd                 // nothing: this is where the stack begins
	orcCall                // a return address is below it
	orcRegs                // all registers that an exception saved (struct pt_regs)
	orcRegsPartial         // only what the CPU pushed at an exception
)

// orcReg is the register that an offset counts from.
type orcReg uint8

const (
	orcNone   orcReg = iota
	orcPrevSP        // the caller's stack pointer
	orcDX
	orcDI
	orcBP
	orcSP
	orcR10
	orcR13
	orcBPIndirect // what lies at offset(BP)
	orcSPIndirect // what lies at (SP), plus offset
	orcUnknown    // a register that has no number here, or is never used
)

type orcEntry struct {
	kind               orcKind
	spReg, bpReg       orcReg
	spOffset, bpOffset int64
}

// newORC finds the tables of an image; nil if it has none that can be used.
func newORC(img *kernel.Image, format orcFormat) *orcTable {
	ips, base, ok1 := img.Section(".orc_unwind_ip")
	entries, _, ok2 := img.Section(".orc_unwind")
	t := &orcTable{base: base, ips: ips, entries: entries, format: format}
	n := len(ips) / 4
	if !ok1 || !ok2 || n == 0 || len(entries)/orcEntrySize != n {
		return nil
	}
	for i := 1; i < n; i++ {
		if t.ip(i-1) > t.ip(i) {
			return nil // left unsorted by whoever built it
		}
	}
	if !t.number() {
		return nil
	}
	return t
}

// number determines how the table numbers registers. At the first instruction of a function, as in most
// of its leaves, the return address is all that lies on the stack: the commonest rule of any kernel is
// SP plus 8. It reports false if no known numbering has SP there.
func (t *orcTable) number() bool {
	var count [16]int
	most := 0
	for e := t.entries; len(e) >= orcEntrySize; e = e[orcEntrySize:] {
		if int16(binary.LittleEndian.Uint16(e)) != 8 {
			continue
		}
		reg := int(e[4] & 15)
		if count[reg]++; count[reg] > count[most] {
			most = reg
		}
	}
	for _, regs := range [][]orcReg{orcRegsOld, orcRegsNew} {
		if most < len(regs) && regs[most] == orcSP {
			t.format.regs = regs
			return true
		}
	}
	return false
}

// ip is the link-time address from which on entry i holds.
func (t *orcTable) ip(i int) uint64 {
	rel := int32(binary.LittleEndian.Uint32(t.ips[4*i:]))
	return t.base + uint64(4*i) + uint64(int64(rel))
}

// find is the entry for a link-time address: the last that begins at or before it.
func (t *orcTable) find(link uint64) (orcEntry, bool) {
	i := sort.Search(len(t.ips)/4, func(i int) bool { return t.ip(i) > link }) - 1
	if i < 0 {
		return orcEntry{}, false
	}
	return t.format.decode(t.entries[orcEntrySize*i:]), true
}

func (f *orcFormat) decode(b []byte) orcEntry {
	le := binary.LittleEndian
	fields := le.Uint16(b[4:])
	e := orcEntry{
		spOffset: int64(int16(le.Uint16(b))),
		bpOffset: int64(int16(le.Uint16(b[2:]))),
		spReg:    f.reg(fields & 15),
		bpReg:    f.reg(fields >> 4 & 15),
	}
	if k := int(fields >> 8 & (1<<f.typeBits - 1)); k < len(f.kinds) {
		e.kind = f.kinds[k]
	}
	if f.endBit != 0 && fields>>f.endBit&1 != 0 {
		e.kind = orcEnd
	}
	return e
}

func (f *orcFormat) reg(n uint16) orcReg {
	if int(n) < len(f.regs) {
		return f.regs[n]
	}
	return orcUnknown
}

// orcFormatOf is the format of a kernel whose struct orc_entry has the member end, or not.
func orcFormatOf(end bool) orcFormat {
	if end {
		return orcOld
	}
	return orcNew
}
