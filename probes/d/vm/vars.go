package vm

import (
	"encoding/binary"

	"trapline/probes/d/code"
)

// A variable holds a global or this-> variable that is no array.
type variable struct {
	num    uint64
	str    []byte
	firing uint64 // of a this-> variable: when it was set
}

// loadVar is the value on the stack of a variable that holds num or str.
func (f *frame) loadVar(t *code.Type, num uint64, str []byte) (v uint64, ok bool) {
	switch {
	case t.Kind == code.Int:
		return num, true
	case len(str) == 0:
		return f.unset(t)
	case t.Kind == code.String:
		str = upToNUL(str, len(str)) // it may have been written through a pointer
	}
	return f.keep(str)
}

// unset is the value of a variable that was never stored: 0, "", or bytes that are 0.
func (f *frame) unset(t *code.Type) (v uint64, ok bool) {
	if t.Kind != code.Bytes {
		return 0, true
	}
	p, ok := f.alloc(t.Size)
	clear(p)
	return f.last(len(p)), ok
}

// convert is a value on the stack as a variable of type t takes it: an integer with all its 64 bits,
// whatever its type, as in DTrace.
func (f *frame) convert(t *code.Type, v uint64) uint64 {
	if t.Kind == code.String {
		r := code.Ref(v)
		return uint64(code.MakeRef(r.Off(), min(r.Len(), uint32(t.Size))))
	}
	return v
}

func (x *variable) store(f *frame, t *code.Type, v uint64) {
	if t.Kind == code.Int {
		x.num = v
		return
	}
	x.str = append(x.str[:0], f.bytes(v)...)
}

func (f *frame) loadGlobal(i uint64) (v uint64, ok bool) {
	x := &f.m.globals[i]
	return f.loadVar(&f.m.prog.Vars[i].Type, x.num, x.str)
}

func (f *frame) storeGlobal(i, v uint64) uint64 {
	t := &f.m.prog.Vars[i].Type
	v = f.convert(t, v)
	f.m.globals[i].store(f, t, v)
	return v
}

func (f *frame) loadThis(i uint64) (v uint64, ok bool) {
	x, t := &f.this[i], &f.m.prog.Vars[i].Type
	if x.firing != f.firing {
		return f.unset(t)
	}
	return f.loadVar(t, x.num, x.str)
}

func (f *frame) storeThis(i, v uint64) uint64 {
	x, t := &f.this[i], &f.m.prog.Vars[i].Type
	v = f.convert(t, v)
	x.firing = f.firing
	x.store(f, t, v)
	return v
}

// selfKey is the dynamic variable's key of a self-> variable of the current thread.
func (f *frame) selfKey(i uint64) (key []byte, ok bool) {
	t, ok := f.current()
	if !ok {
		return nil, false
	}
	binary.LittleEndian.PutUint64(f.self[:], i)
	binary.LittleEndian.PutUint64(f.self[8:], t.Key)
	return f.self[:], true
}

func (f *frame) loadSelf(i uint64) (v uint64, ok bool) {
	key, ok := f.selfKey(i)
	if !ok {
		return 0, false
	}
	return f.loadDyn(i, key)
}

func (f *frame) storeSelf(i, v uint64) (uint64, bool) {
	key, ok := f.selfKey(i)
	if !ok {
		return 0, false
	}
	return f.storeDyn(i, key, v), true
}

// arrayKey packs the tuple of keys on the stack into the scratch space, with what distinguishes
// the array, and the thread of a self-> one, from others.
func (f *frame) arrayKey(i uint64, args []uint64) (ref uint64, ok bool) {
	x := &f.m.prog.Vars[i]
	n := 16
	for j, t := range x.Keys {
		n += 8
		if t.Kind != code.Int {
			n += int(code.Ref(args[j]).Len())
		}
	}
	p, ok := f.alloc(n)
	if !ok {
		return 0, false
	}
	thread := uint64(0)
	if x.Scope == code.Self {
		t, ok := f.current()
		if !ok {
			return 0, false
		}
		thread = t.Key
	}
	f.packKey(p[:0], x.Keys, i, thread, args)
	return f.last(n), true
}

func (f *frame) packKey(p []byte, keys []code.Type, i, thread uint64, args []uint64) {
	p = binary.LittleEndian.AppendUint64(p, i)
	p = binary.LittleEndian.AppendUint64(p, thread)
	for j, t := range keys {
		if t.Kind == code.Int {
			p = binary.LittleEndian.AppendUint64(p, args[j])
			continue
		}
		b := f.bytes(args[j])
		p = binary.LittleEndian.AppendUint64(p, uint64(len(b)))
		p = append(p, b...)
	}
}

// loadDyn is the value of the dynamic variable under key, of the type of variable i.
func (f *frame) loadDyn(i uint64, key []byte) (v uint64, ok bool) {
	t := &f.m.prog.Vars[i].Type
	x := f.m.dyn.find(key)
	if x == nil {
		return f.unset(t)
	}
	return f.loadVar(t, x.num, x.str)
}

// storeDyn stores v under key: 0 and "" free the variable. Without room for a new one
// nothing is stored and the machine counts a drop.
func (f *frame) storeDyn(i uint64, key []byte, v uint64) uint64 {
	t := &f.m.prog.Vars[i].Type
	v = f.convert(t, v)
	switch {
	case t.Kind == code.Int && v == 0, t.Kind == code.String && code.Ref(v).Len() == 0:
		f.m.dyn.remove(key)
	case t.Kind == code.Int:
		f.m.dyn.set(key, v, nil)
	default:
		f.m.dyn.set(key, 0, f.bytes(v))
	}
	return v
}
