package insn

import "trapline/kernel/arch"

// AMD64 is the instructions of 64-bit mode.
var AMD64 = sets.Row(arch.AMD64, &Set{
	Arch:    arch.AMD64,
	Length:  amd64Length,
	Flow:    amd64Flow,
	Frame:   amd64Frame,
	Class:   amd64Class,
	Text:    amd64Text,
	Execute: amd64Execute,
})

func amd64Length(code []byte) (int, error) {
	in, err := DecodeAMD64(code)
	return in.Len, err
}

// AMD64Displacement returns the displacement by which an instruction names an address relative
// to its own end, and its size in bytes. The size is 0 if the instruction names none.
func AMD64Displacement(code []byte) (disp int64, size int) {
	in, err := DecodeAMD64(code)
	switch {
	case err != nil:
		return 0, 0
	case in.RIPRel:
		return int64(int32At(code, in.Disp, in.dispLen)), in.dispLen
	case in.relative(code):
		return int64(int32At(code, in.imm, in.immLen)), in.immLen
	}
	return 0, 0
}

// relative reports whether the immediate is the displacement of a branch.
func (in *AMD64Inst) relative(code []byte) bool {
	switch op := in.Opcode; in.space {
	case spaceOne:
		return op&0xf0 == 0x70 || op&0xfc == 0xe0 || op == 0xe8 || op == 0xe9 || op == 0xeb ||
			op == 0xc7 && code[in.ModRM] == 0xf8 // xbegin
	case space0F:
		return op&0xf0 == 0x80
	}
	return false
}
