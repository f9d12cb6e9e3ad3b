package device

// A Finisher is the register by which a guest without firmware ends: SiFive's test device,
// as in QEMU's virt machine.
type Finisher struct{ end func(Ending) }

// NewFinisher makes one; end is called with how the guest wants to end.
func NewFinisher(end func(Ending)) Finisher { return Finisher{end} }

// What is written to it. A failure has a code in its upper half, which is not looked at.
const (
	finishFail       = 0x3333
	FinisherPowerOff = 0x5555
	FinisherReset    = 0x7777

	// FinisherSize is the range of addresses in bytes.
	FinisherSize = 0x1000
)

// Load reads as zero.
func (Finisher) Load(uint64, int) uint32 { return 0 }

// Store ends the guest.
func (f Finisher) Store(offset uint64, _ int, v uint32) {
	if offset != 0 {
		return
	}
	switch v & 0xffff {
	case finishFail, FinisherPowerOff:
		f.end(PowerOff)
	case FinisherReset:
		f.end(Reboot)
	}
}
