// Package buffer holds what clauses have recorded until the consumer takes it: for each
// CPU a buffer of records, each a header and the values of one clause in the fixed places
// of its Layout.
//
//	epid uint32 | spare uint32 | time uint64 | value | value | ...
//
// All numbers are little-endian.
package buffer

import (
	"encoding/binary"
	"fmt"
)

// HeaderSize is the bytes of a record's header. Values follow it.
const HeaderSize = 16

// A Header starts every record.
type Header struct {
	EPID uint32 // number of the enabling: which clause at which probe; never 0
	Time uint64 // of the firing, in virtual nanoseconds
}

// A Buffer is the buffer of one CPU. A producer calls Reserve, fills the record in, and
// calls Commit, or not when the record is to be forgotten. The memory is taken once.
type Buffer struct {
	CPU int
	// Drops counts records that found no room.
	Drops uint64
	// OnFull, if set, is called when a record does not fit behind the others: it is to
	// read the records and call Reset, so that nothing is lost.
	OnFull func(*Buffer)

	data []byte
	used int // bytes of whole records
}

// New makes an empty buffer of size bytes for one CPU.
func New(cpu, size int) *Buffer {
	return &Buffer{CPU: cpu, data: make([]byte, size)}
}

// Reserve gives the room for the next record of n bytes, header included, or nil and a
// drop when there is none. The room holds what was there before. It is valid until the
// next call of a method.
func (b *Buffer) Reserve(n int) []byte {
	if n > len(b.data)-b.used && !b.drain(n) {
		b.Drops++
		return nil
	}
	return b.data[b.used : b.used+n : b.used+n]
}

func (b *Buffer) drain(n int) bool {
	if b.OnFull == nil || n > len(b.data) {
		return false
	}
	b.OnFull(b)
	return n <= len(b.data)-b.used
}

// Commit makes the record of n bytes that Reserve gave room for part of the buffer.
func (b *Buffer) Commit(n int, h Header) {
	p := b.data[b.used:]
	binary.LittleEndian.PutUint32(p, h.EPID)
	binary.LittleEndian.PutUint32(p[4:], 0)
	binary.LittleEndian.PutUint64(p[8:], h.Time)
	b.used += n
}

// Len is the bytes of the records that wait.
func (b *Buffer) Len() int { return b.used }

// Full says that the buffer is three quarters full: time to read it.
func (b *Buffer) Full() bool { return b.used > len(b.data)/4*3 }

// Reset forgets all records. Drops stay.
func (b *Buffer) Reset() { b.used = 0 }

// Records calls yield for each record, oldest first: its header and the whole of it,
// valid during the call. layout gives the layout that a record with this number was made
// with. It stops at yield's first error, and fails on a number that layout does not know.
func (b *Buffer) Records(layout func(epid uint32) *Layout, yield func(Header, []byte) error) error {
	for p := b.data[:b.used]; len(p) > 0; {
		h := Header{binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint64(p[8:])}
		l := layout(h.EPID)
		if l == nil || l.Size > len(p) {
			return fmt.Errorf("reading the buffer of CPU %d: no record of enabling %d", b.CPU, h.EPID)
		}
		if err := yield(h, p[:l.Size:l.Size]); err != nil {
			return err
		}
		p = p[l.Size:]
	}
	return nil
}
