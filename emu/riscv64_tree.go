package emu

import (
	"encoding/binary"
	"fmt"

	"github.com/u-root/u-root/pkg/dt"

	"trapline/emu/boot"
	"trapline/emu/device"
)

// Phandles of the riscv64 machine's device tree.
const (
	riscv64CPUHandle = iota + 1
	riscv64PLICHandle
)

// Interrupts of a hart, as its own controller numbers them.
const (
	riscvExternalM = 11
	riscvExternalS = 9
)

// riscv64Tree describes the machine as QEMU's virt does. (Linux, Documentation/devicetree/bindings.)
func riscv64Tree(ram boot.Range) *dt.Node {
	intc := dt.NewNode("interrupt-controller", dt.WithProperty(
		dt.PropertyU32("#interrupt-cells", 1),
		dt.Property{Name: "interrupt-controller"},
		dt.PropertyString("compatible", "riscv,cpu-intc"),
		dt.PropertyU32("phandle", riscv64CPUHandle),
	))
	cpu := dt.NewNode("cpu@0", dt.WithProperty(
		dt.PropertyString("device_type", "cpu"),
		dt.PropertyU32("reg", 0),
		dt.PropertyString("status", "okay"),
		dt.PropertyString("compatible", "riscv"),
		dt.PropertyString("riscv,isa", "rv64imafdc"),
		dt.PropertyString("mmu-type", "riscv,sv57"),
	), dt.WithChildren(intc))
	cpus := dt.NewNode("cpus", dt.WithProperty(
		dt.PropertyU32("#address-cells", 1),
		dt.PropertyU32("#size-cells", 0),
		dt.PropertyU32("timebase-frequency", device.TimebaseFrequency),
	), dt.WithChildren(cpu))
	plic := dt.NewNode("plic@c000000", dt.WithProperty(
		stringList("compatible", "sifive,plic-1.0.0", "riscv,plic0"),
		reg(device.RISCV64PLIC, device.PLICSize),
		dt.PropertyU32("#interrupt-cells", 1),
		dt.PropertyU32("#address-cells", 0),
		dt.Property{Name: "interrupt-controller"},
		dt.PropertyU32Array("interrupts-extended", []uint32{
			riscv64CPUHandle, riscvExternalM, riscv64CPUHandle, riscvExternalS,
		}),
		dt.PropertyU32("riscv,ndev", device.PLICInputs-1),
		dt.PropertyU32("phandle", riscv64PLICHandle),
	))
	soc := dt.NewNode("soc", dt.WithProperty(
		dt.PropertyU32("#address-cells", 2),
		dt.PropertyU32("#size-cells", 2),
		dt.PropertyString("compatible", "simple-bus"),
		dt.Property{Name: "ranges"},
	), dt.WithChildren(plic,
		riscv64UART("serial@10000000", device.RISCV64UART, device.RISCV64UARTIRQ),
		riscv64UART("serial@10009000", device.RISCV64UART2, device.RISCV64UART2IRQ),
	))
	aliases := dt.NewNode("aliases", dt.WithProperty(
		dt.PropertyString("serial0", "/soc/serial@10000000"),
		dt.PropertyString("serial1", "/soc/serial@10009000"),
	))
	return root("riscv-virtio", ram, aliases, cpus, soc)
}

func riscv64UART(name string, base uint64, irq uint32) *dt.Node {
	return dt.NewNode(name, dt.WithProperty(
		dt.PropertyString("compatible", "ns16550a"),
		reg(base, device.RISCV64UARTSize),
		dt.PropertyU32("clock-frequency", 3686400), // QEMU's; the line has no speed
		dt.PropertyU32("interrupt-parent", riscv64PLICHandle),
		dt.PropertyU32("interrupts", irq),
	))
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
