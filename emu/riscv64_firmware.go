package emu

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"trapline/emu/boot"
	"trapline/kernel/arch"
)

// Firmware of the user's is entered in machine mode at the start of RAM, with the number of the hart, the
// device tree and, for firmware that asks who comes next, struct fw_dynamic_info (OpenSBI,
// docs/firmware/fw_dynamic.md):
//
//	RAM: | firmware | 2 MiB: kernel ... | free | device tree, info | initrd |
const (
	firmwareRoom = riscv64KernelOffset

	dynamicMagic   = 0x4942534f // "OSBI"
	dynamicVersion = 2
	supervisorMode = 1
)

// placeFirmware puts it into memory. at is the address of what tells it about the kernel.
func (p *riscv64) placeFirmware(firmware []byte, placed *Placed) (at uint64, err error) {
	ram, base := p.m.engine.RAM(), p.m.engine.RAMBase()
	code, err := rawFirmware(firmware, base)
	switch {
	case err != nil:
		return 0, fmt.Errorf("the firmware: %w", err)
	case len(code) > firmwareRoom:
		return 0, fmt.Errorf("the firmware has %d bytes: there is room for %d below the kernel", len(code), firmwareRoom)
	case placed.Kernel.Base < base+uint64(len(code)):
		return 0, fmt.Errorf("the kernel lies at %#x, where the firmware is: link it to %#x", placed.Kernel.Base, base+riscv64KernelOffset)
	}
	copy(ram, code)
	info := []uint64{dynamicMagic, dynamicVersion, placed.PC, supervisorMode, 0, 0}
	at = placed.Tree.Base + boot.TreeRoom - uint64(8*len(info))
	for i, v := range info {
		binary.LittleEndian.PutUint64(ram[at-base+uint64(8*i):], v)
	}
	return at, nil
}

// rawFirmware is what lies in memory from base on: a file .bin itself, or the segments of a file .elf.
func rawFirmware(file []byte, base uint64) ([]byte, error) {
	if !bytes.HasPrefix(file, []byte(elf.ELFMAG)) {
		return file, nil
	}
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if f.Machine != elf.EM_RISCV {
		return nil, fmt.Errorf("it is for %v", f.Machine)
	}
	var code []byte
	for _, s := range f.Progs {
		if s.Type != elf.PT_LOAD || s.Filesz == 0 {
			continue
		}
		off := s.Paddr - base
		if f.Type == elf.ET_DYN {
			off = s.Paddr
		}
		if off > firmwareRoom || s.Memsz > firmwareRoom-off || s.Filesz > s.Memsz {
			return nil, fmt.Errorf("it is linked to %#x, not to the start of RAM: give its file .bin", s.Paddr)
		}
		if need := int(off + s.Memsz); len(code) < need {
			code = append(code, make([]byte, need-len(code))...)
		}
		if _, err := s.ReadAt(code[off:off+s.Filesz], 0); err != nil {
			return nil, errors.New("a segment is not in the file")
		}
	}
	return code, nil
}

// startFirmware starts all CPUs in it.
func (p *riscv64) startFirmware(placed *Placed, info uint64) {
	for _, c := range p.m.cpus {
		c.StartRISCV64(p.m.engine.RAMBase(), placed.Tree.Base)
		c.SetReg(arch.RISCV64A0+2, info)
		c.off = false
	}
}
