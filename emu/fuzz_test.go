package emu

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"trapline/kernel/arch"
)

// FuzzSnapshot: what a file says of itself is believed only as far as it can be checked. The
// checksum of the header is made right, as whoever means harm would make it.
func FuzzSnapshot(f *testing.F) {
	file, err := os.Create(filepath.Join(f.TempDir(), "snapshot"))
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	for _, h := range []header{{}, {Memory: 1 << 24, RAM: map[int]uint32{0: 1}}, {Memory: 1 << 63}, {Memory: 1 << 24, Devices: part{Size: -1}}} {
		text, err := json.Marshal(h)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		b := binary.LittleEndian.AppendUint32([]byte(snapshotMagic), uint32(len(head)))
		b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(head, castagnoli))
		if err := errors.Join(file.Truncate(0), write(file, append(b, head...))); err != nil {
			t.Fatal(err)
		}
		h, err := readHeader(file)
		if err == nil {
			// As large as it says: the rest is a hole and takes no space.
			if size := h.devicesAt() + h.Devices.Size; size > 0 && size < 1<<30 {
				file.Truncate(size)
			}
			var s *Snapshot
			if s, err = OpenSnapshot(file); err == nil {
				err = <-s.sound
			}
			if err == nil {
				_, err = h.readDevices(file)
			}
		}
		if err != nil && !errors.Is(err, ErrSnapshot) {
			t.Errorf("error %v, want ErrSnapshot", err)
		}
	})
}

func write(f *os.File, b []byte) error {
	_, err := f.WriteAt(b, 0)
	return err
}

// FuzzDevices: devices take a state that is none for an error, and go on with one that has odd
// values in it.
func FuzzDevices(f *testing.F) {
	f.Add(uint8(0), []byte(nil), 0, byte(0))
	f.Add(uint8(1), []byte("{"), 7, byte(1))
	f.Add(uint8(2), []byte("x"), 100, byte(0x80))
	f.Fuzz(func(t *testing.T, which uint8, tail []byte, at int, flip byte) {
		m, err := New(arch.All[int(which)%len(arch.All)], Config{Memory: MinMemory})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		var saved bytes.Buffer
		if err := m.platform.Save(&saved); err != nil {
			t.Fatal(err)
		}
		b := append(saved.Bytes(), tail...)
		if at >= 0 && at < len(b) {
			b[at] ^= flip
		}
		if set, err := m.platform.Parse(bytes.NewReader(b), 0); err == nil {
			set()
			m.reschedule()
			m.platform.Poll()
		}
	})
}
