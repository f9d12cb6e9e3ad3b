package device

import "io"

// IOAPICBase is where the I/O APIC is, and IOAPICSize its bytes.
const (
	IOAPICBase = 0xfec00000
	IOAPICSize = 0x1000
)

// IOAPICPins is how many inputs an I/O APIC has.
const IOAPICPins = 24

// An IOAPIC passes the interrupts of devices on to local APICs, each as its entry in the redirection
// table says (Intel 82093AA, chapter 3). An entry may ask for a level, but no device of ours is
// shared: a pin is served when it rises, and when it is unmasked while it is high.
type IOAPIC struct {
	all []*LAPIC
	r   ioapic
}

// ioapic is the state of one.
type ioapic struct {
	Select uint8
	ID     uint32
	Lines  uint32 // levels of the pins
	Table  [IOAPICPins]uint64
}

// Its registers in memory, and those that are reached through them.
const (
	ioapicSelect = 0x00
	ioapicWindow = 0x10

	ioapicID      = 0x00
	ioapicVersion = 0x01
	ioapicTable   = 0x10 // two for each entry
)

// Bits of an entry.
const (
	redirectLogical  = 1 << 11
	redirectMasked   = 1 << 16
	redirectWritable = 0xff<<56 | 0x1afff // destination; mask, trigger, polarity, mode, delivery, vector
	redirectTo       = 56
)

// ioapicKind is the version of the 82093AA, with its highest entry.
const ioapicKind = 0x11 | (IOAPICPins-1)<<16

// NewIOAPIC makes an I/O APIC for these local APICs, with the next ID, as firmware leaves it: all pins
// are masked.
func NewIOAPIC(all []*LAPIC) *IOAPIC {
	a := &IOAPIC{all: all, r: ioapic{ID: uint32(len(all)) << 24}}
	for i := range a.r.Table {
		a.r.Table[i] = redirectMasked
	}
	return a
}

// Line is pin n, for a device to drive.
func (a *IOAPIC) Line(n int) Line { return ioapicLine{a, n} }

type ioapicLine struct {
	apic *IOAPIC
	n    int
}

func (l ioapicLine) Set(high bool) {
	bit := uint32(1) << l.n
	rises := high && l.apic.r.Lines&bit == 0
	l.apic.r.Lines &^= bit
	if high {
		l.apic.r.Lines |= bit
	}
	if rises {
		l.apic.deliver(l.n)
	}
}

// deliver sends the interrupt of a pin.
func (a *IOAPIC) deliver(n int) {
	e := a.r.Table[n]
	if e&redirectMasked != 0 {
		return
	}
	to := e >> redirectTo
	deliverTo(a.all, uint32(e), func(l *LAPIC) bool { return l.isTarget(uint32(to), e&redirectLogical != 0) })
}

// Masked reports whether the interrupt of pin n is held back.
func (a *IOAPIC) Masked(n int) bool { return a.r.Table[n]&redirectMasked != 0 }

// Load reads a register.
func (a *IOAPIC) Load(offset uint64, _ int) uint32 {
	switch offset {
	case ioapicSelect:
		return uint32(a.r.Select)
	case ioapicWindow:
		return a.read()
	}
	return 0
}

func (a *IOAPIC) read() uint32 {
	switch i := int(a.r.Select) - ioapicTable; {
	case a.r.Select == ioapicID:
		return a.r.ID
	case a.r.Select == ioapicVersion:
		return ioapicKind
	case i >= 0 && i < 2*IOAPICPins:
		return uint32(a.r.Table[i/2] >> (32 * (i % 2)))
	}
	return 0
}

// Store writes a register.
func (a *IOAPIC) Store(offset uint64, _ int, v uint32) {
	switch offset {
	case ioapicSelect:
		a.r.Select = uint8(v)
	case ioapicWindow:
		a.write(v)
	}
}

func (a *IOAPIC) write(v uint32) {
	i := int(a.r.Select) - ioapicTable
	if a.r.Select == ioapicID {
		a.r.ID = v & (0xf << 24)
	}
	if i < 0 || i >= 2*IOAPICPins {
		return
	}
	e, shift := &a.r.Table[i/2], 32*(i%2)
	before := *e
	*e = (before&^(0xffffffff<<shift) | uint64(v)<<shift) & redirectWritable
	if unmasked := before&redirectMasked != 0 && *e&redirectMasked == 0; unmasked && a.r.Lines>>(i/2)&1 != 0 {
		a.deliver(i / 2)
	}
}

// Save writes the state.
func (a *IOAPIC) Save(w io.Writer) error { return save(w, "I/O APIC", &a.r) }

// Parse reads what Save wrote.
func (a *IOAPIC) Parse(r io.Reader, _ uint64) (set func(), err error) {
	return parse(r, "I/O APIC", &a.r, func(s *ioapic) bool {
		for _, e := range s.Table {
			if e&^redirectWritable != 0 {
				return false
			}
		}
		return s.Lines>>IOAPICPins == 0 && s.ID&^(0xf<<24) == 0
	})
}
