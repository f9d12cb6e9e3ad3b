package device

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
)

// A hostile driver's program is a sequence of steps of 8 bytes: what it does, where, and with which
// value. Places and values near what matters are as easy to say as others.
const hostileStep = 8

var hostilePlaces = []uint64{testTable, testAvail, testUsed, testHeader, testResult, testTable2, testData, ramBase + 64<<10 - 8}

var hostileValues = []uint64{
	0, 1, 2, 3, 7, 8, 9, 15, 16, 0x1000, 0xffff, 1 << 20, 1<<26 + 16, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1, 1<<64 - 8,
	testTable, testAvail, testUsed, testHeader, testTable2, testData, ramBase - 1, ramBase + 64<<10 - 1, ramBase + 64<<10,
}

// step is a step of such a program.
func step(what, where byte, at uint16, value uint32) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint16([]byte{what, where}, at), value)
}

// hostile has the driver do a step.
func (d *driver) hostile(p []byte) {
	at := binary.LittleEndian.Uint16(p[2:])
	value := uint64(binary.LittleEndian.Uint32(p[4:]))
	if p[1]&1 != 0 {
		value = hostileValues[value%(1<<24)%uint64(len(hostileValues))]
	}
	pa := hostilePlaces[int(p[1]>>1)%len(hostilePlaces)] + uint64(at%256)
	switch p[0] % 8 {
	case 0:
		d.set(uint64(at)%VirtioSize&^3, uint32(value))
	case 1:
		d.set(virtioQueueDesc+uint64(at)%0x28&^3, uint32(value))
	case 2:
		d.put(pa, uint16(value))
	case 3:
		d.put(pa, value)
	case 4:
		d.describe(testTable, uint64(p[1]>>1)%testQueue, value, uint32(at)<<(p[0]>>4), uint16(p[0]>>3), uint16(p[7]))
	case 5:
		d.describe(testTable2, uint64(p[1]>>1)%testQueue, value, uint32(at)<<(p[0]>>4), uint16(p[0]>>3), uint16(p[7]))
	case 6:
		d.offer(at)
	default:
		d.wait()
	}
}

// FuzzVirtioDriver: whatever a driver does with registers and rings, each request ends, nothing is
// touched outside the disk, what there is of the device can be saved and loaded, and a driver that
// resets it and behaves is served.
func FuzzVirtioDriver(f *testing.F) {
	known := func(value uint64) uint32 { return uint32(slices.Index(hostileValues, value)) }
	const next, indirect = descNext << 3, descIndirect << 3 // in the first byte
	offer := step(6, 0, 0, 0)
	f.Add([]byte(nil))
	for _, program := range [][]byte{
		step(4|next, 1, 16, known(testHeader)),                                          // loop
		step(1, 1, 0, known(1<<64-1)),                                                   // table at the end
		slices.Concat(step(0, 0, virtioQueueNum, maxQueue), step(2, 1<<1, 2, maxQueue)), // all of a large queue
		step(6, 0, testQueue, 0),                                                        // head outside
		step(4|next, 1, 16, known(testHeader)|200<<24),                                  // next outside
		slices.Concat(step(4|next|15<<4, 1, 0xffff, known(1<<64-8)|1<<24), step(4|descWrite<<3|15<<4, 1<<1|1, 0xffff, known(1<<64-8))), // lengths overflow
		slices.Concat(step(4|indirect, 1, 16, known(testTable2)), step(5|indirect, 1, 16, known(testTable2))),                          // table in a table
		step(4|indirect|15<<4, 1, 0xffff, known(testTable2)),                                                                           // long indirect table
		slices.Concat(step(1, 1, 0x10, known(ramBase-1)), step(1, 1, 0x20, known(ramBase-1))),                                          // ring before memory
	} {
		f.Add(append(program, offer...))
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		d := newDriver(image(4)).start()
		for program = program[:min(len(program), 100*hostileStep)]; len(program) >= hostileStep; program = program[hostileStep:] {
			d.hostile(program)
		}
		saved := saveBytes(t, d.VirtioBlock)
		again := newDriver(image(4))
		if err := restore(again.VirtioBlock, bytes.NewReader(saved), d.clock.Now()); err != nil {
			t.Errorf("what a guest has brought about cannot be loaded: %v", err)
		}
		d.wait()
		for n := range d.disk.written {
			if n >= d.disk.sectors {
				t.Errorf("sector %d of %d was written", n, d.disk.sectors)
			}
		}
		for _, pa := range []uint64{testAvail, testUsed} {
			d.put(pa, uint32(0))
		}
		if s := d.start().request(blkIn, 2, SectorSize, true); s != blkOK || d.used() != 1 {
			t.Errorf("after a reset: status %d, %d chains came back", s, d.used())
		}
	})
}
