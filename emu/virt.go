package emu

import (
	"encoding/binary"
	"fmt"

	"github.com/u-root/u-root/pkg/dt"

	"trapline/emu/boot"
	"trapline/emu/device"
)

// host is what the devices of a virt machine reach. Firmware is whom its guest asks for the
// end.
func (m *Machine) host(c Config, firmware string) device.Host {
	h := device.Host{
		Clock: clock{m}, Memory: dma{m},
		Console: sink(c.Console), Control: sink(c.Control), End: m.endFor(firmware),
	}
	for _, f := range c.Disks {
		h.Disks = append(h.Disks, device.NewDisk(f, f.Size()))
	}
	return h
}

// endFor carries out what the guest asks of its firmware.
func (m *Machine) endFor(firmware string) func(device.Ending) {
	return func(e device.Ending) {
		if e == device.PowerOff {
			m.powerOff()
		} else {
			m.resetFor("firmware (" + firmware + ")")
		}
	}
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

// checkDisks says whether a machine of its kind can have the disks of c.
func (w wiring) checkDisks(c Config) error {
	switch n := len(c.Disks); {
	case n > 0 && w.disks == 0:
		return fmt.Errorf("this machine has no disks: use arm64 or riscv64")
	case n > w.disks:
		return fmt.Errorf("%d disks: the machine has room for %d", n, w.disks)
	}
	for _, f := range c.Disks {
		if size := f.Size(); size == 0 || size%device.SectorSize != 0 {
			return fmt.Errorf("a disk image of %d bytes: it must be a multiple of %d, one sector or more", size, device.SectorSize)
		}
	}
	return nil
}

// virtioNode describes a block device on the virtio bus of a virt machine. (Linux,
// Documentation/devicetree/bindings/virtio/mmio.yaml)
func virtioNode(base, size uint64, interrupt ...dt.Property) *dt.Node {
	return dt.NewNode(fmt.Sprintf("virtio_mmio@%x", base), dt.WithProperty(append([]dt.Property{
		dt.PropertyString("compatible", "virtio,mmio"),
		reg(base, size),
		{Name: "dma-coherent"},
	}, interrupt...)...))
}

// root is the root of the device tree of a virt machine, with its RAM.
func root(model string, ram boot.Range, children ...*dt.Node) *dt.Node {
	memory := dt.NewNode(fmt.Sprintf("memory@%x", ram.Base), dt.WithProperty(
		dt.PropertyString("device_type", "memory"), reg(ram.Base, ram.Size),
	))
	return dt.NewNode("", dt.WithProperty(
		dt.PropertyU32("#address-cells", 2),
		dt.PropertyU32("#size-cells", 2),
		dt.PropertyString("compatible", model),
		dt.PropertyString("model", "trapline,virt"),
	), dt.WithChildren(append(children, memory)...))
}

// reg is a reg property of base and size pairs, two cells each.
func reg(ranges ...uint64) dt.Property {
	var v []byte
	for _, r := range ranges {
		v = binary.BigEndian.AppendUint64(v, r)
	}
	return dt.Property{Name: "reg", Value: v}
}

func stringList(name string, list ...string) dt.Property {
	var v []byte
	for _, s := range list {
		v = append(append(v, s...), 0)
	}
	return dt.Property{Name: name, Value: v}
}
