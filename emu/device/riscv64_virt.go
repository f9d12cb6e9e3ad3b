package device

import "io"

// A RISCV64Virt is the devices of the riscv64 machine, wired as in QEMU's virt machine with
// a second serial port:
//
//	SBI --timer, software---------> CPU
//	disks -----1 to 8---> PLIC ---> CPU (external interrupt of the supervisor)
//	UART 0, 1 --10, 12----^
type RISCV64Virt struct {
	Bus   MemBus
	SBI   *SBI
	PLIC  *PLIC
	UARTs [2]*UART // the console, the control channel

	disks
	parts []State
}

// Where the devices are. The second port is in a place that virt leaves free.
const (
	RISCV64PLIC     = 0x0c000000
	RISCV64UART     = 0x10000000
	RISCV64UART2    = 0x10009000
	RISCV64UARTSize = 0x100
	RISCV64UARTIRQ  = 10
	RISCV64UART2IRQ = 12

	RISCV64Virtio       = 0x10001000
	RISCV64VirtioStride = 0x1000
	RISCV64VirtioIRQ    = 1
)

// RISCV64Lines are the interrupts of the CPU.
type RISCV64Lines struct{ External, Timer, Software Line }

type noLine struct{}

func (noLine) Set(bool) {}

// NewRISCV64Virt makes the devices of a machine.
func NewRISCV64Virt(h Host, cpu RISCV64Lines) *RISCV64Virt {
	v := &RISCV64Virt{
		SBI:  NewSBI(h.Clock, cpu.Timer, cpu.Software, h.Console, h.End),
		PLIC: NewPLIC(noLine{}, cpu.External),
	}
	v.UARTs[0] = NewDirectUART(v.PLIC.Line(RISCV64UARTIRQ), h.Console)
	v.UARTs[1] = NewDirectUART(v.PLIC.Line(RISCV64UART2IRQ), h.Control)
	v.Bus.Mount(RISCV64PLIC, PLICSize, v.PLIC.Registers())
	v.Bus.Mount(RISCV64UART, RISCV64UARTSize, InMemory(v.UARTs[0]))
	v.Bus.Mount(RISCV64UART2, RISCV64UARTSize, InMemory(v.UARTs[1]))
	v.disks = newDisks(h, &v.Bus, RISCV64Virtio, RISCV64VirtioStride,
		func(n int) Line { return v.PLIC.Line(RISCV64VirtioIRQ + n) })
	v.parts = append([]State{v.SBI, v.UARTs[0], v.UARTs[1]}, append(v.disks.states(), v.PLIC)...)
	return v
}

// Next is the time of the next event.
func (v *RISCV64Virt) Next() uint64 { return min(v.SBI.Next(), v.disks.next()) }

// Wake is the next event that can raise an interrupt, the timer's being enabled or not.
func (v *RISCV64Virt) Wake(timer bool) uint64 {
	if timer {
		return v.Next()
	}
	return v.disks.next()
}

// Poll carries out what is due.
func (v *RISCV64Virt) Poll() {
	v.SBI.Poll()
	v.disks.poll()
}

// Save writes the state of all devices.
func (v *RISCV64Virt) Save(w io.Writer) error { return saveAll(w, v.parts) }

// Load reads what Save wrote. The interrupt controller comes last: what the others do to
// its lines meanwhile is of no account.
func (v *RISCV64Virt) Load(r io.Reader) error { return loadAll(r, v.parts) }
