package emu

import (
	"fmt"

	"github.com/u-root/u-root/pkg/dt"

	"trapline/emu/boot"
	"trapline/emu/device"
)

// Phandles of the riscv64 machine's device tree.
func (p *riscv64) cpuHandle(i int) uint32 { return uint32(i) + 1 }
func (p *riscv64) plicHandle() uint32     { return uint32(len(p.m.cpus)) + 1 }
func (p *riscv64) finisherHandle() uint32 { return p.plicHandle() + 1 }

// Interrupts of a hart, as its own controller numbers them.
const (
	riscv64SoftwareM = 3
	riscv64TimerM    = 7
	riscv64ExternalM = 11
	riscv64ExternalS = 9
)

// tree describes the machine as QEMU's virt does. (Linux, Documentation/devicetree/bindings.)
func (p *riscv64) tree(ram boot.Range) *dt.Node {
	var harts []*dt.Node
	var external []uint32
	for i := range p.m.cpus {
		harts = append(harts, p.hartNode(i))
		external = append(external, p.cpuHandle(i), riscv64ExternalM, p.cpuHandle(i), riscv64ExternalS)
	}
	cpus := dt.NewNode("cpus", dt.WithProperty(
		dt.PropertyU32("#address-cells", 1),
		dt.PropertyU32("#size-cells", 0),
		dt.PropertyU32("timebase-frequency", device.TimebaseFrequency),
	), dt.WithChildren(harts...))
	plic := dt.NewNode("plic@c000000", dt.WithProperty(
		stringList("compatible", "sifive,plic-1.0.0", "riscv,plic0"),
		reg(device.RISCV64PLIC, device.PLICSize),
		dt.PropertyU32("#interrupt-cells", 1),
		dt.PropertyU32("#address-cells", 0),
		dt.Property{Name: "interrupt-controller"},
		dt.PropertyU32Array("interrupts-extended", external),
		dt.PropertyU32("riscv,ndev", device.PLICInputs-1),
		dt.PropertyU32("phandle", p.plicHandle()),
	))
	soc := dt.NewNode("soc", dt.WithProperty(
		dt.PropertyU32("#address-cells", 2),
		dt.PropertyU32("#size-cells", 2),
		dt.PropertyString("compatible", "simple-bus"),
		dt.Property{Name: "ranges"},
	), dt.WithChildren(append(append(p.disks(), p.bareNodes()...), plic,
		p.uart("serial@10000000", device.RISCV64UART, device.RISCV64UARTIRQ),
		p.uart("serial@10009000", device.RISCV64UART2, device.RISCV64UART2IRQ),
	)...))
	aliases := dt.NewNode("aliases", dt.WithProperty(
		dt.PropertyString("serial0", "/soc/serial@10000000"),
		dt.PropertyString("serial1", "/soc/serial@10009000"),
	))
	return root("riscv-virtio", ram, aliases, cpus, soc)
}

// hartNode is a CPU with its interrupt controller.
func (p *riscv64) hartNode(i int) *dt.Node {
	intc := dt.NewNode("interrupt-controller", dt.WithProperty(
		dt.PropertyU32("#interrupt-cells", 1),
		dt.Property{Name: "interrupt-controller"},
		dt.PropertyString("compatible", "riscv,cpu-intc"),
		dt.PropertyU32("phandle", p.cpuHandle(i)),
	))
	return dt.NewNode(fmt.Sprintf("cpu@%x", i), dt.WithProperty(
		dt.PropertyString("device_type", "cpu"),
		dt.PropertyU32("reg", uint32(i)),
		dt.PropertyString("status", "okay"),
		dt.PropertyString("compatible", "riscv"),
		dt.PropertyString("riscv,isa", p.isa()),
		dt.PropertyString("mmu-type", "riscv,sv57"),
	), dt.WithChildren(intc))
}

func (p *riscv64) uart(name string, base uint64, irq uint32) *dt.Node {
	return dt.NewNode(name, dt.WithProperty(
		dt.PropertyString("compatible", "ns16550a"),
		reg(base, device.RISCV64UARTSize),
		dt.PropertyU32("clock-frequency", 3686400), // QEMU's; the line has no speed
		dt.PropertyU32("interrupt-parent", p.plicHandle()),
		dt.PropertyU32("interrupts", irq),
	))
}

// isa is the extensions that the guest may use: the timer of the supervisor if no firmware
// has it. Firmware that is not ours may leave it off, as OpenSBI does up to 1.2.
func (p *riscv64) isa() string {
	if p.dev.CLINT != nil && !p.foreign {
		return "rv64imafdc_sstc"
	}
	return "rv64imafdc"
}

// bareNodes are the devices of a machine without firmware.
func (p *riscv64) bareNodes() []*dt.Node {
	if p.dev.CLINT == nil {
		return nil
	}
	var interrupts []uint32
	for i := range p.m.cpus {
		interrupts = append(interrupts, p.cpuHandle(i), riscv64SoftwareM, p.cpuHandle(i), riscv64TimerM)
	}
	clint := dt.NewNode("clint@2000000", dt.WithProperty(
		stringList("compatible", "sifive,clint0", "riscv,clint0"),
		reg(device.RISCV64CLINT, device.CLINTSize),
		dt.PropertyU32Array("interrupts-extended", interrupts),
	))
	finisher := dt.NewNode("test@100000", dt.WithProperty(
		stringList("compatible", "sifive,test1", "sifive,test0", "syscon"),
		reg(device.RISCV64Finisher, device.FinisherSize),
	))
	if !p.foreign {
		return []*dt.Node{clint, finisher}
	}
	finisher.Properties = append(finisher.Properties, dt.PropertyU32("phandle", p.finisherHandle()))
	return []*dt.Node{clint, finisher, p.finish("poweroff", device.FinisherPowerOff), p.finish("reboot", device.FinisherReset)}
}

// finish says which value of the finisher ends the machine in a way. Newer OpenSBIs go by
// that, older ones by the finisher itself.
func (p *riscv64) finish(way string, value uint32) *dt.Node {
	return dt.NewNode(way, dt.WithProperty(
		dt.PropertyString("compatible", "syscon-"+way),
		dt.PropertyU32("regmap", p.finisherHandle()),
		dt.PropertyU32("offset", 0),
		dt.PropertyU32("value", value),
	))
}

func (p *riscv64) disks() (nodes []*dt.Node) {
	for i := range p.dev.Disks() {
		nodes = append(nodes, virtioNode(device.RISCV64Virtio+uint64(i)*device.RISCV64VirtioStride, device.VirtioSize,
			dt.PropertyU32("interrupt-parent", p.plicHandle()),
			dt.PropertyU32("interrupts", uint32(device.RISCV64VirtioIRQ+i))))
	}
	return nodes
}
