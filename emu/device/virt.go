package device

// A Host is what the devices of a virt machine are connected to.
type Host struct {
	Clock            Clock
	Memory           Memory
	Console, Control func(byte)   // take what the guest sends on its serial ports
	End              func(Ending) // called with how the guest wants to end
	Disks            []*Disk      // at most VirtDisks
}

// VirtDisks is how many disks there is room for, on the virtio bus of every virt machine.
const VirtDisks = 8

// disks are the block devices of a virt machine.
type disks []*VirtioBlock

// newDisks mounts a block device for each disk, from base on with a stride between them, on
// every bus; line is that of the n-th.
func newDisks(h Host, base, stride uint64, line func(n int) Line, buses ...*MemBus) (d disks) {
	for i, disk := range h.Disks {
		v := NewVirtioBlock(h.Clock, h.Memory, line(i), disk)
		for _, b := range buses {
			b.Mount(base+uint64(i)*stride, VirtioSize, v.Registers())
		}
		d = append(d, v)
	}
	return d
}

// Disks are the block devices.
func (d disks) Disks() []*VirtioBlock { return d }

// next is when the first of the requests under way is done.
func (d disks) next() uint64 {
	at := uint64(Never)
	for _, v := range d {
		at = min(at, v.Next())
	}
	return at
}

func (d disks) poll() {
	for _, v := range d {
		v.Poll()
	}
}

func (d disks) states() (s []State) {
	for _, v := range d {
		s = append(s, v)
	}
	return s
}
