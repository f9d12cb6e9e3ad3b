package device

import "fmt"

// Mem is a device in the memory of a machine. Offsets are from where it is mounted, size
// is 1, 2 or 4 bytes.
type Mem interface {
	Load(offset uint64, size int) uint32
	Store(offset uint64, size int, value uint32)
}

// A MemBus is the physical address space of a machine without its RAM: it hands each access
// to the device that is mounted there. Where there is none, loads read zero and stores are
// ignored. The zero value has no devices.
type MemBus struct {
	mounts []memMount // few: a linear search is fast
}

type memMount struct {
	base, size uint64
	dev        Mem
}

// Mount claims size bytes from base for dev. It panics when an address is claimed twice:
// the map of a machine is fixed.
func (b *MemBus) Mount(base, size uint64, dev Mem) {
	for _, m := range b.mounts {
		if base < m.base+m.size && m.base < base+size {
			panic(fmt.Sprintf("device: the address %#x is claimed twice", max(base, m.base)))
		}
	}
	b.mounts = append(b.mounts, memMount{base, size, dev})
}

// Load reads size (1, 2 or 4) bytes.
func (b *MemBus) Load(addr uint64, size int) uint32 {
	if m := b.at(addr); m != nil {
		return m.dev.Load(addr-m.base, size) & ones(size)
	}
	return 0
}

// Store writes the low size (1, 2 or 4) bytes of value.
func (b *MemBus) Store(addr uint64, size int, value uint32) {
	if m := b.at(addr); m != nil {
		m.dev.Store(addr-m.base, size, value&ones(size))
	}
}

func (b *MemBus) at(addr uint64) *memMount {
	for i, m := range b.mounts {
		if addr-m.base < m.size {
			return &b.mounts[i]
		}
	}
	return nil
}

// InMemory is a device with ports as one in memory, its registers side by side.
func InMemory(dev Ports) Mem { return portsInMemory{dev} }

type portsInMemory struct{ dev Ports }

func (p portsInMemory) Load(offset uint64, size int) uint32 {
	return p.dev.In(uint16(offset), size)
}

func (p portsInMemory) Store(offset uint64, size int, value uint32) {
	p.dev.Out(uint16(offset), size, value)
}
