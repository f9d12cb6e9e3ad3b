package device

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Memory is the RAM of a machine at its physical addresses, as devices reach it.
type Memory interface {
	// Read fills p from pa, Write stores p at pa; false if that is not all RAM.
	Read(pa uint64, p []byte) bool
	Write(pa uint64, p []byte) bool
}

// A virtqueue is the device's side of a split virtqueue (Virtio 1.2, 2.7): three tables
// in the guest's memory, any of which may hold nonsense.
//
//	available ring --head--> descriptor --next--> descriptor ...   a chain of buffers
//	                             '--indirect--> a table of descriptors of its own
//	used ring <--head, bytes written-- when the device is done with the chain
type virtqueue struct {
	Size                     uint32 // descriptors; a power of two
	Ready                    uint32
	Table, Available, UsedAt uint64 // physical addresses
	Next                     uint16 // index of the available entry to be taken next
	Used                     uint16 // index of the used entry to be written next
}

const maxQueue = 1024 // descriptors, of a queue and of an indirect table

// A buffer is a piece of the guest's memory, to be read or to be written by the device.
type buffer struct {
	addr  uint64
	size  uint32
	write bool
}

// A descriptor is 16 bytes: addr, len, flags, next (2.7.5).
type descriptor struct {
	buffer
	flags, next uint16
}

const (
	descriptorSize = 16
	descNext       = 1 << 0 // flags: next is valid
	descWrite      = 1 << 1 // it is for the device to write
	descIndirect   = 1 << 2 // it is a table of descriptors

	noInterrupt = 1 << 0 // flag of the available ring (2.7.7)
)

// errOutside is wrapped by errors about rings that are not in RAM.
var errOutside = errors.New("it is not in memory")

// usable says whether the driver has set the queue up as it must be.
func (q *virtqueue) usable() error {
	if q.Size == 0 || q.Size > maxQueue || q.Size&(q.Size-1) != 0 {
		return fmt.Errorf("a virtqueue of %d descriptors", q.Size)
	}
	return nil
}

func half(mem Memory, pa uint64) (uint16, error) {
	var b [2]byte
	if !mem.Read(pa, b[:]) {
		return 0, fmt.Errorf("reading a virtqueue at %#x: %w", pa, errOutside)
	}
	return binary.LittleEndian.Uint16(b[:]), nil
}

// head is the chain to be taken next; ok is false if there is none.
func (q *virtqueue) head(mem Memory) (head uint16, ok bool, err error) {
	index, err := half(mem, q.Available+2)
	if err != nil || index == q.Next {
		return 0, false, err
	}
	if uint32(index-q.Next) > q.Size {
		return 0, false, fmt.Errorf("%d chains are available in a virtqueue of %d", index-q.Next, q.Size)
	}
	head, err = half(mem, q.Available+4+2*uint64(uint32(q.Next)%q.Size))
	return head, err == nil, err
}

// chain follows a chain from its head. It has no more buffers than maxQueue, and those to
// be read come before those to be written (2.7.4).
func (q *virtqueue) chain(mem Memory, head uint16) ([]buffer, error) {
	d, err := readDescriptor(mem, q.Table, q.Size, head)
	if err != nil {
		return nil, err
	}
	if d.flags&descIndirect == 0 {
		return follow(mem, q.Table, q.Size, d)
	}
	n := d.size / descriptorSize
	if d.flags&descNext != 0 || d.size%descriptorSize != 0 || n == 0 || n > maxQueue {
		return nil, fmt.Errorf("an indirect table of %d bytes", d.size)
	}
	first, err := readDescriptor(mem, d.addr, n, 0)
	if err != nil {
		return nil, err
	}
	return follow(mem, d.addr, n, first)
}

// follow collects the buffers of a chain in a table of n descriptors.
func follow(mem Memory, table uint64, n uint32, d descriptor) (chain []buffer, err error) {
	for {
		switch {
		case d.flags&descIndirect != 0:
			return nil, errors.New("an indirect table within a chain")
		case uint32(len(chain)) == n:
			return nil, errors.New("a chain of descriptors without end")
		case len(chain) > 0 && chain[len(chain)-1].write && !d.write:
			return nil, errors.New("a buffer to be read behind one to be written")
		}
		chain = append(chain, d.buffer)
		if d.flags&descNext == 0 {
			return chain, nil
		}
		if d, err = readDescriptor(mem, table, n, d.next); err != nil {
			return nil, err
		}
	}
}

func readDescriptor(mem Memory, table uint64, n uint32, index uint16) (descriptor, error) {
	var b [descriptorSize]byte
	if uint32(index) >= n {
		return descriptor{}, fmt.Errorf("descriptor %d of %d", index, n)
	}
	if !mem.Read(table+descriptorSize*uint64(index), b[:]) {
		return descriptor{}, fmt.Errorf("reading descriptor %d at %#x: %w", index, table, errOutside)
	}
	le := binary.LittleEndian
	flags := le.Uint16(b[12:])
	return descriptor{buffer{le.Uint64(b[:]), le.Uint32(b[8:]), flags&descWrite != 0}, flags, le.Uint16(b[14:])}, nil
}

// finish takes the chain at head off the available ring and gives it back, n bytes of it
// having been written (2.7.8). It reports whether the driver wants to be interrupted.
func (q *virtqueue) finish(mem Memory, head uint16, n uint32) (interrupt bool, err error) {
	le := binary.LittleEndian
	entry := le.AppendUint32(le.AppendUint32(nil, uint32(head)), n)
	if !mem.Write(q.UsedAt+4+8*uint64(uint32(q.Used)%q.Size), entry) {
		return false, fmt.Errorf("writing the used ring at %#x: %w", q.UsedAt, errOutside)
	}
	q.Next++
	q.Used++
	if !mem.Write(q.UsedAt+2, le.AppendUint16(nil, q.Used)) {
		return false, fmt.Errorf("writing the used ring at %#x: %w", q.UsedAt, errOutside)
	}
	flags, err := half(mem, q.Available)
	return flags&noInterrupt == 0, err
}
