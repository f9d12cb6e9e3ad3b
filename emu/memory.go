package emu

import (
	"encoding/binary"

	"trapline/emu/boot"
	"trapline/kernel/arch"
)

// Boot is a kernel and what goes with it.
type Boot struct {
	Kernel      boot.File
	CommandLine string
	Initrd      []byte // nil for none
}

// Placed tells what Boot has put where.
type Placed = boot.Placed

// textMap is where the kernel image lies, known before the guest has page tables.
type textMap struct{ virt, phys, size uint64 }

func (t textMap) find(va uint64) (pa uint64, ok bool) {
	return t.phys + (va - t.virt), va-t.virt < t.size
}

const (
	ptePresent = 1 << 0
	pteLarge   = 1 << 7
	pteFrame   = 0x000ffffffffff000
	cr0Paging  = 1 << 31
)

// Translate is the physical address of a kernel virtual address: by the page tables in
// use, or, before there are any, by where the kernel was placed.
func (m *Machine) Translate(va uint64) (pa uint64, ok bool) {
	if pa, ok := m.walk(va); ok {
		return pa, true
	}
	return m.text.find(va)
}

// walk follows four-level paging (SDM vol. 3, 4.5).
func (m *Machine) walk(va uint64) (uint64, bool) {
	ram := m.engine.RAM()
	table := m.engine.Reg(arch.CR3) & pteFrame
	if m.engine.Reg(arch.CR0)&cr0Paging == 0 || uint64(int64(va<<16)>>16) != va {
		return 0, false
	}
	for shift := 39; shift >= 12; shift -= 9 {
		at := table + va>>shift&511*8
		if at+8 > uint64(len(ram)) {
			return 0, false
		}
		e := binary.LittleEndian.Uint64(ram[at:])
		if e&ptePresent == 0 {
			return 0, false
		}
		table = e & pteFrame
		if e&pteLarge != 0 && (shift == 30 || shift == 21) {
			within := uint64(1)<<shift - 1
			table = table&^within | va&within&^(pageSize-1)
			break
		}
	}
	return table | va&(pageSize-1), table < uint64(len(ram))
}

// page is the guest's own content of the page at va from va on.
func (m *Machine) page(va uint64) ([]byte, error) {
	pa, ok := m.Translate(va)
	if !ok {
		return nil, &arch.Fault{Addr: va}
	}
	at := va & (pageSize - 1)
	if m.inPlace {
		if own := m.engine.Original(pa); own != nil {
			return own[at:], nil
		}
	}
	return m.engine.RAM()[pa : pa-at+pageSize], nil
}

// ReadMem fills p from a virtual address. It sees the guest's own text, never a
// breakpoint. It fails with an *arch.Fault at the first byte that is not mapped.
func (m *Machine) ReadMem(addr uint64, p []byte) error {
	for len(p) > 0 {
		from, err := m.page(addr)
		if err != nil {
			return err
		}
		n := copy(p, from)
		p, addr = p[n:], addr+uint64(n)
	}
	return nil
}

// WriteMem stores p at a virtual address, as the kernel itself would, rights aside.
func (m *Machine) WriteMem(addr uint64, p []byte) error {
	for len(p) > 0 {
		pa, ok := m.Translate(addr)
		if !ok {
			return &arch.Fault{Addr: addr}
		}
		n := min(len(p), int(pageSize-addr&(pageSize-1)))
		m.engine.Store(pa, p[:n])
		p, addr = p[n:], addr+uint64(n)
	}
	return nil
}
