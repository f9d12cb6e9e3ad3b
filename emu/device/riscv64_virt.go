package device

import "io"

// A RISCV64Virt is the devices of the riscv64 machine, wired as in QEMU's virt machine with
// a second serial port. With firmware, which is ours, the timer belongs to that; without,
// there are a CLINT and a register to end by, and machine mode is the guest's.
//
//	SBI or CLINT -timers, software-> CPUs
//	disks -----1 to 8---> PLIC ----> CPUs (external interrupts of the machine, the supervisor)
//	UART 0, 1 --10, 12----^
type RISCV64Virt struct {
	Bus   MemBus
	SBI   *SBI   // nil without firmware
	CLINT *CLINT // nil with firmware
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

	RISCV64CLINT    = 0x02000000
	RISCV64Finisher = 0x00100000

	RISCV64Virtio       = 0x10001000
	RISCV64VirtioStride = 0x1000
	RISCV64VirtioIRQ    = 1
)

// RISCV64Lines are the interrupts of a CPU; those of the machine are nil with firmware.
type RISCV64Lines struct {
	External, Timer, Software                      Line // of the supervisor
	MachineExternal, MachineTimer, MachineSoftware Line
}

type noLine struct{}

func (noLine) Set(bool) {}

// A RISCV64CPU is a CPU of a machine with our firmware. Control is as that of SBIHart.
type RISCV64CPU struct {
	RISCV64Lines
	Control HartControl
}

// NewRISCV64Virt makes the devices of a machine with our firmware.
func NewRISCV64Virt(h Host, cpus []RISCV64CPU) *RISCV64Virt {
	var harts []SBIHart
	var contexts []Line
	for _, c := range cpus {
		harts = append(harts, SBIHart{c.Timer, c.Software, c.Control})
		contexts = append(contexts, noLine{}, c.External)
	}
	v := &RISCV64Virt{SBI: NewSBI(h.Clock, harts, h.Console, h.End), PLIC: NewPLIC(contexts...)}
	return v.wire(h, v.SBI)
}

// NewBareRISCV64Virt makes those of a machine without.
func NewBareRISCV64Virt(h Host, cpus ...RISCV64Lines) *RISCV64Virt {
	var contexts []Line
	for _, c := range cpus {
		contexts = append(contexts, c.MachineExternal, c.External)
	}
	v := &RISCV64Virt{CLINT: NewCLINT(h.Clock, cpus...), PLIC: NewPLIC(contexts...)}
	v.Bus.Mount(RISCV64CLINT, CLINTSize, v.CLINT.Registers())
	v.Bus.Mount(RISCV64Finisher, FinisherSize, NewFinisher(h.End))
	return v.wire(h, v.CLINT)
}

// wire makes what they share. Timer is whose state comes first.
func (v *RISCV64Virt) wire(h Host, timer State) *RISCV64Virt {
	v.UARTs[0] = NewDirectUART(v.PLIC.Line(RISCV64UARTIRQ), h.Console)
	v.UARTs[1] = NewDirectUART(v.PLIC.Line(RISCV64UART2IRQ), h.Control)
	v.Bus.Mount(RISCV64PLIC, PLICSize, v.PLIC.Registers())
	v.Bus.Mount(RISCV64UART, RISCV64UARTSize, InMemory(v.UARTs[0]))
	v.Bus.Mount(RISCV64UART2, RISCV64UARTSize, InMemory(v.UARTs[1]))
	v.disks = newDisks(h, RISCV64Virtio, RISCV64VirtioStride,
		func(n int) Line { return v.PLIC.Line(RISCV64VirtioIRQ + n) }, &v.Bus)
	v.parts = append([]State{timer, v.UARTs[0], v.UARTs[1]}, append(v.disks.states(), v.PLIC)...)
	return v
}

// Next is the time of the next event that a hart has to see to.
func (v *RISCV64Virt) Next(hart int) uint64 { return v.Wake(hart, true, true) }

// Wake is the next event that can raise an interrupt of a hart, while those of the machine's and the
// supervisor's timer are enabled or not.
func (v *RISCV64Virt) Wake(hart int, machine, supervisor bool) uint64 {
	at := v.disks.next()
	switch {
	case v.CLINT != nil:
		at = min(at, v.CLINT.Hart(hart).Next(machine, supervisor))
	case supervisor:
		at = min(at, v.SBI.Next(hart))
	}
	return at
}

// Poll carries out what is due, as far as a hart sees to it.
func (v *RISCV64Virt) Poll(hart int) {
	if v.CLINT != nil {
		v.CLINT.Hart(hart).Poll()
	} else {
		v.SBI.Poll(hart)
	}
	v.disks.poll()
}

// Save writes the state of all devices.
func (v *RISCV64Virt) Save(w io.Writer) error { return saveAll(w, v.parts) }

// Parse reads what Save wrote. The interrupt controller comes last: what the others do to
// its lines meanwhile is of no account.
func (v *RISCV64Virt) Parse(r io.Reader, now uint64) (set func(), err error) {
	return parseAll(r, now, v.parts)
}
