package device

import "io"

// Port61 is the PC's system control port B, at 0x61: the gate of PIT channel 2 (bit 0)
// and the speaker (bit 1) can be written; the memory refresh, which toggles every 18 PIT
// ticks (bit 4), and the output of channel 2 (bit 5) only read. Guests time their delay
// loops by both.
type Port61 struct {
	pit     *PIT
	clock   Clock
	control uint8 // bits 0 to 3 as written
}

// NewPort61 makes the port with the gate closed.
func NewPort61(pit *PIT, clock Clock) *Port61 { return &Port61{pit: pit, clock: clock} }

// refreshTicks is half the period of the refresh signal, 15 µs.
const refreshTicks = 18

// In reads the port.
func (p *Port61) In(uint16, int) uint32 {
	v := uint32(p.control)
	v |= uint32(ticks(p.clock.Now())/refreshTicks&1) << 4
	if p.pit.Output() {
		v |= 1 << 5
	}
	return v
}

// Out writes the port.
func (p *Port61) Out(_ uint16, _ int, value uint32) {
	p.control = uint8(value & 0xf)
	p.pit.SetGate(value&1 != 0)
}

// Save writes the control bits; the gate is saved with the PIT.
func (p *Port61) Save(w io.Writer) error { return save(w, "port 0x61", &p.control) }

// Parse reads what Save wrote.
func (p *Port61) Parse(r io.Reader, _ uint64) (set func(), err error) {
	return parse(r, "port 0x61", &p.control, func(v *uint8) bool { return *v <= 0xf })
}
