package trampoline

import (
	"encoding/binary"
	"fmt"

	"trapline/kernel/arch"
)

// RISCV64 displaces instructions of RV64GC.
//
// A slot has 8 bytes: the instruction, made four bytes long by a c.nop if it has two, and
// the second breakpoint that stands for the jump back, as in FreeBSD's kinst. What names or
// saves its own address has no room there to be written anew: the machine does it (see
// riscvDo).
//
//	pc      c.ebreak        the first breakpoint, over c.ld a0,8(a1)
//	pc+2    ..         <----------------------------.
//	                                                |
//	slot    c.ld a0,8(a1)                           |
//	        c.nop                                   |
//	        ebreak          the second; goes on at -'
var RISCV64 = &ISA{
	Arch:     arch.RISCV64,
	SlotSize: 8,
	Fill:     arch.RISCV64.Breakpoint(2),
	Length:   riscvLength,
	Plan:     riscvPlan,
	Encode:   riscvEncode,
	Do:       riscvDo,
	Flow:     riscvFlow,
	Text:     riscvText,
}

// riscvLength tells two bytes from four by the lowest bits (Unprivileged ISA, 1.5). Longer
// encodings are reserved. Whether an encoding has a meaning does not matter.
func riscvLength(code []byte) (int, error) {
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

// riscvWord is an instruction of n bytes.
func riscvWord(code []byte, n int) uint32 {
	if n == 2 {
		return uint32(binary.LittleEndian.Uint16(code))
	}
	return binary.LittleEndian.Uint32(code)
}

const riscvCNop = 0x0001

// riscvEncode writes the trampoline of a plan.
func riscvEncode(p Plan, code []byte, pc, slot uint64) ([]byte, error) {
	if !p.InSlot() {
		return nil, fmt.Errorf("encoding the trampoline of %#x: there is none (%s)", pc, p.Kind)
	}
	if len(code) < int(p.Len) {
		return nil, fmt.Errorf("encoding the trampoline of %#x: %w", pc, ErrTruncated)
	}
	out := append([]byte(nil), code[:p.Len]...)
	if p.Len == 2 {
		out = binary.LittleEndian.AppendUint16(out, riscvCNop)
	}
	return append(out, arch.RISCV64.Breakpoint(4)...), nil
}
