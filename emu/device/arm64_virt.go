package device

import "io"

// An ARM64Virt is the devices of the arm64 machine, wired as in QEMU's virt machine:
//
//	generic timer --PPI 11, 14--> GIC --> IRQ of the CPU
//	UART 0, 1 ------SPI 1, 8------^
//	disks ----SPI 16 and behind---^
//	PSCI (called by HVC)
type ARM64Virt struct {
	Bus   MemBus
	GIC   *GIC
	Timer *ArmTimer
	PSCI  *PSCI
	UARTs [2]*PL011 // the console, the control channel

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

// NewARM64Virt makes the devices of a machine; irq is the CPU's line.
func NewARM64Virt(h Host, irq Line) *ARM64Virt {
	v := &ARM64Virt{GIC: NewGIC(irq), PSCI: NewPSCI(h.End)}
	v.Timer = NewArmTimer(h.Clock, v.GIC.PPI(ARM64VirtualTimerPPI), v.GIC.PPI(ARM64PhysicalTimerPPI))
	v.UARTs[0] = NewPL011(v.GIC.SPI(ARM64UARTSPI), h.Console)
	v.UARTs[1] = NewPL011(v.GIC.SPI(ARM64UART2SPI), h.Control)
	v.Bus.Mount(ARM64GICD, GICSize, v.GIC.Distributor())
	v.Bus.Mount(ARM64GICC, GICSize, v.GIC.CPUInterface())
	v.Bus.Mount(ARM64UART, PL011Size, v.UARTs[0].Registers())
	v.Bus.Mount(ARM64UART2, PL011Size, v.UARTs[1].Registers())
	v.disks = newDisks(h, &v.Bus, ARM64Virtio, ARM64VirtioStride,
		func(n int) Line { return v.GIC.SPI(ARM64VirtioSPI + n) })
	v.parts = append([]State{v.Timer, v.UARTs[0], v.UARTs[1]}, append(v.disks.states(), v.GIC)...)
	return v
}

// Next is the time of the next event.
func (v *ARM64Virt) Next() uint64 { return min(v.Timer.Next(), v.disks.next()) }

// Poll carries out what is due.
func (v *ARM64Virt) Poll() {
	v.Timer.Poll()
	v.disks.poll()
}

// Wake is the next event that can raise an interrupt as things are.
func (v *ARM64Virt) Wake() uint64 {
	at := v.disks.next()
	for i, ppi := range []int{ARM64VirtualTimerPPI, ARM64PhysicalTimerPPI} {
		if v.GIC.PPIEnabled(ppi) {
			at = min(at, v.Timer.due(i))
		}
	}
	return at
}

// Save writes the state of all devices.
func (v *ARM64Virt) Save(w io.Writer) error { return saveAll(w, v.parts) }

// Load reads what Save wrote. The interrupt controller comes last: what the others do to
// its lines meanwhile is of no account.
func (v *ARM64Virt) Load(r io.Reader) error { return loadAll(r, v.parts) }
