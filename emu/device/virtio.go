package device

import (
	"errors"
	"io"
)

// A VirtioBlock is a disk on the virtio bus of a machine: a block device (Virtio 1.2, 5.2)
// with registers in memory, version 2 (4.2.2), and one virtqueue.
//
// It serves one request at a time, in the order of the available ring. A request is looked
// at when it is begun, moves its data when it is done, and takes a time that depends on its
// size alone. A driver that gets its rings wrong sees DEVICE_NEEDS_RESET, and not served
// until it resets the device.
type VirtioBlock struct {
	clock Clock
	mem   Memory
	line  Line
	disk  *Disk
	virtioRegs
}

type virtioRegs struct {
	Status, Interrupt       uint32
	OfferSelect, TakeSelect uint32
	Taken                   [2]uint32 // features that the driver has accepted
	QueueSelect             uint32
	Queue                   virtqueue
	Due                     uint64 // when the request under way is done, in ns, or Never
}

// Registers, by their offsets.
const (
	virtioMagic       = 0x000
	virtioVersion     = 0x004
	virtioDevice      = 0x008
	virtioVendor      = 0x00c
	virtioFeatures    = 0x010
	virtioFeaturesSel = 0x014
	virtioTaken       = 0x020
	virtioTakenSel    = 0x024
	virtioQueueSel    = 0x030
	virtioQueueMax    = 0x034
	virtioQueueNum    = 0x038
	virtioQueueReady  = 0x044
	virtioQueueNotify = 0x050
	virtioInterrupt   = 0x060
	virtioAck         = 0x064
	virtioStatus      = 0x070
	virtioQueueDesc   = 0x080 // low, high; likewise the next two
	virtioQueueDriver = 0x090
	virtioQueueDevice = 0x0a0
	virtioSharedLow   = 0x0b0 // length and base of shared memory: all ones, there is none
	virtioSharedEnd   = 0x0c0
	virtioConfig      = 0x100
)

// What the identifying registers hold. The vendor is QEMU's, for drivers that know no other.
const (
	virtioIsMagic  = 0x74726976 // "virt"
	virtioModern   = 2
	virtioIsBlock  = 2
	virtioIsVendor = 0x554d4551
)

// Bits of the status (2.1) and of the reasons of an interrupt.
const (
	virtioDriverOK   = 4
	virtioNeedsReset = 64

	usedBuffer    = 1 << 0
	configChanged = 1 << 1
)

// Features: SEG_MAX, BLK_SIZE, FLUSH (5.2.3), INDIRECT_DESC and VERSION_1 (6). A driver that
// does not accept the last is served all the same: those of teaching kernels forget it.
var virtioOffer = [2]uint32{1<<2 | 1<<6 | 1<<9 | 1<<28, 1 << 0}

// VirtioSize is the device's range of addresses in bytes.
const VirtioSize = 0x200

// maxSegments is what the device says of the buffers of data in a request.
const maxSegments = 254

// NewVirtioBlock makes a device for disk, which moves data to and from mem.
func NewVirtioBlock(clock Clock, mem Memory, line Line, disk *Disk) *VirtioBlock {
	v := &VirtioBlock{clock: clock, mem: mem, line: line, disk: disk}
	v.Due = Never
	return v
}

// Registers are the device's registers in memory.
func (v *VirtioBlock) Registers() Mem { return virtioMem{v} }

type virtioMem struct{ *VirtioBlock }

// Load reads a register, or 1, 2 or 4 bytes of the configuration.
func (v virtioMem) Load(offset uint64, size int) uint32 {
	switch {
	case offset >= virtioConfig:
		return v.config(offset-virtioConfig, size)
	case offset >= virtioSharedLow && offset < virtioSharedEnd:
		return ^uint32(0)
	}
	switch offset {
	case virtioMagic:
		return virtioIsMagic
	case virtioVersion:
		return virtioModern
	case virtioDevice:
		return virtioIsBlock
	case virtioVendor:
		return virtioIsVendor
	case virtioFeatures:
		return word(virtioOffer, v.OfferSelect)
	case virtioQueueMax:
		if v.QueueSelect == 0 {
			return maxQueue
		}
	case virtioQueueReady:
		if v.QueueSelect == 0 {
			return v.Queue.Ready
		}
	case virtioInterrupt:
		return v.Interrupt
	case virtioStatus:
		return v.Status
	}
	return 0
}

// word is one of the two words of features, or 0.
func word(features [2]uint32, n uint32) uint32 {
	if n < 2 {
		return features[n]
	}
	return 0
}

// config is the configuration (5.2.4): capacity in sectors at 0, the limit of segments at
// 12, the size of a block at 20.
func (v *VirtioBlock) config(offset uint64, size int) uint32 {
	at := func(field uint64, value uint64) uint64 {
		if offset < field || offset >= field+8 {
			return 0
		}
		return value >> (8 * (offset - field))
	}
	value := at(0, v.disk.sectors)
	if offset >= 8 {
		value = at(12, maxSegments) | at(20, SectorSize)
	}
	return uint32(value) & ones(size)
}

// Store writes a register. The configuration has nothing to be written.
func (v virtioMem) Store(offset uint64, _ int, value uint32) {
	switch offset {
	case virtioFeaturesSel:
		v.OfferSelect = value
	case virtioTaken:
		if v.TakeSelect < 2 {
			v.Taken[v.TakeSelect] = value & virtioOffer[v.TakeSelect]
		}
	case virtioTakenSel:
		v.TakeSelect = value
	case virtioQueueSel:
		v.QueueSelect = value
	case virtioQueueNotify:
		if value == 0 {
			v.begin()
		}
	case virtioAck:
		v.interrupt(v.Interrupt &^ value)
	case virtioStatus:
		v.setStatus(value)
	default:
		if v.QueueSelect == 0 {
			v.setQueue(offset, value)
		}
	}
}

// setQueue writes a register of the queue.
func (v *VirtioBlock) setQueue(offset uint64, value uint32) {
	q := &v.Queue
	switch offset {
	case virtioQueueNum:
		q.Size = value
	case virtioQueueReady:
		q.Ready = value & 1
	case virtioQueueDesc, virtioQueueDesc + 4:
		setHalf(&q.Table, offset, value)
	case virtioQueueDriver, virtioQueueDriver + 4:
		setHalf(&q.Available, offset, value)
	case virtioQueueDevice, virtioQueueDevice + 4:
		setHalf(&q.UsedAt, offset, value)
	}
}

// setHalf writes the low or the high half of an address.
func setHalf(address *uint64, offset uint64, value uint32) {
	shift := 8 * (offset & 4)
	*address = *address&^(0xffffffff<<shift) | uint64(value)<<shift
}

// setStatus follows the driver through its initialisation; 0 resets the device (2.4).
func (v *VirtioBlock) setStatus(value uint32) {
	if value == 0 {
		v.virtioRegs = virtioRegs{Due: Never}
		v.interrupt(0)
		return
	}
	v.Status = value&^virtioNeedsReset | v.Status&virtioNeedsReset
	v.begin()
}

func (v *VirtioBlock) interrupt(reasons uint32) {
	v.Interrupt = reasons
	v.line.Set(reasons != 0)
}

// begin begins the next request, if there is one and none is under way.
func (v *VirtioBlock) begin() {
	if v.Due != Never || v.Status&(virtioDriverOK|virtioNeedsReset) != virtioDriverOK || v.Queue.Ready == 0 {
		return
	}
	request, _, err := v.next()
	switch {
	case err != nil:
		v.fail()
	case request != nil:
		v.Due = v.clock.Now() + request.time()
	}
}

// next is the request that comes next in the queue, nil if there is none.
func (v *VirtioBlock) next() (request *blkRequest, head uint16, err error) {
	if err := v.Queue.usable(); err != nil {
		return nil, 0, err
	}
	head, ok, err := v.Queue.head(v.mem)
	if err != nil || !ok {
		return nil, 0, err
	}
	chain, err := v.Queue.chain(v.mem, head)
	if err != nil {
		return nil, 0, err
	}
	return newBlkRequest(v.mem, chain), head, nil
}

// fail asks the driver to reset the device (2.1.2).
func (v *VirtioBlock) fail() {
	v.Status |= virtioNeedsReset
	v.interrupt(v.Interrupt | configChanged)
}

// Next is when the request under way is done, or Never.
func (v *VirtioBlock) Next() uint64 { return v.Due }

// Poll ends the request under way when it is done, and begins the next.
func (v *VirtioBlock) Poll() {
	if v.Due > v.clock.Now() {
		return
	}
	v.Due = Never
	if err := v.finish(); err != nil {
		v.fail()
		return
	}
	v.begin()
}

var errVanished = errors.New("a request has been taken back")

func (v *VirtioBlock) finish() error {
	request, head, err := v.next()
	if err != nil {
		return err
	}
	if request == nil {
		return errVanished
	}
	n, err := request.serve(v.disk)
	if err != nil {
		return err
	}
	wanted, err := v.Queue.finish(v.mem, head, n)
	if wanted {
		v.interrupt(v.Interrupt | usedBuffer)
	}
	return err
}

// Save writes the state of the device and of its disk.
func (v *VirtioBlock) Save(w io.Writer) error {
	if err := save(w, "virtio device", &v.virtioRegs); err != nil {
		return err
	}
	return v.disk.Save(w)
}

// Parse reads what Save wrote.
func (v *VirtioBlock) Parse(r io.Reader, now uint64) (set func(), err error) {
	regs, err := parse(r, "virtio device", &v.virtioRegs, func(v *virtioRegs) bool { return v.sound(now) })
	if err != nil {
		return nil, err
	}
	disk, err := v.disk.Parse(r, now)
	return func() { regs(); v.interrupt(v.Interrupt); disk() }, err
}

// sound: the driver has accepted what was offered, and a request under way is one that can be.
func (r *virtioRegs) sound(now uint64) bool {
	q := r.Queue
	taken := r.Taken[0]&^virtioOffer[0] == 0 && r.Taken[1]&^virtioOffer[1] == 0
	return taken && r.Interrupt&^(usedBuffer|configChanged) == 0 && q.Ready <= 1 &&
		(r.Due == Never || r.Due <= now+blkSetUp+blkPerByte*maxRequest)
}
