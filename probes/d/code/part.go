package code

import "fmt"

// PartImm is the Imm of an operation on a part, of size bytes, of Vars[v].
func PartImm(v uint64, size int) uint64 { return uint64(size)<<32 | v }

// BitsN is the N of an operation on a bit-field: bits of them, from the bit off of the
// integer that holds them.
func BitsN(off, bits int) int { return off<<8 | bits }

// Part takes the Imm of an operation on a part of a variable apart.
func (in Instr) Part() (v uint64, size int) { return in.Imm & (1<<32 - 1), int(in.Imm >> 32) }

// Bits takes the N of an operation on a part apart; bits is 0 if it is no bit-field.
func (in Instr) Bits() (off, bits int) { return int(in.N >> 8), int(in.N & 0xff) }

func (p *Program) partOK(in Instr) bool {
	v, size := in.Part()
	if v >= uint64(len(p.Vars)) || size < 1 || size > p.Vars[v].Type.Size {
		return false
	}
	if k := p.Vars[v].Type.Kind; k != Bytes && !(k == String && in.Op == OpPlace) {
		return false
	}
	off, bits := in.Bits()
	switch in.Op {
	case OpPartS, OpPartU, OpPut:
		return (size == 1 || size == 2 || size == 4 || size == 8) &&
			(in.N == 0 || bits > 0 && off+bits <= 8*size)
	}
	return in.N == 0
}

// partText is the variable, the size and the bits.
func (p *Program) partText(in Instr) string {
	v, size := in.Part()
	name := fmt.Sprintf("?%d", v)
	if v < uint64(len(p.Vars)) {
		name = p.Vars[v].Name
	}
	if off, bits := in.Bits(); bits > 0 {
		return fmt.Sprintf("%s %d:%d/%d", name, size, off, bits)
	}
	return fmt.Sprintf("%s %d", name, size)
}
