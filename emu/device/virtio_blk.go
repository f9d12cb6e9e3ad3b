package device

import (
	"encoding/binary"
	"io"
)

// Types of requests to a block device and their results (Virtio 1.2, 5.2.6).
const (
	blkIn    = 0 // read
	blkOut   = 1 // write
	blkFlush = 4
	blkID    = 8

	blkOK          = 0
	blkFailed      = 1
	blkUnsupported = 2
)

// What a request is, and how long it may be.
const (
	blkHeader  = 16       // bytes: type, reserved, sector
	blkIDSize  = 20       // bytes of the name of a disk
	maxRequest = 64 << 20 // bytes of data, far beyond what drivers ask for at once
)

// A request takes time that depends on its size alone.
const (
	blkSetUp   = 50_000 // ns
	blkPerByte = 1      // ns
)

// A blkRequest is a chain of buffers, taken for a request: header and data to be written
// to the disk, data read from it and the result.
type blkRequest struct {
	mem     Memory
	chain   []buffer
	in, out uint64 // bytes that the device writes, and reads
	result  uint64 // where the result goes: the last byte to be written
}

func newBlkRequest(mem Memory, chain []buffer) *blkRequest {
	r := &blkRequest{mem: mem, chain: chain}
	for _, b := range chain {
		switch {
		case !b.write:
			r.out += uint64(b.size)
		case b.size > 0:
			r.in += uint64(b.size)
			r.result = b.addr + uint64(b.size) - 1
		}
	}
	return r
}

// time is how long the request takes, in ns.
func (r *blkRequest) time() uint64 { return blkSetUp + blkPerByte*min(r.in+r.out, maxRequest) }

// serve carries the request out. It returns the bytes written to the guest's memory, and
// an error where the guest's buffers cannot be used at all.
func (r *blkRequest) serve(d *Disk) (written uint32, err error) {
	if r.out < blkHeader || r.in < 1 {
		return 0, io.ErrShortBuffer
	}
	var header [blkHeader]byte
	if err := r.move(false, header[:]); err != nil {
		return 0, err
	}
	status := r.serveType(d, binary.LittleEndian.Uint32(header[:]), binary.LittleEndian.Uint64(header[8:]))
	if !r.mem.Write(r.result, []byte{status}) {
		return 0, errOutside
	}
	return uint32(min(r.in, maxRequest)), nil
}

func (r *blkRequest) serveType(d *Disk, kind uint32, at uint64) (status byte) {
	switch kind {
	case blkIn:
		return r.transfer(d, true, at, r.in-1)
	case blkOut:
		return r.transfer(d, false, at, r.out-blkHeader)
	case blkFlush: // there is nothing behind the disk that could be late
		return blkOK
	case blkID:
		return r.identify()
	}
	return blkUnsupported
}

// transfer moves n bytes between the disk from sector at on and the guest.
func (r *blkRequest) transfer(d *Disk, in bool, at, n uint64) (status byte) {
	if n%SectorSize != 0 || n > maxRequest || at > d.sectors || n/SectorSize > d.sectors-at {
		return blkFailed
	}
	var s sector
	for end := at + n/SectorSize; at < end; at++ {
		if in && d.read(at, &s) != nil || r.move(in, s[:]) != nil {
			return blkFailed
		}
		if !in {
			d.write(at, &s)
		}
	}
	return blkOK
}

// identify gives the disk's name, as far as there is room for it.
func (r *blkRequest) identify() (status byte) {
	name := make([]byte, blkIDSize)
	copy(name, "trapline")
	if r.in-1 < blkIDSize || r.move(true, name) != nil {
		return blkFailed
	}
	return blkOK
}

// move copies p to the next bytes of the buffers that the device writes, or from the next
// of those that it reads, and has done with these.
func (r *blkRequest) move(in bool, p []byte) error {
	for len(p) > 0 {
		for len(r.chain) > 0 && (r.chain[0].write != in || r.chain[0].size == 0) {
			r.chain = r.chain[1:]
		}
		if len(r.chain) == 0 {
			return io.ErrShortBuffer
		}
		b := &r.chain[0]
		n := min(uint32(len(p)), b.size)
		if in && !r.mem.Write(b.addr, p[:n]) || !in && !r.mem.Read(b.addr, p[:n]) {
			return errOutside
		}
		b.addr, b.size, p = b.addr+uint64(n), b.size-n, p[n:]
	}
	return nil
}
