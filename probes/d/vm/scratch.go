package vm

import (
	"bytes"
	"encoding/binary"
)

// scratchBase is where the scratch space lies in the eyes of a program: at addresses that
// no guest has, since they are not canonical on any architecture.
const scratchBase = 0x00d7_7ace_0000_0000

// scratch is the scratch space from addr on, where at least n bytes of it are there. The
// program's constants are not part of it.
func (f *frame) scratch(addr uint64, n int) (p []byte, ok bool) {
	off := addr - scratchBase
	if off < uint64(len(f.m.lits)) || off > uint64(len(f.mem)) || uint64(len(f.mem))-off < uint64(n) {
		return nil, false
	}
	return f.mem[off:], true
}

// address is that of the last n bytes of the scratch space.
func (f *frame) address(n int) uint64 { return scratchBase + uint64(len(f.mem)-n) }

// read fills p from the guest or from memory of the program.
func (f *frame) read(addr uint64, p []byte) bool {
	if s, ok := f.object(addr, len(p)); ok {
		copy(p, s)
		return true
	}
	if bad, ok := f.env.Read(addr, p); !ok {
		return f.fail(BadAddr, bad)
	}
	return true
}

// target is n bytes of the program's memory that are about to be written.
func (f *frame) target(addr, n uint64) (p []byte, ok bool) {
	if n <= uint64(f.limit) {
		if s, ok := f.object(addr, int(n)); ok {
			return s[:n], true
		}
	}
	return nil, f.fail(BadAddr, addr)
}

// store puts the low n bytes of v into the program's memory.
func (f *frame) store(addr uint64, n int, v uint64) bool {
	p, ok := f.target(addr, uint64(n))
	if ok {
		var tmp [8]byte
		binary.LittleEndian.PutUint64(tmp[:], v)
		copy(p, tmp[:n])
	}
	return ok
}

// local is the address of a local variable of the guest, of a copy if it is not in memory.
func (f *frame) local(name string) (addr uint64, ok bool) {
	addr, data, err := f.env.Local(name)
	if err != nil {
		f.fault.Detail = err.Error()
		return 0, f.fail(NoValue, 0)
	}
	if data == nil {
		return addr, true
	}
	if addr, ok = f.allocCleared(uint64(len(data))); ok {
		p, _ := f.scratch(addr, len(data))
		copy(p, data)
	}
	return addr, ok
}

// upToNUL is the string that s begins with, of at most n bytes.
func upToNUL(s []byte, n int) []byte {
	s = cut(s, n)
	if i := bytes.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return s
}

// allocCleared takes n bytes of scratch space, all 0.
func (f *frame) allocCleared(n uint64) (addr uint64, ok bool) {
	if n > uint64(f.limit) {
		return 0, f.fail(NoScratch, 0)
	}
	p, ok := f.alloc(int((n + 7) &^ 7))
	clear(p)
	return f.address(len(p)), ok
}

// copyin copies n bytes of the guest to the scratch space.
func (f *frame) copyin(from, n uint64) (addr uint64, ok bool) {
	if addr, ok = f.allocCleared(n); !ok {
		return 0, false
	}
	return addr, f.bcopy(from, addr, n)
}

// bcopy copies n bytes to the scratch space.
func (f *frame) bcopy(from, to, n uint64) bool {
	p, ok := f.target(to, n)
	return ok && f.read(from, p)
}

// copyout copies n bytes to the guest.
func (f *frame) copyout(from, to, n uint64) bool {
	if n > uint64(f.limit) {
		return f.fail(NoScratch, 0)
	}
	p, ok := f.alloc(int(n))
	return ok && f.read(from, p) && f.write(to, p)
}

// copyoutstr stores a string with its NUL, at most n bytes in all.
func (f *frame) copyoutstr(s []byte, to, n uint64) bool {
	if n == 0 {
		return true
	}
	s = cut(s, int(min(n, uint64(f.limit))-1))
	p, ok := f.alloc(len(s) + 1)
	if !ok {
		return false
	}
	p[copy(p, s)] = 0
	return f.write(to, p)
}

func (f *frame) write(addr uint64, p []byte) bool {
	if bad, ok := f.env.Write(addr, p); !ok {
		return f.fail(BadAddr, bad)
	}
	return true
}
