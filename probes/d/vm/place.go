package vm

import "trapline/probes/d/code"

// Variables lie at addresses that no guest has, either, where a program takes the address of a part
// of one: each has placeRoom bytes, of which its size can be used. The bits above placeBits say
// which kind of variable it is.
const (
	placeBits   = 48
	placeGlobal = 0xd8 // by its index
	placeThis   = 0xd9
	placeDyn    = 0xda // by its place in the table
	placeRoom   = 24   // bits; more than code.MaxSize
)

func placeAddr(kind, i uint64) uint64 { return kind<<placeBits | i<<placeRoom }

// place is the address of the byte at an offset in a variable, which need not lie in it. From now
// on the variable is there as a whole.
func (f *frame) place(in *code.Instr, args []uint64) (addr uint64, ok bool) {
	i, _ := in.Part()
	x := &f.m.prog.Vars[i]
	key, ok := f.partKey(i, x, &args)
	if !ok {
		return 0, false
	}
	p, ok := f.partsToWrite(i, x, key)
	switch {
	case !ok:
		return 0, false
	case key != nil && p == nil:
		return 0, f.fail(NoScratch, 0) // a drop, and no place for the variable
	case key != nil:
		addr = placeAddr(placeDyn, uint64(f.m.dyn.index(key)))
	case x.Scope == code.This:
		addr = placeAddr(placeThis, i)
	default:
		addr = placeAddr(placeGlobal, i)
	}
	return addr + args[0], true
}

// placed is the variable at an address, from there on, if n bytes of it are there.
func (f *frame) placed(addr uint64, n int) (p []byte, ok bool) {
	i, off := addr>>placeRoom&(1<<(placeBits-placeRoom)-1), addr&(1<<placeRoom-1)
	switch kind := addr >> placeBits; {
	case kind == placeDyn && i < uint64(len(f.m.dyn.vars)):
		p = f.m.dyn.vars[i].str
	case kind == placeGlobal && i < uint64(len(f.m.globals)):
		p, _ = f.partsToWrite(i, &f.m.prog.Vars[i], nil)
	case kind == placeThis && i < uint64(len(f.this)):
		p, _ = f.partsToWrite(i, &f.m.prog.Vars[i], nil)
	}
	if off > uint64(len(p)) || uint64(len(p))-off < uint64(n) {
		return nil, false
	}
	return p[off:], true
}

// object is memory of the program, from an address on, if n bytes of it are there: of the scratch
// space or of a variable.
func (f *frame) object(addr uint64, n int) (p []byte, ok bool) {
	if p, ok = f.scratch(addr, n); ok {
		return p, true
	}
	if kind := addr >> placeBits; kind < placeGlobal || kind > placeDyn {
		return nil, false
	}
	return f.placed(addr, n)
}

// stringAddr is the address of a copy of a string in the scratch space, with a NUL, of at least
// size bytes.
func (f *frame) stringAddr(ref uint64, size int) (addr uint64, ok bool) {
	size = max(size, int(code.Ref(ref).Len())+1)
	p, ok := f.alloc(size)
	if !ok {
		return 0, false
	}
	clear(p[copy(p, f.bytes(ref)):])
	return f.address(size), true
}
