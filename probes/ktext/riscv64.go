package ktext

import (
	"encoding/binary"
	"slices"

	"trapline/probes/patch"
)

// riscv64Function looks for a store of the return address on the stack.
func riscv64Function(instrs []patch.Instr) string {
	if slices.ContainsFunc(instrs, func(in patch.Instr) bool { return riscv64StoresRA(in.Code) }) {
		return ""
	}
	return "the function does not save the return address"
}

// riscv64StoresRA tells sd ra,n(sp) and c.sdsp ra,n.
func riscv64StoresRA(code []byte) bool {
	if len(code) == 2 {
		return binary.LittleEndian.Uint16(code)&0xe07f == 0xe006
	}
	return binary.LittleEndian.Uint32(code)&0x01fff07f == 0x00113023
}

func riscv64Instruction(instrs []patch.Instr, i int) string {
	switch code := instrs[i].Code; {
	case code[0]&0x7f == 0x73 && len(code) == 4:
		return "it is a SYSTEM instruction, which may read or change the interrupt mask"
	case exclusive(instrs, i, riscv64LR, riscv64SC):
		return inExclusive
	}
	return ""
}

// riscv64AMO tells an instruction of the A extension by its function (Unprivileged ISA, 24.1).
func riscv64AMO(code []byte, function byte) bool {
	return len(code) == 4 && code[0]&0x7f == 0x2f && code[3]>>3 == function
}

func riscv64LR(code []byte) bool { return riscv64AMO(code, 2) }
func riscv64SC(code []byte) bool { return riscv64AMO(code, 3) }
