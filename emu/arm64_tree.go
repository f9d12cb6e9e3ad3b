package emu

import (
	"fmt"

	"github.com/u-root/u-root/pkg/dt"

	"trapline/emu/boot"
	"trapline/emu/device"
)

// Phandles of the arm64 machine's device tree.
const (
	arm64GICHandle = iota + 1
	arm64ClockHandle
)

// Kinds and triggers of interrupts, as the GIC's binding has them.
const (
	gicSPI, gicPPI = 0, 1
	levelHigh      = 4
	gicCPUs        = 8 // bit of the first CPU of a private interrupt
)

// Private interrupts of the timers that there are besides our two.
const (
	secureTimerPPI     = 13
	hypervisorTimerPPI = 10
)

// tree describes the machine as QEMU's virt does. (Linux, Documentation/devicetree/bindings.)
func (p *arm64) tree(ram boot.Range) *dt.Node {
	cpus := dt.NewNode("cpus", dt.WithProperty(
		dt.PropertyU32("#address-cells", 1),
		dt.PropertyU32("#size-cells", 0),
	), dt.WithChildren(p.cpuNodes()...))
	psci := dt.NewNode("psci", dt.WithProperty(
		stringList("compatible", "arm,psci-1.0", "arm,psci-0.2"),
		dt.PropertyString("method", "hvc"),
	))
	private := uint32(1<<len(p.m.cpus)-1)<<gicCPUs | levelHigh
	timer := dt.NewNode("timer", dt.WithProperty(
		dt.PropertyString("compatible", "arm,armv8-timer"),
		dt.Property{Name: "always-on"},
		dt.PropertyU32Array("interrupts", []uint32{
			gicPPI, secureTimerPPI, private,
			gicPPI, device.ARM64PhysicalTimerPPI, private,
			gicPPI, device.ARM64VirtualTimerPPI, private,
			gicPPI, hypervisorTimerPPI, private,
		}),
	))
	gic := dt.NewNode("intc@8000000", dt.WithProperty(
		dt.PropertyString("compatible", "arm,cortex-a15-gic"),
		dt.PropertyU32("#interrupt-cells", 3),
		dt.Property{Name: "interrupt-controller"},
		reg(device.ARM64GICD, device.GICSize, device.ARM64GICC, device.GICSize),
		dt.PropertyU32("phandle", arm64GICHandle),
	))
	clk := dt.NewNode("apb-pclk", dt.WithProperty(
		dt.PropertyString("compatible", "fixed-clock"),
		dt.PropertyU32("#clock-cells", 0),
		dt.PropertyU32("clock-frequency", 24_000_000),
		dt.PropertyString("clock-output-names", "clk24mhz"),
		dt.PropertyU32("phandle", arm64ClockHandle),
	))
	aliases := dt.NewNode("aliases", dt.WithProperty(
		dt.PropertyString("serial0", "/pl011@9000000"),
		dt.PropertyString("serial1", "/pl011@9040000"),
	))
	r := root("linux,dummy-virt", ram, aliases, cpus, psci, timer, gic, clk,
		arm64UART("pl011@9000000", device.ARM64UART, device.ARM64UARTSPI),
		arm64UART("pl011@9040000", device.ARM64UART2, device.ARM64UART2SPI),
	)
	r.Children = append(r.Children, p.disks()...)
	r.Properties = append(r.Properties, dt.PropertyU32("interrupt-parent", arm64GICHandle))
	return r
}

// cpuNodes are the CPUs: where there are several, firmware starts them.
func (p *arm64) cpuNodes() (nodes []*dt.Node) {
	for i := range p.m.cpus {
		n := dt.NewNode(fmt.Sprintf("cpu@%x", i), dt.WithProperty(
			dt.PropertyString("device_type", "cpu"),
			dt.PropertyString("compatible", "arm,cortex-a57"),
			dt.PropertyU32("reg", uint32(i)),
		))
		if len(p.m.cpus) > 1 {
			n.Properties = append(n.Properties, dt.PropertyString("enable-method", "psci"))
		}
		nodes = append(nodes, n)
	}
	return nodes
}

func arm64UART(name string, base uint64, spi uint32) *dt.Node {
	return dt.NewNode(name, dt.WithProperty(
		stringList("compatible", "arm,pl011", "arm,primecell"),
		reg(base, device.PL011Size),
		dt.PropertyU32Array("interrupts", []uint32{gicSPI, spi, levelHigh}),
		dt.PropertyU32Array("clocks", []uint32{arm64ClockHandle, arm64ClockHandle}),
		stringList("clock-names", "uartclk", "apb_pclk"),
	))
}

func (p *arm64) disks() (nodes []*dt.Node) {
	for i := range p.dev.Disks() {
		nodes = append(nodes, virtioNode(device.ARM64Virtio+uint64(i)*device.ARM64VirtioStride, device.VirtioSize,
			dt.PropertyU32Array("interrupts", []uint32{gicSPI, uint32(device.ARM64VirtioSPI + i), levelHigh})))
	}
	return nodes
}
