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
	// Firmware, if not nil, is entered before the kernel, which it has to enter in turn. The machine is
	// one without firmware of ours (riscv64).
	Firmware []byte
}

// Placed says what Boot has put where.
type Placed = boot.Placed

// textMap is where the kernel image lies, known before the guest has page tables.
type textMap struct{ virt, phys, size uint64 }

func (t textMap) find(va uint64) (pa uint64, ok bool) {
	return t.phys + (va - t.virt), va-t.virt < t.size
}

// Translate is the physical address of a kernel virtual address: by the page tables in
// use, or, before there are any, by where the kernel was placed.
func (m *Machine) Translate(va uint64) (pa uint64, ok bool) {
	if pa, ok := m.platform.Walk(va); ok {
		return pa, true
	}
	return m.text.find(va)
}

// offset is where in RAM the byte at va lies.
func (m *Machine) offset(va uint64) (at uint64, ok bool) {
	pa, ok := m.Translate(va)
	return m.inRAM(pa, ok)
}

func (m *Machine) inRAM(pa uint64, ok bool) (at uint64, _ bool) {
	at = pa - m.engine.RAMBase()
	return at, ok && at < uint64(len(m.engine.RAM()))
}

// reg reads a register of the CPU that runs, or has run last.
func (m *Machine) reg(r arch.Reg) uint64 {
	m.notes.reg(m, r)
	return m.engine.Reg(r)
}

// word reads eight bytes of RAM at a physical address.
func (m *Machine) word(pa uint64) (uint64, bool) {
	ram, at := m.engine.RAM(), pa-m.engine.RAMBase()
	if at >= uint64(len(ram)) || at%8 != 0 {
		return 0, false
	}
	b := ram[at : at+8]
	m.notes.read(b)
	return binary.LittleEndian.Uint64(b), true
}

// page is the guest's own content of the page at va from va on.
func (m *Machine) page(va uint64) ([]byte, error) {
	at, ok := m.offset(va)
	if !ok || !m.placed {
		return nil, &arch.Fault{Addr: va}
	}
	within := va & (pageSize - 1)
	if m.inPlace {
		if own := m.engine.Original(at); own != nil {
			return own[within:], nil
		}
	}
	return m.engine.RAM()[at : at-within+pageSize], nil
}

// ReadMem fills p from a virtual address. It sees the guest's own text, never a
// breakpoint. It fails with an *arch.Fault at the first byte that is not mapped; before Boot or Load
// none is.
func (m *Machine) ReadMem(addr uint64, p []byte) error {
	for len(p) > 0 {
		from, err := m.page(addr)
		if err != nil {
			return err
		}
		n := copy(p, from)
		m.notes.read(from[:n])
		p, addr = p[n:], addr+uint64(n)
	}
	return nil
}

// WriteMem stores p at a virtual address, as the kernel itself would, rights aside.
func (m *Machine) WriteMem(addr uint64, p []byte) error {
	for len(p) > 0 {
		at, ok := m.offset(addr)
		if !ok {
			return &arch.Fault{Addr: addr}
		}
		n := min(len(p), int(pageSize-addr&(pageSize-1)))
		m.engine.Store(at, p[:n])
		p, addr = p[n:], addr+uint64(n)
	}
	return nil
}

// dma is RAM as devices reach it: what they store there takes the place of what was
// translated from it.
type dma struct{ m *Machine }

// within is the offset in RAM of n bytes at pa.
func (d dma) within(pa uint64, n int) (at uint64, ok bool) {
	at, ok = d.m.inRAM(pa, true)
	return at, ok && uint64(n) <= d.m.Memory()-at
}

func (d dma) Read(pa uint64, p []byte) bool {
	at, ok := d.within(pa, len(p))
	if ok {
		copy(p, d.m.engine.RAM()[at:])
	}
	return ok
}

func (d dma) Write(pa uint64, p []byte) bool {
	at, ok := d.within(pa, len(p))
	if ok {
		d.m.store(at, p)
	}
	return ok
}

// store stores p at an offset in RAM, page by page.
func (m *Machine) store(at uint64, p []byte) {
	for len(p) > 0 {
		n := min(len(p), int(pageSize-at%pageSize))
		m.engine.Store(at, p[:n])
		p, at = p[n:], at+uint64(n)
	}
}
