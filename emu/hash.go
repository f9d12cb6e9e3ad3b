package emu

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"trapline/kernel/arch"
)

var zeroPage [pageSize]byte

// StateHash is the SHA-256 of all there is of the guest: RAM, CPU, devices and clock.
// Two machines with the same hash go on alike. Breakpoints in place are part of RAM.
func (m *Machine) StateHash() ([sha256.Size]byte, error) {
	h := sha256.New()
	m.hashRAM(h)
	return m.hashDevices(h)
}

// DeviceHash is StateHash without the RAM.
func (m *Machine) DeviceHash() ([sha256.Size]byte, error) { return m.hashDevices(sha256.New()) }

// hashDevices adds the CPUs, the devices and the clock.
func (m *Machine) hashDevices(h hash.Hash) ([sha256.Size]byte, error) {
	for _, c := range m.cpus {
		for i := range m.arch.Regs {
			put(h, c.Reg(arch.Reg(i)))
		}
		put(h, c.Total())
	}
	if len(m.cpus) > 1 {
		m.hashTurns(h)
	}
	if err := m.platform.Save(h); err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("hashing the devices: %w", err)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// hashRAM hashes the pages that are not zero, with their addresses.
func (m *Machine) hashRAM(h hash.Hash) {
	ram := m.engine.RAM()
	for pa := 0; pa < len(ram); pa += pageSize {
		if page := ram[pa : pa+pageSize]; !bytes.Equal(page, zeroPage[:]) {
			put(h, uint64(pa))
			h.Write(page)
		}
	}
}

// hashTurns adds what there is besides when CPUs take turns.
func (m *Machine) hashTurns(h hash.Hash) {
	put(h, m.engine.Seen())
	for _, c := range m.cpus {
		fmt.Fprint(h, c.idle, c.off)
	}
}

func put(h hash.Hash, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	h.Write(b[:])
}
