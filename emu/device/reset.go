package device

import "io"

// A Reset is the two ways of a PC to reset the processor by a port: the keyboard
// controller's pulse of its reset line (0xfe to port 0x64) and the chipset's reset control
// register at 0xcf9.
type Reset struct {
	reset   func(reason string)
	control uint8 // register 0xcf9
}

// NewReset makes the ports; reset is called, with what the guest did in a few words, at
// each reset. It is called in the middle of an access: it should note the fact.
func NewReset(reset func(reason string)) *Reset { return &Reset{reset: reset} }

// Keyboard is the command port of the keyboard controller (0x64). It reads as if there
// were none, so that no guest waits for a keyboard.
func (r *Reset) Keyboard() Ports { return keyboardPort{r} }

// Control is the reset control register (0xcf9).
func (r *Reset) Control() Ports { return controlPort{r} }

// Save writes the reset control register.
func (r *Reset) Save(w io.Writer) error { return save(w, "reset register", &r.control) }

// Parse reads what Save wrote.
func (r *Reset) Parse(rd io.Reader, _ uint64) (set func(), err error) {
	return parse(rd, "reset register", &r.control, anything)
}

type keyboardPort struct{ *Reset }

func (keyboardPort) In(uint16, int) uint32 { return 0xff }

func (k keyboardPort) Out(_ uint16, _ int, value uint32) {
	if uint8(value) == 0xfe {
		k.reset("keyboard controller (port 0x64)")
	}
}

type controlPort struct{ *Reset }

// Bits of the reset control register.
const (
	controlFull  = 1 << 1 // the platform, not only the processor
	controlReset = 1 << 2 // its rise resets
)

func (c controlPort) In(uint16, int) uint32 { return uint32(c.control) }

func (c controlPort) Out(_ uint16, _ int, value uint32) {
	before := c.control
	c.control = uint8(value)
	switch {
	case before&controlReset != 0 || c.control&controlReset == 0:
	case c.control&controlFull != 0:
		c.reset("hard reset (port 0xcf9)")
	default:
		c.reset("soft reset (port 0xcf9)")
	}
}
