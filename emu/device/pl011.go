package device

import (
	"fmt"
	"io"
)

// A PL011 is an Arm PrimeCell UART (ARM DDI 0183). As with the 16550 here, the line has no
// speed: what the guest sends is gone at once, and bytes from the host wait in front of
// the receiver's FIFO, which takes the next ones when the guest has emptied it.
type PL011 struct {
	irq  Line
	send func(byte)
	pl011Regs
	in   []byte // what the guest has yet to read, the FIFO first
	fifo int    // how many bytes of in are in the FIFO
}

type pl011Regs struct {
	IBRD, FBRD, LCR, CR, IFLS, IMSC, DMACR uint32
	Sent                                   bool // the transmitter's interrupt stands
}

// Offsets of the registers.
const (
	pl011DR, pl011RSR, pl011FR                                = 0x00, 0x04, 0x18
	pl011IBRD, pl011FBRD, pl011LCR, pl011CR                   = 0x24, 0x28, 0x2c, 0x30
	pl011IFLS, pl011IMSC, pl011RIS, pl011MIS, pl011ICR        = 0x34, 0x38, 0x3c, 0x40, 0x44
	pl011DMACR, pl011ID                                       = 0x48, 0xfe0
	pl011ReceiveEmpty, pl011SendEmpty                         = 1 << 4, 1 << 7 // FR
	pl011FIFOs                                                = 1 << 4         // LCR
	pl011Enable, pl011SendEnable, pl011ReceiveEnable          = 1 << 0, 1 << 8, 1 << 9
	pl011IntReceive, pl011IntSend, pl011IntTimeout            = 1 << 4, 1 << 5, 1 << 6
	pl011AllInts                                       uint32 = 0x7ff
)

// PL011Size is the bytes of the registers.
const PL011Size = 0x1000

// pl011IDs are the PrimeCell identification registers.
var pl011IDs = [8]uint8{0x11, 0x10, 0x14, 0x00, 0x0d, 0xf0, 0x05, 0xb1}

// NewPL011 makes a port that drives irq and hands each byte the guest sends to send.
func NewPL011(irq Line, send func(byte)) *PL011 {
	return &PL011{irq: irq, send: send, pl011Regs: pl011Regs{CR: pl011SendEnable | pl011ReceiveEnable, IFLS: 0x12}}
}

// Receive sends p to the guest, after all that was sent before.
func (u *PL011) Receive(p []byte) {
	u.in = append(u.in, p...)
	u.refill()
	u.update()
}

// Registers are the port's registers in memory.
func (u *PL011) Registers() Mem { return pl011Mem{u} }

type pl011Mem struct{ u *PL011 }

func (m pl011Mem) Load(offset uint64, _ int) uint32 {
	u := m.u
	switch offset {
	case pl011DR:
		return uint32(u.readData())
	case pl011FR:
		return u.flags()
	case pl011IBRD:
		return u.IBRD
	case pl011FBRD:
		return u.FBRD
	case pl011LCR:
		return u.LCR
	case pl011CR:
		return u.CR
	case pl011IFLS:
		return u.IFLS
	case pl011IMSC:
		return u.IMSC
	case pl011RIS:
		return u.raised()
	case pl011MIS:
		return u.raised() & u.IMSC
	case pl011DMACR:
		return u.DMACR
	}
	if n := (offset - pl011ID) / 4; n < uint64(len(pl011IDs)) {
		return uint32(pl011IDs[n])
	}
	return 0
}

func (m pl011Mem) Store(offset uint64, _ int, v uint32) {
	u := m.u
	switch offset {
	case pl011DR:
		u.send(byte(v))
		u.Sent = true
	case pl011IBRD:
		u.IBRD = v & 0xffff
	case pl011FBRD:
		u.FBRD = v & 0x3f
	case pl011LCR:
		u.LCR = v & 0xff
	case pl011CR:
		u.CR = v & 0xffff
	case pl011IFLS:
		u.IFLS = v & 0x3f
	case pl011IMSC:
		u.IMSC = v & pl011AllInts
	case pl011ICR: // those of the receiver stand as long as their reason does
		u.Sent = u.Sent && v&pl011IntSend == 0
	case pl011DMACR:
		u.DMACR = v & 7
	}
	u.refill()
	u.update()
}

func (u *PL011) readData() byte {
	if u.fifo == 0 {
		return 0
	}
	b := u.in[0]
	u.in = u.in[1:]
	u.fifo--
	u.update() // the line falls before the next byte comes
	u.refill()
	u.update()
	return b
}

// flags: the transmitter is always empty.
func (u *PL011) flags() uint32 {
	if u.fifo == 0 {
		return pl011SendEmpty | pl011ReceiveEmpty
	}
	return pl011SendEmpty
}

// refill moves bytes into an empty FIFO once the guest has enabled the receiver.
func (u *PL011) refill() {
	const on = pl011Enable | pl011ReceiveEnable
	if u.fifo == 0 && u.CR&on == on {
		u.fifo = min(len(u.in), u.depth())
	}
	if len(u.in) == 0 {
		u.in = nil // do not keep what has been read
	}
}

func (u *PL011) depth() int {
	if u.LCR&pl011FIFOs == 0 {
		return 1
	}
	return fifoSize
}

// trigger is the number of bytes at which the receiver's interrupt is raised; fewer raise
// its timeout, at once: no more can come.
func (u *PL011) trigger() int {
	if u.LCR&pl011FIFOs == 0 {
		return 1
	}
	eighths := [8]int{1, 2, 4, 6, 7, 7, 7, 7}
	return fifoSize * eighths[u.IFLS>>3&7] / 8
}

func (u *PL011) raised() (v uint32) {
	switch {
	case u.fifo >= u.trigger():
		v = pl011IntReceive
	case u.fifo > 0:
		v = pl011IntTimeout
	}
	if u.Sent {
		v |= pl011IntSend
	}
	return v
}

func (u *PL011) update() { u.irq.Set(u.raised()&u.IMSC != 0) }

// Save writes the registers and the bytes that wait.
func (u *PL011) Save(w io.Writer) error {
	if err := save(w, "PL011", &u.pl011Regs); err != nil {
		return err
	}
	if err := save(w, "PL011", &[2]uint32{uint32(u.fifo), uint32(len(u.in))}); err != nil {
		return err
	}
	if _, err := w.Write(u.in); err != nil {
		return fmt.Errorf("saving the PL011: %w", err)
	}
	return nil
}

// Parse reads what Save wrote; set drives the interrupt line accordingly.
func (u *PL011) Parse(r io.Reader, _ uint64) (set func(), err error) {
	regs, err := parse(r, "PL011", &u.pl011Regs, (*pl011Regs).sound)
	if err != nil {
		return nil, err
	}
	fifo, in, err := parseBytes(r, "PL011")
	return func() { regs(); u.fifo, u.in = fifo, in; u.update() }, err
}

// sound: there are no other bits than can be written.
func (r *pl011Regs) sound() bool {
	return r.IBRD <= 0xffff && r.FBRD <= 0x3f && r.LCR <= 0xff && r.CR <= 0xffff && r.IFLS <= 0x3f &&
		r.IMSC&^pl011AllInts == 0 && r.DMACR <= 7
}
