package device

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// ram is memory from ramBase on.
type ram []byte

const ramBase = 0x80000000

func (m ram) at(pa uint64, n int) []byte {
	if at := pa - ramBase; at < uint64(len(m)) && uint64(n) <= uint64(len(m))-at {
		return m[at : at+uint64(n)]
	}
	return nil
}

func (m ram) Read(pa uint64, p []byte) bool {
	from := m.at(pa, len(p))
	copy(p, from)
	return from != nil
}

func (m ram) Write(pa uint64, p []byte) bool {
	to := m.at(pa, len(p))
	copy(to, p)
	return to != nil
}

// Where the driver of the tests has its queue and its buffers.
const (
	testTable  = ramBase
	testAvail  = ramBase + 0x1000
	testUsed   = ramBase + 0x2000
	testHeader = ramBase + 0x3000
	testResult = ramBase + 0x3100
	testTable2 = ramBase + 0x4000 // indirect
	testData   = ramBase + 0x5000
	testQueue  = 8
)

// A driver is a block device with a driver that does what the test says.
type driver struct {
	*VirtioBlock
	clock fakeClock
	ram   ram
	irq   wire
	avail uint16
}

func newDriver(image []byte) *driver {
	d := &driver{ram: make(ram, 64<<10)}
	d.VirtioBlock = NewVirtioBlock(&d.clock, d.ram, &d.irq, NewDisk(bytes.NewReader(image), int64(len(image))))
	return d
}

func (d *driver) set(offset uint64, v uint32) { d.Registers().Store(offset, 4, v) }
func (d *driver) get(offset uint64) uint32    { return d.Registers().Load(offset, 4) }

// start initialises the device as Virtio 1.2, 3.1.1 says.
func (d *driver) start() *driver {
	d.set(virtioStatus, 0)
	d.avail = 0
	d.set(virtioStatus, 3)
	for i, features := range virtioOffer {
		d.set(virtioTakenSel, uint32(i))
		d.set(virtioTaken, features)
	}
	d.set(virtioStatus, 11)
	d.set(virtioQueueSel, 0)
	d.set(virtioQueueNum, testQueue)
	for offset, pa := range map[uint64]uint64{
		virtioQueueDesc: testTable, virtioQueueDriver: testAvail, virtioQueueDevice: testUsed,
	} {
		d.set(offset, uint32(pa))
		d.set(offset+4, uint32(pa>>32))
	}
	d.set(virtioQueueReady, 1)
	d.set(virtioStatus, 15)
	return d
}

// put stores words of 16, 32 or 64 bits.
func (d *driver) put(pa uint64, v ...any) {
	var b bytes.Buffer
	for _, x := range v {
		binary.Write(&b, binary.LittleEndian, x)
	}
	d.ram.Write(pa, b.Bytes())
}

func (d *driver) describe(table uint64, i uint64, addr uint64, size uint32, flags, next uint16) {
	d.put(table+i*descriptorSize, addr, size, flags, next)
}

// offer makes the chain at head available.
func (d *driver) offer(head uint16) {
	d.put(testAvail+4+2*uint64(d.avail%testQueue), head)
	d.avail++
	d.put(testAvail+2, d.avail)
	d.set(virtioQueueNotify, 0)
}

// request asks for something in three buffers at head 0, and waits for it.
func (d *driver) request(kind uint32, sector uint64, size uint32, in bool) (status byte) {
	flags := uint16(descNext)
	if in {
		flags |= descWrite
	}
	d.put(testHeader, kind, uint32(0), sector)
	d.describe(testTable, 0, testHeader, blkHeader, descNext, 1)
	d.describe(testTable, 1, testData, size, flags, 2)
	d.describe(testTable, 2, testResult, 1, descWrite, 0)
	d.offer(0)
	d.wait()
	return d.ram.at(testResult, 1)[0]
}

func (d *driver) wait() {
	for d.Next() != Never {
		d.clock = fakeClock(d.Next())
		d.Poll()
	}
}

func (d *driver) used() uint16 { return binary.LittleEndian.Uint16(d.ram.at(testUsed+2, 2)) }

func image(sectors int) []byte {
	b := make([]byte, sectors*SectorSize)
	for i := range b {
		b[i] = byte(i/SectorSize + i)
	}
	return b
}

func TestVirtioIdentity(t *testing.T) {
	d := newDriver(image(300))
	for offset, want := range map[uint64]uint32{
		0: 0x74726976, 4: 2, 8: 2, 0xc: 0x554d4551, 0x34: 1024, 0x70: 0, 0xfc: 0,
		0x100: 300, 0x104: 0, 0x10c: 254, 0x114: 512, 0xb0: ^uint32(0), 0xbc: ^uint32(0),
	} {
		if got := d.get(offset); got != want {
			t.Errorf("register %#x is %#x, want %#x", offset, got, want)
		}
	}
	if got := d.Registers().Load(0x101, 1); got != 1 {
		t.Errorf("byte 1 of the capacity is %d", got)
	}
	d.set(virtioFeaturesSel, 1)
	if got := d.get(virtioFeatures); got != 1 {
		t.Errorf("high features %#x, want VERSION_1", got)
	}
	d.set(virtioQueueSel, 1)
	if d.get(virtioQueueMax) != 0 {
		t.Error("there is a second queue")
	}
}

func TestVirtioReadWrite(t *testing.T) {
	original := image(16)
	d := newDriver(bytes.Clone(original)).start()
	if s := d.request(blkIn, 3, 2*SectorSize, true); s != blkOK {
		t.Fatalf("read: status %d", s)
	}
	if got := d.ram.at(testData, 2*SectorSize); !bytes.Equal(got, original[3*SectorSize:5*SectorSize]) {
		t.Error("what was read is not what is there")
	}
	if !d.irq.high || d.get(virtioInterrupt) != usedBuffer || d.used() != 1 {
		t.Errorf("line %v, reasons %d, %d used", d.irq.high, d.get(virtioInterrupt), d.used())
	}
	d.set(virtioAck, usedBuffer)
	if d.irq.high {
		t.Error("the line is high after the acknowledgement")
	}
	copy(d.ram.at(testData, SectorSize), strings.Repeat("new", SectorSize))
	if s := d.request(blkOut, 4, SectorSize, false); s != blkOK {
		t.Fatalf("write: status %d", s)
	}
	clear(d.ram.at(testData, 2*SectorSize))
	d.request(blkIn, 3, 2*SectorSize, true)
	want := append(bytes.Clone(original[3*SectorSize:4*SectorSize]), strings.Repeat("new", SectorSize)[:SectorSize]...)
	if got := d.ram.at(testData, 2*SectorSize); !bytes.Equal(got, want) {
		t.Error("a sector that was written does not read as such, or its neighbour does not as before")
	}
}

func TestVirtioOtherRequests(t *testing.T) {
	for _, tt := range []struct {
		name   string
		kind   uint32
		sector uint64
		size   uint32
		in     bool
		want   byte
	}{
		{"flush", blkFlush, 0, 0, false, blkOK},
		{"name", blkID, 0, 20, true, blkOK},
		{"room for a part of the name", blkID, 0, 8, true, blkFailed},
		{"unknown", 99, 0, 0, false, blkUnsupported},
		{"the last sector", blkIn, 15, SectorSize, true, blkOK},
		{"over the end", blkIn, 15, 2 * SectorSize, true, blkFailed},
		{"behind the end", blkOut, 16, SectorSize, false, blkFailed},
		{"far behind the end", blkOut, ^uint64(0), SectorSize, false, blkFailed},
		{"half a sector", blkIn, 0, SectorSize / 2, true, blkFailed},
		{"too much", blkIn, 0, maxRequest + SectorSize, true, blkFailed},
		{"nothing", blkIn, 16, 0, true, blkOK},
	} {
		d := newDriver(image(16)).start()
		if got := d.request(tt.kind, tt.sector, tt.size, tt.in); got != tt.want {
			t.Errorf("%s: status %d, want %d", tt.name, got, tt.want)
		}
	}
}

// A request takes a time that depends on its size, and they come one after the other.
func TestVirtioTime(t *testing.T) {
	d := newDriver(image(16)).start()
	d.clock = 1000
	d.put(testHeader, uint32(blkIn), uint32(0), uint64(0))
	d.describe(testTable, 0, testHeader, blkHeader, descNext, 1)
	d.describe(testTable, 1, testData, SectorSize, descNext|descWrite, 2)
	d.describe(testTable, 2, testResult, 1, descWrite, 0)
	d.offer(0)
	d.offer(0)
	const took = blkSetUp + blkPerByte*(blkHeader+SectorSize+1)
	for i, want := range []uint64{1000 + took, 1000 + 2*took, Never} {
		if d.Next() != want {
			t.Errorf("request %d is done at %d, want %d", i, d.Next(), want)
		}
		if d.Next() != Never {
			d.clock = fakeClock(d.Next() - 1)
			d.Poll()
			if d.used() != uint16(i) {
				t.Error("a request is done before its time")
			}
			d.clock++
			d.Poll()
		}
	}
}

func TestVirtioIndirect(t *testing.T) {
	d := newDriver(image(16)).start()
	d.put(testHeader, uint32(blkIn), uint32(0), uint64(1))
	d.describe(testTable2, 0, testHeader, 8, descNext, 1) // the header in two parts
	d.describe(testTable2, 1, testHeader+8, 8, descNext, 3)
	d.describe(testTable2, 3, testData, 700, descNext|descWrite, 4)
	d.describe(testTable2, 4, testData+700, SectorSize*2-700+1, descWrite, 0) // and the result behind the data
	d.describe(testTable, 5, testTable2, 5*descriptorSize, descIndirect, 0)
	d.ram.Write(testData+2*SectorSize, []byte{0xff})
	d.offer(5)
	d.wait()
	want := append(bytes.Clone(image(16)[SectorSize:3*SectorSize]), blkOK)
	if got := d.ram.at(testData, len(want)); !bytes.Equal(got, want) {
		t.Errorf("status %d, or other data", got[2*SectorSize])
	}
	if got := binary.LittleEndian.Uint64(d.ram.at(testUsed+4, 8)); got != uint64(2*SectorSize+1)<<32|5 {
		t.Errorf("used entry %#x", got)
	}
}

// A driver that gets its queue wrong sees one error, and is served again after a reset.
func TestVirtioMalformed(t *testing.T) {
	const nowhere = 0x1000
	chain := func(d *driver) {
		d.put(testHeader, uint32(blkIn), uint32(0), uint64(0))
		d.describe(testTable, 0, testHeader, blkHeader, descNext, 1)
		d.describe(testTable, 1, testResult, 1, descWrite, 0)
	}
	for _, tt := range []struct {
		name  string
		spoil func(*driver)
	}{
		{"no descriptors", func(d *driver) { d.set(virtioQueueNum, 0) }},
		{"too many descriptors", func(d *driver) { d.set(virtioQueueNum, 2048) }},
		{"not a power of two", func(d *driver) { d.set(virtioQueueNum, 7) }},
		{"table nowhere", func(d *driver) { d.set(virtioQueueDesc, nowhere) }},
		{"available ring nowhere", func(d *driver) { d.set(virtioQueueDriver, nowhere) }},
		{"used ring nowhere", func(d *driver) { d.set(virtioQueueDevice, nowhere) }},
		{"ring at the end of the address space", func(d *driver) {
			d.set(virtioQueueDevice, ^uint32(0))
			d.set(virtioQueueDevice+4, ^uint32(0))
		}},
		{"head outside", func(d *driver) { d.put(testAvail+4, uint16(testQueue)) }},
		{"more than fits available", func(d *driver) { d.avail = testQueue }},
		{"next outside", func(d *driver) { d.describe(testTable, 0, testHeader, blkHeader, descNext, 100) }},
		{"loop", func(d *driver) { d.describe(testTable, 0, testHeader, 0, descNext, 0) }},
		{"written before read", func(d *driver) {
			d.describe(testTable, 0, testResult, 1, descWrite|descNext, 1)
			d.describe(testTable, 1, testHeader, blkHeader, 0, 0)
		}},
		{"short header", func(d *driver) { d.describe(testTable, 0, testHeader, 4, descNext, 1) }},
		{"no room for the result", func(d *driver) { d.describe(testTable, 0, testHeader, blkHeader, 0, 0) }},
		{"header nowhere", func(d *driver) { d.describe(testTable, 0, nowhere, blkHeader, descNext, 1) }},
		{"result nowhere", func(d *driver) { d.describe(testTable, 1, nowhere, 1, descWrite, 0) }},
		{"indirect within a chain", func(d *driver) {
			d.describe(testTable, 1, testTable2, descriptorSize, descIndirect, 0)
		}},
		{"indirect and more", func(d *driver) {
			d.describe(testTable, 0, testTable2, descriptorSize, descIndirect|descNext, 1)
		}},
		{"indirect within indirect", func(d *driver) {
			d.describe(testTable, 0, testTable2, descriptorSize, descIndirect, 0)
			d.describe(testTable2, 0, testTable2, descriptorSize, descIndirect, 0)
		}},
		{"empty indirect", func(d *driver) { d.describe(testTable, 0, testTable2, 0, descIndirect, 0) }},
		{"huge indirect", func(d *driver) { d.describe(testTable, 0, testTable2, 1<<31, descIndirect, 0) }},
		{"indirect nowhere", func(d *driver) { d.describe(testTable, 0, nowhere, descriptorSize, descIndirect, 0) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDriver(image(16)).start()
			chain(d)
			if head := tt.name == "head outside"; head { // offer would overwrite it
				d.avail++
				d.put(testAvail+2, d.avail)
				tt.spoil(d)
				d.set(virtioQueueNotify, 0)
			} else {
				tt.spoil(d)
				d.offer(0)
			}
			d.wait()
			if d.get(virtioStatus)&virtioNeedsReset == 0 || d.get(virtioInterrupt)&configChanged == 0 || !d.irq.high {
				t.Errorf("status %#x, reasons %#x, line %v", d.get(virtioStatus), d.get(virtioInterrupt), d.irq.high)
			}
			d.set(virtioAck, 3)
			d.offer(0)
			if d.Next() != Never {
				t.Error("it is served without a reset")
			}
			if s := d.start().request(blkIn, 2, SectorSize, true); s != blkOK {
				t.Errorf("after a reset: status %d", s)
			}
		})
	}
}

func TestVirtioQuiet(t *testing.T) {
	d := newDriver(image(16)).start()
	d.put(testAvail, uint16(noInterrupt))
	if s := d.request(blkIn, 0, SectorSize, true); s != blkOK || d.irq.rises != 0 {
		t.Errorf("status %d, %d interrupts that nobody wanted", s, d.irq.rises)
	}
}

// withRAM is a device and the memory that it works in.
type withRAM struct{ *driver }

func (s withRAM) Save(w io.Writer) error {
	if err := s.VirtioBlock.Save(w); err != nil {
		return err
	}
	_, err := w.Write(s.ram)
	return err
}

func (s withRAM) Parse(r io.Reader, now uint64) (func(), error) {
	set, err := s.VirtioBlock.Parse(r, now)
	if err != nil {
		return nil, err
	}
	ram := make([]byte, len(s.ram))
	_, err = io.ReadFull(r, ram)
	return func() { set(); copy(s.ram, ram) }, err
}

// Saved and loaded, a device goes on as the one that was saved, in the middle of requests
// and with what was written.
func TestVirtioState(t *testing.T) {
	offsets := []uint64{virtioStatus, virtioAck, virtioQueueNotify, virtioQueueReady, virtioInterrupt, virtioQueueSel}
	testMemState(t, offsets, func(r *memRig) {
		d := newDriver(image(16))
		d.VirtioBlock = NewVirtioBlock(&r.clock, d.ram, r.line("irq"), d.disk)
		d.start()
		r.dev, r.mem, r.poll = withRAM{d}, d.Registers(), d.Poll
		r.prod = func(rng *rand.Rand) {
			kind := []uint32{blkIn, blkOut}[rng.IntN(2)]
			d.put(testHeader, kind, uint32(0), rng.Uint64N(20))
			d.put(testData, rng.Uint64())
			d.describe(testTable, 0, testHeader, blkHeader, descNext, 1)
			d.describe(testTable, 1, testData, SectorSize, descNext|uint16(1-kind)&1*descWrite, 2)
			d.describe(testTable, 2, testResult, 1, descWrite, 0)
			d.avail = d.Queue.Next
			d.offer(0)
			r.note("%x %x", d.ram.at(testData, 16), d.ram.at(testResult, 1))
		}
	})
}

func TestDiskOther(t *testing.T) {
	a, b := NewDisk(bytes.NewReader(image(4)), 4*SectorSize), NewDisk(bytes.NewReader(make([]byte, 2048)), 2048)
	a.write(2, &sector{1, 2, 3})
	saved := saveBytes(t, a)
	if err := restore(b, bytes.NewReader(saved), Never); err == nil || !strings.Contains(err.Error(), "another disk image") {
		t.Errorf("the state of another disk: %v", err)
	}
}

// Whatever the guest's memory holds, a request ends, and nothing is touched outside the disk.
func FuzzVirtqueue(f *testing.F) {
	d := newDriver(image(4)).start()
	d.put(testHeader, uint32(blkOut), uint32(0), uint64(1))
	d.describe(testTable, 0, testHeader, blkHeader, descNext, 1)
	d.describe(testTable, 1, testData, SectorSize, descNext, 2)
	d.describe(testTable, 2, testResult, 1, descWrite, 0)
	f.Add([]byte(d.ram.at(testTable, 3*descriptorSize)), uint16(0), uint16(1), []byte(d.ram.at(testHeader, blkHeader)))
	f.Fuzz(func(t *testing.T, table []byte, head, avail uint16, header []byte) {
		d := newDriver(image(4)).start()
		d.ram.Write(testTable, table[:min(len(table), 0x1000)])
		d.ram.Write(testTable2, table[:min(len(table), 0x1000)])
		d.ram.Write(testHeader, header[:min(len(header), 0x100)])
		d.put(testAvail+2, avail, head)
		d.set(virtioQueueNotify, 0)
		d.wait()
		for n := range d.disk.written {
			if n >= d.disk.sectors {
				t.Errorf("sector %d of %d was written", n, d.disk.sectors)
			}
		}
		if done, asked := d.used(), avail; done > asked {
			t.Errorf("%d chains came back, %d were available", done, asked)
		}
	})
}
