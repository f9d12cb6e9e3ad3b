package device

import (
	"fmt"
	"io"
	"slices"
)

// A UART is a National 16550A serial port with its FIFOs.
//
// The line has no speed. A byte that the guest sends is gone at once, so the transmitter
// is always empty and its interrupt follows every byte. Bytes from the host wait without
// limit in front of the receiver. When the guest has emptied its FIFO the next up to 16
// (1 without FIFO) are there at once, so what the guest sees depends on what it does and
// on nothing else. The other end minds the flow control: it sends while the guest holds
// RTS up, and not while the port is looped back.
type UART struct {
	irq  Line
	send func(byte)
	uartRegs
	// direct: the interrupt does not go through OUT2, and the other end sends whether RTS
	// is up or not.
	direct bool
	in     []byte // what the guest has yet to read, the FIFO first
	fifo   int    // how many bytes of in are in the FIFO
}

// uartRegs are the registers of fixed size, by their names in the data sheet.
type uartRegs struct {
	IER, LCR, MCR, FCR, SCR uint8
	DLL, DLM                uint8
	Delta                   uint8 // low half of MSR: inputs changed since it was read
	SentAll                 bool  // the transmitter-empty interrupt is due
	Overrun                 bool  // a byte was looped back into a full FIFO
}

// Bits of the registers.
const (
	ierReceive, ierSend, ierLine, ierModem = 1 << 0, 1 << 1, 1 << 2, 1 << 3

	iirModem, iirNone, iirSend, iirReceive, iirLine, iirTimeout = 0x0, 0x1, 0x2, 0x4, 0x6, 0xc

	fcrEnable, fcrClearReceive = 1 << 0, 1 << 1

	lcrDivisor = 1 << 7

	mcrDTR, mcrRTS, mcrOut1, mcrOut2, mcrLoop = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4

	lsrData, lsrOverrun, lsrSendEmpty = 1 << 0, 1 << 1, 1<<5 | 1<<6

	msrCTS, msrDSR, msrRing, msrCarrier = 1 << 4, 1 << 5, 1 << 6, 1 << 7
)

// fifoSize is the receiver's FIFO in bytes.
const fifoSize = 16

// NewUART makes a port that drives irq and hands each byte the guest sends to send.
func NewUART(irq Line, send func(byte)) *UART {
	return &UART{irq: irq, send: send}
}

// NewDirectUART makes a port that is wired as on boards that are no PC: its interrupt does not
// go through OUT2, and there are no lines for flow control.
func NewDirectUART(irq Line, send func(byte)) *UART {
	return &UART{irq: irq, send: send, direct: true}
}

// Receive sends p to the guest, after all that was sent before.
func (u *UART) Receive(p []byte) {
	u.in = append(u.in, p...)
	u.refill()
	u.update()
}

// Waiting is the number of bytes that the guest has not read yet.
func (u *UART) Waiting() int { return len(u.in) }

// In reads the register at offset.
func (u *UART) In(offset uint16, _ int) uint32 {
	return uint32(u.read(offset & 7))
}

// Out writes the register at offset.
func (u *UART) Out(offset uint16, _ int, value uint32) {
	u.write(offset&7, uint8(value))
	u.refill()
	u.update()
}

func (u *UART) read(reg uint16) uint8 {
	switch {
	case reg == 0 && u.divisor():
		return u.DLL
	case reg == 1 && u.divisor():
		return u.DLM
	}
	switch reg {
	case 0:
		return u.readData()
	case 1:
		return u.IER
	case 2:
		return u.readIIR()
	case 3:
		return u.LCR
	case 4:
		return u.MCR
	case 5:
		return u.readLSR()
	case 6:
		return u.readMSR()
	default:
		return u.SCR
	}
}

func (u *UART) write(reg uint16, v uint8) {
	switch {
	case reg == 0 && u.divisor():
		u.DLL = v
		return
	case reg == 1 && u.divisor():
		u.DLM = v
		return
	}
	switch reg {
	case 0:
		u.writeData(v)
	case 1:
		u.writeIER(v)
	case 2:
		u.writeFCR(v)
	case 3:
		u.LCR = v
	case 4:
		u.writeMCR(v)
	case 7:
		u.SCR = v
	}
}

func (u *UART) divisor() bool { return u.LCR&lcrDivisor != 0 }

// readData takes a byte from the FIFO. Emptying it lowers the interrupt line for a
// moment, as the time to the next byte does on a real line: on a controller that is edge
// triggered the next byte is an interrupt of its own.
func (u *UART) readData() uint8 {
	if u.fifo == 0 {
		return 0
	}
	b := u.in[0]
	u.in = u.in[1:]
	u.fifo--
	u.update()
	u.refill()
	u.update()
	return b
}

// writeData sends a byte. The interrupt line falls, as the transmitter is full, and
// rises, as it is empty again.
func (u *UART) writeData(b uint8) {
	u.SentAll = false
	u.update()
	if u.MCR&mcrLoop != 0 {
		u.loop(b)
	} else {
		u.send(b)
	}
	u.SentAll = true
}

// loop receives a byte that the guest has sent to itself.
func (u *UART) loop(b uint8) {
	if u.fifo == u.depth() {
		u.Overrun = true
		return
	}
	u.in = slices.Insert(u.in, u.fifo, b)
	u.fifo++
}

// writeIER enables interrupts; enabling the transmitter's makes it due.
func (u *UART) writeIER(v uint8) {
	if v&ierSend != 0 && u.IER&ierSend == 0 {
		u.SentAll = true
	}
	u.IER = v & (ierReceive | ierSend | ierLine | ierModem)
}

// readIIR identifies the most urgent interrupt. Reading it acknowledges the
// transmitter's, if that is the one.
func (u *UART) readIIR() uint8 {
	id := u.pending()
	if id == iirSend {
		u.SentAll = false
		u.update()
	}
	if u.FCR&fcrEnable != 0 {
		id |= 0xc0
	}
	return id
}

// writeFCR switches the FIFOs. What the receiver holds is lost with a change, or when
// the guest clears it. To a direct port it is sent again: its other end cannot be told to
// wait for a guest that clears the FIFO to begin with.
func (u *UART) writeFCR(v uint8) {
	if v&fcrEnable == 0 {
		v = 0
	}
	if (v^u.FCR)&fcrEnable != 0 || v&fcrClearReceive != 0 {
		if !u.direct || u.MCR&mcrLoop != 0 {
			u.in = u.in[u.fifo:]
		}
		u.fifo = 0
	}
	u.FCR = v
}

func (u *UART) writeMCR(v uint8) {
	before := u.inputs()
	u.MCR = v & 0x1f
	changed := before ^ u.inputs()
	if before&msrRing == 0 { // the bell counts when it stops
		changed &^= msrRing
	}
	u.Delta |= changed >> 4
}

func (u *UART) readLSR() uint8 {
	lsr := uint8(lsrSendEmpty)
	if u.fifo > 0 {
		lsr |= lsrData
	}
	if u.Overrun {
		lsr |= lsrOverrun
		u.Overrun = false
		u.update()
	}
	return lsr
}

func (u *UART) readMSR() uint8 {
	msr := u.inputs() | u.Delta
	u.Delta = 0
	u.update()
	return msr
}

// inputs are the modem's lines: ready, or our own outputs when looped back. Guests tell
// by the latter that a port is there.
func (u *UART) inputs() uint8 {
	if u.MCR&mcrLoop == 0 {
		return msrCTS | msrDSR | msrCarrier
	}
	return u.MCR&mcrRTS<<3 | u.MCR&mcrDTR<<5 | (u.MCR&(mcrOut1|mcrOut2))<<4
}

// refill moves bytes into an empty FIFO if the guest lets them in.
func (u *UART) refill() {
	if u.fifo == 0 && u.MCR&mcrLoop == 0 && (u.direct || u.MCR&mcrRTS != 0) {
		u.fifo = min(len(u.in), u.depth())
	}
	if len(u.in) == 0 {
		u.in = nil // do not keep what has been read
	}
}

// depth is the number of bytes that the receiver can hold.
func (u *UART) depth() int {
	if u.FCR&fcrEnable == 0 {
		return 1
	}
	return fifoSize
}

// trigger is the number of bytes at which data is available. Fewer are reported as a
// character timeout, at once: no more can come.
func (u *UART) trigger() int {
	if u.FCR&fcrEnable == 0 {
		return 1
	}
	return [4]int{1, 4, 8, 14}[u.FCR>>6]
}

// pending is the identification of the most urgent interrupt (data sheet, table 4).
func (u *UART) pending() uint8 {
	switch {
	case u.IER&ierLine != 0 && u.Overrun:
		return iirLine
	case u.IER&ierReceive != 0 && u.fifo >= u.trigger():
		return iirReceive
	case u.IER&ierReceive != 0 && u.fifo > 0:
		return iirTimeout
	case u.IER&ierSend != 0 && u.SentAll:
		return iirSend
	case u.IER&ierModem != 0 && u.Delta != 0:
		return iirModem
	default:
		return iirNone
	}
}

// update drives the interrupt line, which on a PC goes through OUT2.
func (u *UART) update() {
	open := u.MCR&mcrLoop == 0 && (u.direct || u.MCR&mcrOut2 != 0)
	u.irq.Set(open && u.pending() != iirNone)
}

// Save writes the registers and the bytes that wait.
func (u *UART) Save(w io.Writer) error {
	if err := save(w, "16550", &u.uartRegs); err != nil {
		return err
	}
	if err := save(w, "16550", &[2]uint32{uint32(u.fifo), uint32(len(u.in))}); err != nil {
		return err
	}
	if _, err := w.Write(u.in); err != nil {
		return fmt.Errorf("saving the 16550: %w", err)
	}
	return nil
}

// Parse reads what Save wrote; set drives the interrupt line accordingly.
func (u *UART) Parse(r io.Reader, _ uint64) (set func(), err error) {
	regs, err := parse(r, "16550", &u.uartRegs, (*uartRegs).sound)
	if err != nil {
		return nil, err
	}
	fifo, in, err := parseBytes(r, "16550")
	return func() { regs(); u.fifo, u.in = fifo, in; u.update() }, err
}

// sound: there are no other bits than can be written.
func (r *uartRegs) sound() bool { return r.IER <= 0xf && r.MCR <= 0x1f && r.Delta <= 0xf }

// parseBytes reads the bytes that wait in a serial port; the first fifo of them are in its FIFO.
func parseBytes(r io.Reader, name string) (fifo int, in []byte, err error) {
	var n [2]uint32
	if err := load(r, name, &n); err != nil {
		return 0, nil, err
	}
	if n[0] > fifoSize || n[0] > n[1] {
		return 0, nil, fmt.Errorf("loading the %s: the FIFO holds too much", name)
	}
	in, err = io.ReadAll(io.LimitReader(r, int64(n[1])))
	if err == nil && len(in) < int(n[1]) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return 0, nil, fmt.Errorf("loading the %s: %w", name, err)
	}
	return int(n[0]), in, nil
}
