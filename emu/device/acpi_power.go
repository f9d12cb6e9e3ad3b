package device

import "io"

// An ACPIPower is the power management registers of a PC (ACPI Specification 6.5, 4.8.3), six
// ports: two of events, which never happen, and control, which switches the machine off.
type ACPIPower struct {
	end func(Ending)
	r   struct{ Enable, Control uint16 }
}

// ACPIPorts is the first of them.
const ACPIPorts = 0x600

// NewACPIPower makes the registers; end is called when the guest switches the machine off.
func NewACPIPower(end func(Ending)) *ACPIPower { return &ACPIPower{end: end} }

// Offsets of the registers, and bits of the last.
const (
	acpiStatus  = 0
	acpiEnable  = 2
	acpiControl = 4

	acpiMode  = 1 << 0 // events are interrupts of ACPI's, not of firmware's
	acpiSleep = 1 << 13
)

// In reads a register of two bytes.
func (a *ACPIPower) In(offset uint16, _ int) uint32 {
	switch offset {
	case acpiEnable:
		return uint32(a.r.Enable)
	case acpiControl:
		return uint32(a.r.Control | acpiMode)
	}
	return 0
}

// Out writes a register. The only sleep is to be off, whatever its type.
func (a *ACPIPower) Out(offset uint16, _ int, value uint32) {
	switch offset {
	case acpiEnable:
		a.r.Enable = uint16(value)
	case acpiControl:
		a.r.Control = uint16(value) &^ acpiSleep
		if value&acpiSleep != 0 {
			a.end(PowerOff)
		}
	}
}

// Save writes the registers.
func (a *ACPIPower) Save(w io.Writer) error { return save(w, "ACPI registers", &a.r) }

// Parse reads what Save wrote.
func (a *ACPIPower) Parse(r io.Reader, _ uint64) (set func(), err error) {
	return parse(r, "ACPI registers", &a.r, anything)
}
