package sdt

import (
	"encoding/binary"

	"trapline/kernel/ctypes"
)

// Current implements guestos.Kernel.
func (t *Tracepoints) Current() uint64 { return t.Thread(t.cpu) }

// Member implements guestos.Kernel: it is a member of the structure with this tag at an address; one that is a pointer leads
// to the member of the next name. It is not ok where there is no such thing.
func (t *Tracepoints) Member(addr uint64, tag string, names ...string) (v uint64, ok bool) {
	if t.types == nil {
		return 0, false
	}
	typ, ok := t.types.Tagged(ctypes.Struct, tag)
	for i, name := range names {
		if !ok || !typ.IsStruct() {
			return 0, false
		}
		f, known := typ.Member(name)
		if !known || f.Bits > 0 {
			return 0, false
		}
		addr, typ = addr+uint64(f.Offset), f.Type
		last := i+1 == len(names)
		if last || typ.IsPointer() {
			if v, ok = t.word(addr, typ.Bytes()); !ok {
				return 0, false
			}
		}
		if typ.IsPointer() && !last {
			addr, typ = v, typ.Base().Elem
		}
	}
	return v, true
}

// word is an integer of the kernel's of up to 8 bytes.
func (t *Tracepoints) word(addr uint64, size int) (v uint64, ok bool) {
	var p [8]byte
	if size > len(p) || t.read(addr, p[:size]) != nil {
		return 0, false
	}
	return binary.LittleEndian.Uint64(p[:]), true
}
