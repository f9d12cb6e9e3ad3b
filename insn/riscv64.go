package insn

import "trapline/kernel/arch"

// RISCV64 is the instructions of RV64GC.
var RISCV64 = sets.Row(arch.RISCV64, &Set{
	Arch:    arch.RISCV64,
	Length:  riscv64Length,
	Flow:    riscv64Flow,
	Frame:   riscv64Frame,
	Class:   riscv64Class,
	Text:    riscv64Text,
	Execute: riscv64Execute,
})

// riscv64Length: the lowest bits distinguish two bytes from four (Unprivileged ISA, 1.5). Longer
// encodings are reserved. Whether an encoding has a meaning does not matter.
func riscv64Length(code []byte) (int, error) {
	if len(code) < 2 {
		return 0, ErrTruncated
	}
	switch {
	case code[0]&3 != 3:
		return 2, nil
	case code[0]&0x1f == 0x1f:
		return 0, ErrUndefined
	case len(code) < 4:
		return 0, ErrTruncated
	}
	return 4, nil
}
