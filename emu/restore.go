package emu

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"trapline/emu/internal/unicorn"
)

// Going on from a snapshot. Anyone may have written one, with checksums that are right: nothing of a
// machine is changed before all parts of the file are known to be such as a guest can bring about.

// A Snapshot is an open file, to be loaded once.
type Snapshot struct {
	f     *os.File
	h     *header
	ram   []byte     // its memory, a private mapping: what is checked is what is used
	sound chan error // gets what comparing the memory comes to
}

// OpenSnapshot reads what a file says of itself, and begins to compare its memory with the
// checksums, on all CPUs: Load waits for that. f stays the caller's, and open until Load has
// returned. The error wraps ErrSnapshot where the file is none or truncated.
func OpenSnapshot(f *os.File) (*Snapshot, error) {
	h, err := readHeader(f)
	if err != nil {
		return nil, err
	}
	ram, err := h.mapRAM(f)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{f, h, ram, make(chan error, 1)}
	go func() { s.sound <- errors.Join(h.checkRAM(ram), h.checkHoles(f, ram)) }()
	return s, nil
}

// Note is what the snapshot was saved with.
func (s *Snapshot) Note() []byte { return s.h.Note }

// Load puts a machine that has not run yet into the state of a snapshot. One that is damaged or of
// another machine or library is refused with an error that wraps ErrSnapshot, and the machine stays
// as it was.
func (m *Machine) Load(s *Snapshot) error {
	err := <-s.sound
	if of := s.h.check(m); of != nil {
		err = of
	}
	var set func()
	if err == nil {
		set, err = m.parse(s)
	}
	if err == nil {
		err = m.engine.TakeRAM(s.ram)
	}
	if err != nil {
		unix.MunmapPtr(unsafe.Pointer(&s.ram[0]), uintptr(len(s.ram)))
		return err
	}
	set()
	m.placed = true
	return nil
}

// check says whether the header is that of such a machine.
func (h *header) check(m *Machine) error {
	alone := len(h.CPUs) == 1 && (h.CPUs[0].Idle || h.CPUs[0].Off)
	slots := h.Slots == noSlots || slices.Contains(m.slotBases(), h.Slots)
	switch {
	case h.Arch != m.arch.Name || h.Memory != uint64(len(m.engine.RAM())) || len(h.CPUs) != len(m.cpus) || h.Current >= len(m.cpus) || h.Current < 0:
		return fmt.Errorf("%w: it is of another machine (%s, %d MiB, CPUs: %d)", ErrSnapshot, h.Arch, h.Memory>>20, len(h.CPUs))
	case h.Library != libraryVersion():
		return fmt.Errorf("%w: it was made with another emulator library (%s)", ErrSnapshot, h.Library)
	case alone || !slots || h.Seen > unicorn.MaxClock:
		return fmt.Errorf("%w: its header makes no sense", ErrSnapshot)
	}
	return nil
}

// parse reads the CPUs and devices of a snapshot. It changes nothing; set makes them the machine's.
func (m *Machine) parse(s *Snapshot) (set func(), err error) {
	now := s.h.Seen
	states := make([]*unicorn.State, len(m.cpus))
	for i, c := range s.h.CPUs {
		if states[i], err = m.cpus[i].ParseCPU(c.State); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
		}
		now = max(now, states[i].Clock())
	}
	b, err := s.h.readDevices(s.f)
	if err != nil {
		return nil, err
	}
	rest := bytes.NewReader(b)
	devices, err := m.platform.Parse(rest, now)
	if err == nil && rest.Len() > 0 {
		err = fmt.Errorf("%d bytes behind the devices", rest.Len())
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	return func() { devices(); m.set(s.h, states) }, nil
}

// set makes what a header says, and the states of its CPUs, the machine's.
func (m *Machine) set(h *header, states []*unicorn.State) {
	for i, c := range m.cpus {
		c.SetCPU(states[i])
		c.idle, c.off = h.CPUs[i].Idle, h.CPUs[i].Off
	}
	m.engine = m.cpus[h.Current].Engine
	m.engine.SetSeen(h.Seen)
	m.latest = 0
	m.text = textMap{h.Text.Virt, h.Text.Phys, h.Text.Size}
	m.setSlots(h.Slots)
	m.reschedule()
}

// mapRAM maps the memory in the file: pages that are in the host's cache are not copied to
// be compared.
func (h *header) mapRAM(f *os.File) ([]byte, error) {
	if info, err := f.Stat(); err != nil || info.Size() != h.devicesAt()+h.Devices.Size {
		return nil, fmt.Errorf("%w: it is truncated", ErrSnapshot)
	}
	ram, err := unix.MmapPtr(int(f.Fd()), headerRoom, nil, uintptr(h.Memory), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("mapping a snapshot: %w", err)
	}
	return unsafe.Slice((*byte)(ram), h.Memory), nil
}

// checkRAM compares memory with the checksums. Every CPU takes a part.
func (h *header) checkRAM(ram []byte) error {
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i, want := range h.RAM {
		all.Go(func() error {
			at := i * chunk
			if i < 0 || i >= (len(ram)+chunk-1)/chunk || crc32.Checksum(ram[at:min(at+chunk, len(ram))], castagnoli) != want {
				return fmt.Errorf("%w: its memory is damaged", ErrSnapshot)
			}
			return nil
		})
	}
	return all.Wait()
}

// checkHoles looks for what is not zero where there are no checksums. What is a hole of the file is
// not read.
func (h *header) checkHoles(f *os.File, ram []byte) error {
	end := h.devicesAt()
	for at := int64(headerRoom); ; {
		from, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) || err == nil && from >= end {
			return nil
		}
		if err == nil {
			at, err = unix.Seek(int(f.Fd()), from, unix.SEEK_HOLE)
		}
		if err != nil {
			return fmt.Errorf("looking for holes in a snapshot: %w", err)
		}
		if !h.zero(ram, from-headerRoom, min(at, end)-headerRoom) {
			return fmt.Errorf("%w: its memory is damaged", ErrSnapshot)
		}
	}
}

// zero reports whether memory in [from, to) is zero as far as it has no checksum.
func (h *header) zero(ram []byte, from, to int64) bool {
	for from < to {
		next := min(to, (from/chunk+1)*chunk)
		if _, ok := h.RAM[int(from/chunk)]; !ok {
			for page := range slices.Chunk(ram[from:next], pageSize) {
				if !bytes.Equal(page, zeroPage[:len(page)]) {
					return false
				}
			}
		}
		from = next
	}
	return true
}
