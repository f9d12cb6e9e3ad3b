package device

import "fmt"

// A PortBus is the x86 I/O address space: it hands each access to the device that is
// mounted there. A port without a device reads as all ones and ignores what is written,
// which is what guests that probe for hardware, or write to a free port for the sake of
// the delay, expect. The zero value has no devices.
type PortBus struct {
	mounts []mount // few: a linear search is fast
}

type mount struct {
	base, count, width int
	dev                Ports
}

// Mount claims count ports from base for dev. Width is the widest access in bytes that
// dev takes; a wider one reaches the ports one after the other, as a bus with narrow
// devices does it. It panics when a port is claimed twice: the map of a machine is fixed.
func (b *PortBus) Mount(base, count, width int, dev Ports) {
	for _, m := range b.mounts {
		if base < m.base+m.count && m.base < base+count {
			panic(fmt.Sprintf("device: ports %#x-%#x are claimed twice", max(base, m.base), min(base+count, m.base+m.count)-1))
		}
	}
	b.mounts = append(b.mounts, mount{base, count, width, dev})
}

// In reads size (1, 2 or 4) bytes from port. The first port decides who is asked: a wide
// access to an unclaimed port does not touch a device behind it, so that the
// configuration address at 0xcf8 is not a reset at 0xcf9.
func (b *PortBus) In(port uint16, size int) uint32 {
	m := b.at(int(port))
	switch {
	case m == nil:
		return ones(size)
	case size <= m.width && m.holds(int(port), size):
		return m.dev.In(port-uint16(m.base), size) & ones(size)
	case size == 1: // a device of wider ports only
		return ones(size)
	}
	half := size / 2
	return b.In(port, half) | b.In(port+uint16(half), half)<<(8*half)
}

// Out writes the low size (1, 2 or 4) bytes of value to port, by the rules of In.
func (b *PortBus) Out(port uint16, size int, value uint32) {
	m := b.at(int(port))
	switch {
	case m == nil:
		return
	case size <= m.width && m.holds(int(port), size):
		m.dev.Out(port-uint16(m.base), size, value&ones(size))
		return
	case size == 1:
		return
	}
	half := size / 2
	b.Out(port, half, value)
	b.Out(port+uint16(half), half, value>>(8*half))
}

func (b *PortBus) at(port int) *mount {
	for i := range b.mounts {
		if b.mounts[i].holds(port, 1) {
			return &b.mounts[i]
		}
	}
	return nil
}

func (m *mount) holds(port, size int) bool {
	return m.base <= port && port+size <= m.base+m.count
}

// ones is what size bytes without a driver read as.
func ones(size int) uint32 { return uint32(1<<(8*size) - 1) }
