// Package device holds the devices of the emulated machines: pure Go, no emulator.
//
// A device sees three things of its machine, all handed to it when it is made: an
// interrupt Line that it drives, a Clock that it reads, and the bytes written to or
// read from its registers. It never sleeps and never starts a goroutine: what should
// happen later is an Event, a virtual time at which the machine calls Poll.
package device

import "io"

// Never is the time of an event that is not going to happen.
const Never = ^uint64(0)

// A Line is an interrupt line, driven by one device. Setting it to the level that it
// already has does nothing.
type Line interface {
	Set(high bool)
}

// A Clock has the virtual time of the machine in nanoseconds since its start. It is
// exact at each register access: the same program reads the same values in every run.
type Clock interface {
	Now() uint64
}

// Ports is a device in the x86 I/O address space. Addresses are offsets from where the
// device is mounted, size is 1, 2 or 4 bytes.
type Ports interface {
	In(offset uint16, size int) uint32
	Out(offset uint16, size int, value uint32)
}

// A Timer is a device with something to do at a later time.
type Timer interface {
	// Next is the virtual time in nanoseconds of the next event, or Never.
	Next() uint64
	// Poll carries out what is due at the clock's present time.
	Poll()
}

// State is a device whose state is part of the machine's: two machines with equal state
// go on alike.
type State interface {
	// Save writes it, in a form that depends on nothing else.
	Save(w io.Writer) error
	// Parse reads what Save has written, on a machine whose time was now, in ns. Anyone may
	// have written it: a state that the device cannot be in is an error. The device stays as it
	// is until set is called.
	Parse(r io.Reader, now uint64) (set func(), err error)
}
