package device

import "io"

// A PC is the devices of the amd64 machine, wired as in an IBM PC/AT:
//
//	PIT channel 0 --IRQ 0--> PIC --> INTR of the CPU
//	COM1, COM2 ----IRQ 4, 3--^
//	PIT channel 2 <--> port 0x61
//
// With several CPUs each has a local APIC, and INTR is LINT0 of all of them. Where there is an I/O APIC
// as well, the lines go to its pins of the same numbers, but for the timer's, which goes to pin 2.
// There is no keyboard and no PCI: a kernel finds none and does without.
type PC struct {
	Bus  PortBus // the CPU's I/O ports
	PIC  *PIC
	PIT  *PIT
	COM1 *UART // the console
	COM2 *UART // the control channel

	LAPICs []*LAPIC // of several CPUs
	IOAPIC *IOAPIC  // nil for none
	Mem    MemBus

	parts []State
}

// NewPC makes the devices. Intr is the interrupt line of the CPU, com1 and com2 take
// what the guest sends, reset is called with the reason when the guest resets the machine.
func NewPC(clock Clock, intr Line, com1, com2 func(byte), reset func(reason string)) *PC {
	pic := NewPIC(intr)
	return wirePC(clock, pic, pic.Line, com1, com2, reset)
}

// NewSMP makes the devices of a machine with several CPUs. Clock is the time as all of them see it,
// own that of the CPU that reaches its local APIC; current is that CPU's number. Ioapic adds an I/O
// APIC. Power is called when the guest switches the machine off.
func NewSMP(clock, own Clock, cpus []LAPICCPU, current func() int, ioapic bool, com1, com2 func(byte),
	reset func(reason string), power func(Ending)) *PC {
	all, pic := NewLAPICs(own, cpus)
	lines := pic.Line
	var io *IOAPIC
	if ioapic {
		io = NewIOAPIC(all)
		lines = func(irq int) Line { return bothLines{pic.Line(irq), io.Line(ioapicPin(irq))} }
	}
	pc := wirePC(clock, pic, lines, com1, com2, reset)
	pc.LAPICs, pc.IOAPIC = all, io
	pc.Mem.Mount(LAPICBase, LAPICSize, LAPICRegisters(all, current))
	acpi := NewACPIPower(power)
	pc.Bus.Mount(ACPIPorts, 6, 2, acpi)
	pc.parts = append(pc.parts, acpi)
	if io != nil {
		pc.Mem.Mount(IOAPICBase, IOAPICSize, io)
		pc.parts = append(pc.parts, io)
	}
	for _, a := range all {
		pc.parts = append(pc.parts, a)
	}
	return pc
}

// ioapicPin is where an interrupt of the ISA bus arrives at the I/O APIC.
func ioapicPin(irq int) int {
	if irq == 0 {
		return 2
	}
	return irq
}

// bothLines is a line to two inputs.
type bothLines [2]Line

func (l bothLines) Set(high bool) {
	l[0].Set(high)
	l[1].Set(high)
}

func wirePC(clock Clock, pic *PIC, line func(irq int) Line, com1, com2 func(byte), reset func(reason string)) *PC {
	pit := NewPIT(line(0), clock)
	pc := &PC{
		PIC: pic, PIT: pit,
		COM1: NewUART(line(4), com1),
		COM2: NewUART(line(3), com2),
	}
	rtc, speaker, rst := NewRTC(clock), NewPort61(pit, clock), NewReset(reset)

	pc.Bus.Mount(0x20, 2, 1, pic.Master())
	pc.Bus.Mount(0x40, 4, 1, pit)
	pc.Bus.Mount(0x61, 1, 1, speaker)
	pc.Bus.Mount(0x64, 1, 1, rst.Keyboard())
	pc.Bus.Mount(0x70, 2, 1, rtc)
	pc.Bus.Mount(0xa0, 2, 1, pic.Slave())
	pc.Bus.Mount(0x2f8, 8, 1, pc.COM2)
	pc.Bus.Mount(0x3f8, 8, 1, pc.COM1)
	pc.Bus.Mount(0x4d0, 2, 1, pic.ELCR())
	pc.Bus.Mount(0xcf9, 1, 1, rst.Control())

	pc.parts = []State{pit, pc.COM1, pc.COM2, rtc, speaker, rst, pic}
	return pc
}

// Next is the time of the next event of any device, or Never. It may change with each
// access to a port.
func (pc *PC) Next() uint64 { return pc.PIT.Next() }

// Wake is Next as far as an interrupt can come of it: Never while the interrupt
// controller masks the timer's line. A CPU that waits then waits for ever.
func (pc *PC) Wake() uint64 {
	if pc.PIC.Masked(0) && (pc.IOAPIC == nil || pc.IOAPIC.Masked(ioapicPin(0))) {
		return Never
	}
	return pc.PIT.Next()
}

// Poll carries out what is due.
func (pc *PC) Poll() { pc.PIT.Poll() }

// NextOf is Next for what one of several CPUs sees to. Devices on the 8259 pair are CPU 0's.
func (pc *PC) NextOf(cpu int) uint64 {
	if cpu == 0 {
		return min(pc.PIT.Next(), pc.LAPICs[cpu].Next())
	}
	return pc.LAPICs[cpu].Next()
}

// WakeOf is Wake for one of several CPUs.
func (pc *PC) WakeOf(cpu int) uint64 {
	if cpu == 0 {
		return min(pc.Wake(), pc.LAPICs[cpu].Next())
	}
	return pc.LAPICs[cpu].Next()
}

// PollOf is Poll for one of several CPUs.
func (pc *PC) PollOf(cpu int) {
	if cpu == 0 {
		pc.Poll()
	}
	pc.LAPICs[cpu].Poll()
}

// Save writes the state of all devices.
func (pc *PC) Save(w io.Writer) error { return saveAll(w, pc.parts) }

// Parse reads what Save wrote. The interrupt controllers come last: what the others do to
// their lines meanwhile is of no account.
func (pc *PC) Parse(r io.Reader, now uint64) (set func(), err error) {
	return parseAll(r, now, pc.parts)
}
