// Package buffer holds what clauses have recorded until the consumer takes it: for each
// CPU a buffer of records, each a header and the values of one clause in the fixed places
// of its Layout.
//
//	epid uint32 | time uint64 | value | value | ...
//
// All numbers are little-endian. A header takes as many bytes as in DTrace, so that a buffer of a
// given size holds as many records.
package buffer

import (
	"encoding/binary"
	"fmt"
)

// HeaderSize is the bytes of a record's header. Values follow it.
const HeaderSize = 12

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

	// Policy says what happens when there is no room. It is set before the first record.
	Policy Policy
	// Filled says that a record found no room under the policy Fill; none is taken since.
	Filled bool
	// Reserved is the room that Fill keeps free, in bytes: for the records of END.
	Reserved int

	data  []byte
	used  int   // end of the newest record
	sizes []int // of the records, from old on; oldest first
	old   int
	// A Ring in which records lie in two parts: [first, wrap) and, newer, [0, used).
	first, wrap int
	wrapped     bool
}

// Policy says what becomes of a record that finds no room.
type Policy uint8

// Policies.
const (
	Switch Policy = iota // the buffer is read by OnFull; otherwise the record is dropped
	Fill                 // it is not taken, nor any after it
	Ring                 // the oldest records make room
)

// New makes an empty buffer of size bytes for one CPU.
func New(cpu, size int) *Buffer {
	return &Buffer{CPU: cpu, data: make([]byte, size)}
}

// Reserve gives the room for the next record of n bytes, header included, or nil and a
// drop when there is none. The room holds what was there before. It is valid until the
// next call of a method.
func (b *Buffer) Reserve(n int) []byte {
	if !b.room(n) {
		return nil
	}
	return b.data[b.used : b.used+n : b.used+n]
}

func (b *Buffer) room(n int) bool {
	switch {
	case b.Policy == Fill:
		b.Filled = b.Filled || n > len(b.data)-b.Reserved-b.used
		return !b.Filled
	case b.Policy == Ring && n <= len(b.data):
		b.evict(n)
	case n > len(b.data)-b.used && !b.drain(n):
		b.Drops++
		return false
	}
	return true
}

// evict forgets the oldest records of a ring until there are n bytes behind the newest.
func (b *Buffer) evict(n int) {
	for {
		switch {
		case !b.wrapped && b.used+n <= len(b.data):
			return
		case !b.wrapped:
			b.wrapped, b.first, b.wrap, b.used = true, 0, b.used, 0
		case b.first == b.wrap:
			b.wrapped, b.first = false, 0
		case b.used+n <= b.first:
			return
		default:
			b.first += b.sizes[b.old]
			b.forget()
		}
	}
}

// forget takes the oldest record's size away.
func (b *Buffer) forget() {
	if b.old++; b.old > len(b.sizes)/2 {
		b.sizes = append(b.sizes[:0], b.sizes[b.old:]...)
		b.old = 0
	}
}

// Append adds the records of another buffer; one that finds no room is a drop.
func (b *Buffer) Append(other *Buffer) {
	p := other.data[:other.used]
	for _, n := range other.sizes {
		if rec := b.Reserve(n); rec != nil {
			copy(rec, p[:n])
			b.added(n)
		}
		p = p[n:]
	}
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
	binary.LittleEndian.PutUint64(p[4:], h.Time)
	b.added(n)
}

func (b *Buffer) added(n int) {
	b.used += n
	b.sizes = append(b.sizes, n)
}

// Len is the bytes of the records that wait.
func (b *Buffer) Len() int {
	if b.wrapped {
		return b.used + b.wrap - b.first
	}
	return b.used
}

// Full says that the buffer is three quarters full: time to read it.
func (b *Buffer) Full() bool { return b.used > len(b.data)/4*3 }

// Reset forgets all records. Drops stay.
func (b *Buffer) Reset() {
	b.used, b.wrapped, b.Filled = 0, false, false
	b.sizes, b.old = b.sizes[:0], 0
}

// Records calls yield for each record, oldest first: its header and the whole of it,
// valid during the call. layout gives the layout that a record with this number was made
// with. It stops at yield's first error, and fails on a number that layout does not know.
func (b *Buffer) Records(layout func(epid uint32) *Layout, yield func(Header, []byte) error) error {
	if b.wrapped {
		if err := b.records(b.data[b.first:b.wrap], layout, yield); err != nil {
			return err
		}
	}
	return b.records(b.data[:b.used], layout, yield)
}

func (b *Buffer) records(p []byte, layout func(epid uint32) *Layout, yield func(Header, []byte) error) error {
	for len(p) > 0 {
		h := Header{binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint64(p[4:])}
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
