package device

import "io"

// An ARM64Virt is the devices of the arm64 machine, wired as in QEMU's virt machine:
//
//	generic timer of a CPU --PPI 11, 14--> GIC --> IRQ of each CPU
//	UART 0, 1 ---------------SPI 1, 8------^
//	disks -------------SPI 16 and behind---^
//	PSCI (called by HVC)
type ARM64Virt struct {
	Buses  []*MemBus // by CPU: of the GIC each sees its own registers
	GIC    *GIC
	Timers []*ARM64Timer // by CPU
	PSCI   *PSCI
	UARTs  [2]*PL011 // the console, the control channel

	disks
	parts []State
}

// Where the devices are, and their interrupts.
const (
	ARM64GICD     = 0x08000000
	ARM64GICC     = 0x08010000
	ARM64UART     = 0x09000000
	ARM64UART2    = 0x09040000
	ARM64UARTSPI  = 1
	ARM64UART2SPI = 8

	ARM64Virtio       = 0x0a000000
	ARM64VirtioStride = 0x200
	ARM64VirtioSPI    = 16

	ARM64VirtualTimerPPI  = 11
	ARM64PhysicalTimerPPI = 14
)

// An ARM64CPU is a CPU of the machine. Control is as that of PSCI.
type ARM64CPU struct {
	IRQ     Line
	Control CPUControl
}

// NewARM64Virt makes the devices of a machine.
func NewARM64Virt(h Host, cpus []ARM64CPU) *ARM64Virt {
	v := &ARM64Virt{}
	var irqs []Line
	var controls []CPUControl
	for _, c := range cpus {
		irqs = append(irqs, c.IRQ)
		controls = append(controls, c.Control)
	}
	v.GIC, v.PSCI = NewGIC(irqs...), NewPSCI(controls, h.End)
	v.UARTs[0] = NewPL011(v.GIC.SPI(ARM64UARTSPI), h.Console)
	v.UARTs[1] = NewPL011(v.GIC.SPI(ARM64UART2SPI), h.Control)
	for i := range cpus {
		v.Timers = append(v.Timers, NewARM64Timer(h.Clock, v.GIC.PPI(i, ARM64VirtualTimerPPI), v.GIC.PPI(i, ARM64PhysicalTimerPPI)))
		v.Buses = append(v.Buses, v.bus(i))
		v.parts = append(v.parts, v.Timers[i])
	}
	v.disks = newDisks(h, ARM64Virtio, ARM64VirtioStride,
		func(n int) Line { return v.GIC.SPI(ARM64VirtioSPI + n) }, v.Buses...)
	v.parts = append(v.parts, v.UARTs[0], v.UARTs[1])
	v.parts = append(append(v.parts, v.disks.states()...), v.GIC)
	return v
}

// bus is the addresses that a CPU sees, without the disks.
func (v *ARM64Virt) bus(cpu int) *MemBus {
	b := new(MemBus)
	b.Mount(ARM64GICD, GICSize, v.GIC.Distributor(cpu))
	b.Mount(ARM64GICC, GICSize, v.GIC.CPUInterface(cpu))
	b.Mount(ARM64UART, PL011Size, v.UARTs[0].Registers())
	b.Mount(ARM64UART2, PL011Size, v.UARTs[1].Registers())
	return b
}

// Next is the time of the next event that a CPU has to see to.
func (v *ARM64Virt) Next(cpu int) uint64 { return min(v.Timers[cpu].Next(), v.disks.next()) }

// Poll carries out what is due, as far as a CPU sees to it.
func (v *ARM64Virt) Poll(cpu int) {
	v.Timers[cpu].Poll()
	v.disks.poll()
}

// Wake is the next event that can raise an interrupt of a CPU as things are.
func (v *ARM64Virt) Wake(cpu int) uint64 {
	at := v.disks.next()
	for i, ppi := range []int{ARM64VirtualTimerPPI, ARM64PhysicalTimerPPI} {
		if v.GIC.PPIEnabled(cpu, ppi) {
			at = min(at, v.Timers[cpu].due(i))
		}
	}
	return at
}

// Save writes the state of all devices.
func (v *ARM64Virt) Save(w io.Writer) error { return saveAll(w, v.parts) }

// Parse reads what Save wrote. The interrupt controller comes last: what the others do to
// its lines meanwhile is of no account.
func (v *ARM64Virt) Parse(r io.Reader, now uint64) (set func(), err error) {
	return parseAll(r, now, v.parts)
}
