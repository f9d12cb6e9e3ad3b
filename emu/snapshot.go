package emu

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// A snapshot is one file:
//
//	magic, length and checksum of the header
//	header (JSON): what the machine is, where its parts are, checksums
//	RAM from a page boundary on, at its physical addresses; pages of zeros are holes
//	devices, with what was written to disks
//
// RAM is not read when a snapshot is loaded but mapped, copy-on-write: a guest of many
// MiB goes on at once.

const (
	snapshotMagic = "trapline snapshot 3\n"
	headerRoom    = 1 << 20 // bytes before the RAM
	chunk         = 1 << 20 // bytes of RAM that have a checksum together
)

// ErrSnapshot is wrapped by the errors of Load for a file that is not a whole snapshot of
// such a machine.
var ErrSnapshot = errors.New("not a usable snapshot")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header describes the parts of a snapshot.
type header struct {
	Arch    string
	Library string
	Memory  uint64
	Text    struct{ Virt, Phys, Size uint64 }
	Slots   uint64
	CPUs    []savedCPU
	Current int    // the CPU that has run last
	Seen    uint64 // latest time that a CPU has read
	Devices part
	RAM     map[int]uint32 // checksum of each chunk that is not all zero
	Note    []byte
}

// savedCPU is a CPU.
type savedCPU struct {
	State     []byte
	Idle, Off bool `json:",omitempty"`
}

// part is a part of a snapshot: its size in bytes and its checksum.
type part struct {
	Size int64
	Sum  uint32
}

// Save writes the machine to an empty file, with a note for whoever loads it. There must
// be no breakpoints. Only between runs.
func (m *Machine) Save(f *os.File, note []byte) error {
	h := header{Arch: m.arch.Name, Library: libraryVersion(), Slots: m.slots, RAM: map[int]uint32{}, Note: note}
	ram := m.engine.RAM()
	h.Memory = uint64(len(ram))
	h.Text.Virt, h.Text.Phys, h.Text.Size = m.text.virt, m.text.phys, m.text.size
	h.Current, h.Seen = m.engine.ID(), m.engine.Seen()
	for _, c := range m.cpus {
		state, err := c.SaveCPU()
		if err != nil {
			return err
		}
		h.CPUs = append(h.CPUs, savedCPU{state, c.idle, c.off})
	}
	var devices bytes.Buffer
	if err := m.platform.Save(&devices); err != nil {
		return fmt.Errorf("saving the devices: %w", err)
	}
	h.Devices = part{int64(devices.Len()), crc32.Checksum(devices.Bytes(), castagnoli)}
	if _, err := f.WriteAt(devices.Bytes(), h.devicesAt()); err != nil {
		return fmt.Errorf("writing a snapshot: %w", err)
	}
	for at := 0; at < len(ram); at += chunk {
		part := ram[at:min(at+chunk, len(ram))]
		used, err := writePages(f, headerRoom+int64(at), part)
		if err != nil {
			return fmt.Errorf("writing a snapshot: %w", err)
		}
		if used {
			h.RAM[at/chunk] = crc32.Checksum(part, castagnoli)
		}
	}
	return writeHeader(f, &h)
}

// devicesAt is where the devices are in the file: behind the RAM.
func (h *header) devicesAt() int64 { return headerRoom + int64(h.Memory) }

// writePages writes the pages that are not zero, runs of them together.
func writePages(f io.WriterAt, offset int64, p []byte) (used bool, err error) {
	for at := 0; at < len(p); {
		end := at
		for end < len(p) && !bytes.Equal(p[end:end+pageSize], zeroPage[:]) {
			end += pageSize
		}
		if end > at {
			used = true
			if _, err := f.WriteAt(p[at:end], offset+int64(at)); err != nil {
				return used, err
			}
		}
		at = end + pageSize
	}
	return used, nil
}

func writeHeader(f io.WriterAt, h *header) error {
	body, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("writing a snapshot: %w", err)
	}
	b := []byte(snapshotMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(body, castagnoli))
	b = append(b, body...)
	if len(b) > headerRoom {
		return fmt.Errorf("writing a snapshot: a header of %d bytes", len(b))
	}
	if _, err = f.WriteAt(b, 0); err != nil {
		return fmt.Errorf("writing a snapshot: %w", err)
	}
	return nil
}

// A Snapshot is an open file, to be loaded once.
type Snapshot struct {
	f     *os.File
	h     *header
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
	s := &Snapshot{f, h, make(chan error, 1)}
	go func() {
		defer unix.Munmap(ram)
		s.sound <- h.checkRAM(ram)
	}()
	return s, nil
}

// Load puts a machine that has not run yet into the state of a snapshot, and returns its
// note. One that is damaged or of another machine or library is refused with an error that
// wraps ErrSnapshot, and the machine stays as it was.
func (m *Machine) Load(s *Snapshot) (note []byte, err error) {
	f, h := s.f, s.h
	switch {
	case h.Arch != m.arch.Name || h.Memory != uint64(len(m.engine.RAM())) || len(h.CPUs) != len(m.cpus) || h.Current >= len(m.cpus) || h.Current < 0:
		return nil, fmt.Errorf("%w: it is of another machine (%s, %d MiB, CPUs: %d)", ErrSnapshot, h.Arch, h.Memory>>20, len(h.CPUs))
	case h.Library != libraryVersion():
		return nil, fmt.Errorf("%w: it was made with another emulator library (%s)", ErrSnapshot, h.Library)
	}
	if err := <-s.sound; err != nil {
		return nil, err
	}
	devices, err := h.readDevices(f)
	if err != nil {
		return nil, err
	}
	if err := m.engine.MapRAM(f, headerRoom); err != nil {
		return nil, err
	}
	if err := m.platform.Restore(bytes.NewReader(devices)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	for i, c := range h.CPUs {
		if err := m.cpus[i].LoadCPU(c.State); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
		}
		m.cpus[i].idle, m.cpus[i].off = c.Idle, c.Off
	}
	m.engine = m.cpus[h.Current].Engine
	m.engine.SetSeen(h.Seen)
	m.told = 0
	m.text = textMap{h.Text.Virt, h.Text.Phys, h.Text.Size}
	m.setSlots(h.Slots)
	m.reschedule()
	return h.Note, nil
}

// mapRAM maps the memory in the file: pages that are in the host's cache are not copied to
// be compared.
func (h *header) mapRAM(f *os.File) ([]byte, error) {
	if info, err := f.Stat(); err != nil || info.Size() != h.devicesAt()+h.Devices.Size {
		return nil, fmt.Errorf("%w: it is truncated", ErrSnapshot)
	}
	ram, err := unix.Mmap(int(f.Fd()), headerRoom, int(h.Memory), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("mapping a snapshot: %w", err)
	}
	return ram, nil
}

// checkRAM compares memory with the checksums. Every CPU takes a part.
func (h *header) checkRAM(ram []byte) error {
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i, want := range h.RAM {
		at := i * chunk
		all.Go(func() error {
			if at < 0 || at >= len(ram) || crc32.Checksum(ram[at:min(at+chunk, len(ram))], castagnoli) != want {
				return fmt.Errorf("%w: its memory is damaged", ErrSnapshot)
			}
			return nil
		})
	}
	return all.Wait()
}

// readDevices reads the state of the devices; the file is known to be long enough.
func (h *header) readDevices(f io.ReaderAt) ([]byte, error) {
	b := make([]byte, h.Devices.Size)
	if _, err := f.ReadAt(b, h.devicesAt()); err != nil || crc32.Checksum(b, castagnoli) != h.Devices.Sum {
		return nil, fmt.Errorf("%w: its devices are damaged", ErrSnapshot)
	}
	return b, nil
}

// SnapshotInfo is what a snapshot says of itself.
type SnapshotInfo struct {
	Arch    string
	Library string // version of the emulator library
	Memory  uint64 // bytes
	Note    []byte
}

// ReadSnapshot reads what a snapshot says of itself; its memory is not looked at. The
// error wraps ErrSnapshot.
func ReadSnapshot(f io.ReaderAt) (SnapshotInfo, error) {
	h, err := readHeader(f)
	if err != nil {
		return SnapshotInfo{}, err
	}
	return SnapshotInfo{h.Arch, h.Library, h.Memory, h.Note}, nil
}

func readHeader(f io.ReaderAt) (*header, error) {
	b := make([]byte, len(snapshotMagic)+8)
	if _, err := f.ReadAt(b, 0); err != nil || string(b[:len(snapshotMagic)]) != snapshotMagic {
		return nil, fmt.Errorf("%w: it does not begin as one", ErrSnapshot)
	}
	size := binary.LittleEndian.Uint32(b[len(snapshotMagic):])
	sum := binary.LittleEndian.Uint32(b[len(snapshotMagic)+4:])
	if size > headerRoom {
		return nil, fmt.Errorf("%w: its header is damaged", ErrSnapshot)
	}
	body := make([]byte, size)
	if _, err := f.ReadAt(body, int64(len(b))); err != nil || crc32.Checksum(body, castagnoli) != sum {
		return nil, fmt.Errorf("%w: its header is damaged", ErrSnapshot)
	}
	h := new(header)
	if err := json.Unmarshal(body, h); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	if h.Memory < MinMemory || h.Memory > MaxMemory || h.Memory%pageSize != 0 || h.Devices.Size < 0 {
		return nil, fmt.Errorf("%w: its header makes no sense", ErrSnapshot)
	}
	return h, nil
}

func libraryVersion() string {
	v, _ := LibraryVersion()
	return v
}
