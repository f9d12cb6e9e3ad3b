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
	snapshotMagic = "trapline snapshot 4\n"
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

// savedCPU is a CPU. One that is alone is neither idle nor off.
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

// readDevices reads the state of the devices; the file is known to be long enough.
func (h *header) readDevices(f io.ReaderAt) ([]byte, error) {
	b := make([]byte, h.Devices.Size)
	if _, err := f.ReadAt(b, h.devicesAt()); err != nil || crc32.Checksum(b, castagnoli) != h.Devices.Sum {
		return nil, fmt.Errorf("%w: its devices are damaged", ErrSnapshot)
	}
	return b, nil
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
