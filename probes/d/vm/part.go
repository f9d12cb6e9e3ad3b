package vm

import (
	"bytes"
	"encoding/binary"
	"slices"

	"trapline/probes/d/code"
)

// partOf runs an operation on a part of a variable: args are what it takes from the stack,
// bottom first. The result takes their place.
func (f *frame) partOf(in *code.Instr, args []uint64) (v uint64, ok bool) {
	if in.Op == code.OpPlace {
		return f.place(in, args)
	}
	i, size := in.Part()
	x := &f.m.prog.Vars[i]
	key, ok := f.partKey(i, x, &args)
	if !ok {
		return 0, false
	}
	if args[0] > uint64(x.Type.Size-size) {
		return 0, f.fail(IllegalOp, 0)
	}
	off := int(args[0])
	switch in.Op {
	case code.OpPut, code.OpPutStr, code.OpPutBytes:
		p, ok := f.partsToWrite(i, x, key)
		if ok && p != nil {
			f.put1(in, p[off:off+size], args[1])
		}
		return args[1], ok
	}
	p := f.partsToRead(i, x, key)
	p = p[min(off, len(p)):min(off+size, len(p))]
	switch in.Op {
	case code.OpPartStr:
		if n := bytes.IndexByte(p, 0); n >= 0 {
			p = p[:n]
		}
		return f.keep(p)
	case code.OpPartBytes:
		q, ok := f.alloc(size)
		clear(q[copy(q, p):])
		return f.last(len(q)), ok
	}
	return f.partInt(in, p, size), true
}

// partKey is the key of a dynamic variable, nil of another; it takes the one on the stack
// off args.
func (f *frame) partKey(i uint64, x *code.Var, args *[]uint64) (key []byte, ok bool) {
	switch {
	case len(x.Keys) > 0:
		key = f.bytes((*args)[0])
		*args = (*args)[1:]
	case x.Scope == code.Self:
		return f.selfKey(i)
	}
	return key, true
}

// partsToRead is what the variable holds; what is missing is 0.
func (f *frame) partsToRead(i uint64, x *code.Var, key []byte) []byte {
	switch {
	case key != nil:
		if v := f.m.dyn.find(key); v != nil {
			return v.str
		}
		return nil
	case x.Scope == code.This:
		if f.this[i].firing != f.firing {
			return nil
		}
		return f.this[i].str
	}
	return f.m.globals[i].str
}

// partsToWrite is the whole variable, nil if there is no room for it.
func (f *frame) partsToWrite(i uint64, x *code.Var, key []byte) (p []byte, ok bool) {
	size := x.Type.Size
	if key != nil {
		return f.dynParts(key, size)
	}
	v := &f.m.globals[i]
	if x.Scope == code.This {
		v = &f.this[i]
		if v.firing != f.firing {
			v.firing, v.str = f.firing, v.str[:0]
		}
	}
	if n := len(v.str); n < size {
		if cap(v.str) < size {
			v.str = append(make([]byte, 0, size), v.str...)
		}
		v.str = v.str[:size]
		clear(v.str[n:])
	}
	return v.str, true
}

// dynParts is the whole of a dynamic variable; one that is not there yet is made of zeros.
func (f *frame) dynParts(key []byte, size int) (p []byte, ok bool) {
	v := f.m.dyn.find(key)
	if v == nil {
		f.m.dyn.set(key, 0, f.m.zeroed(size))
		if v = f.m.dyn.find(key); v == nil {
			return nil, true // counted as a drop
		}
	}
	if n := len(v.str); n < size { // a string
		f.m.dyn.set(key, 0, slices.Concat(v.str, f.m.zeroed(size-n)))
		if v = f.m.dyn.find(key); len(v.str) < size {
			return nil, true // counted as a drop
		}
	}
	return v.str, true
}

// zeroed is n bytes that are 0.
func (m *Machine) zeroed(n int) []byte {
	if len(m.zeros) < n {
		m.zeros = make([]byte, n)
	}
	return m.zeros[:n]
}

// partInt returns the integer, or bit-field, in p. Missing bytes are 0.
func (f *frame) partInt(in *code.Instr, p []byte, size int) uint64 {
	clear(f.word[:])
	copy(f.word[:], p)
	v := binary.LittleEndian.Uint64(f.word[:])
	off, bits := in.Bits()
	if bits == 0 {
		off, bits = 0, 8*size
	}
	v <<= 64 - off - bits
	if in.Op == code.OpPartS {
		return uint64(int64(v) >> (64 - bits))
	}
	return v >> (64 - bits)
}

// put1 stores a value in a part.
func (f *frame) put1(in *code.Instr, p []byte, v uint64) {
	switch in.Op {
	case code.OpPutStr:
		clear(p[copy(p[:len(p)-1], f.bytes(v)):])
		return
	case code.OpPutBytes:
		clear(p[copy(p, f.bytes(v)):])
		return
	}
	if off, bits := in.Bits(); bits > 0 {
		old := *in
		old.Op, old.N = code.OpPartU, 0
		mask := (uint64(1)<<bits - 1) << off
		v = f.partInt(&old, p, len(p))&^mask | v<<off&mask
	}
	binary.LittleEndian.PutUint64(f.word[:], v)
	copy(p, f.word[:])
}

// partArgs is how many values an operation on a part takes from the stack.
func (m *Machine) partArgs(in *code.Instr) int {
	n := 1
	switch in.Op {
	case code.OpPut, code.OpPutStr, code.OpPutBytes:
		n = 2
	}
	if v, _ := in.Part(); len(m.prog.Vars[v].Keys) > 0 {
		n++
	}
	return n
}
