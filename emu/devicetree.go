package emu

import (
	"encoding/binary"
	"fmt"

	"github.com/u-root/u-root/pkg/dt"

	"trapline/emu/boot"
)

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
