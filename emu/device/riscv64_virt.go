package device

import "io"

// A RISCV64Virt is the devices of the riscv64 machine, wired as in QEMU's virt machine with
// a second serial port:
//
//	SBI --timer, software---------> CPU
//	UART 0, 1 --10, 12--> PLIC ---> CPU (external interrupt of the supervisor)
type RISCV64Virt struct {
	Bus   MemBus
	SBI   *SBI
	PLIC  *PLIC
	UARTs [2]*UART // the console, the control channel

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
)

// RISCV64Lines are the interrupts of the CPU.
type RISCV64Lines struct{ External, Timer, Software Line }

type noLine struct{}

func (noLine) Set(bool) {}

// NewRISCV64Virt makes the devices; com1 and com2 take what the guest sends, end is told
// how the guest wants to end.
func NewRISCV64Virt(clock Clock, cpu RISCV64Lines, com1, com2 func(byte), end func(Ending)) *RISCV64Virt {
	v := &RISCV64Virt{
		SBI:  NewSBI(clock, cpu.Timer, cpu.Software, com1, end),
		PLIC: NewPLIC(noLine{}, cpu.External),
	}
	v.UARTs[0] = NewDirectUART(v.PLIC.Line(RISCV64UARTIRQ), com1)
	v.UARTs[1] = NewDirectUART(v.PLIC.Line(RISCV64UART2IRQ), com2)
	v.Bus.Mount(RISCV64PLIC, PLICSize, v.PLIC.Registers())
	v.Bus.Mount(RISCV64UART, RISCV64UARTSize, InMemory(v.UARTs[0]))
	v.Bus.Mount(RISCV64UART2, RISCV64UARTSize, InMemory(v.UARTs[1]))
	v.parts = []State{v.SBI, v.UARTs[0], v.UARTs[1], v.PLIC}
	return v
}

// Save writes the state of all devices.
func (v *RISCV64Virt) Save(w io.Writer) error { return saveAll(w, v.parts) }

// Load reads what Save wrote. The interrupt controller comes last: what the others do to
// its lines meanwhile is of no account.
func (v *RISCV64Virt) Load(r io.Reader) error { return loadAll(r, v.parts) }

func saveAll(w io.Writer, parts []State) error {
	for _, s := range parts {
		if err := s.Save(w); err != nil {
			return err
		}
	}
	return nil
}

func loadAll(r io.Reader, parts []State) error {
	for _, s := range parts {
		if err := s.Load(r); err != nil {
			return err
		}
	}
	return nil
}
