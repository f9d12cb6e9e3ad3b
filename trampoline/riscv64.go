package trampoline

import (
	"encoding/binary"
	"fmt"

	"trapline/insn"
	"trapline/kernel/arch"
)

// RISCV64 displaces instructions of RV64GC.
//
// A slot has 8 bytes: the instruction, made four bytes long by a c.nop if it has two, and
// the second breakpoint that stands for the jump back, as in FreeBSD's kinst. What names or
// saves its own address has no room there to be written anew: the machine does it (see
// riscv64Do).
//
//	pc      c.ebreak        the first breakpoint, over c.ld a0,8(a1)
//	pc+2    ..         <----------------------------.
//	                                                |
//	slot    c.ld a0,8(a1)                           |
//	        c.nop                                   |
//	        ebreak          the second; goes on at -'
var RISCV64 = isas.Row(arch.RISCV64, &ISA{
	Set:      insn.RISCV64,
	SlotSize: 8,
	Fill:     arch.RISCV64.Breakpoint(2),
	Plan:     riscv64Plan,
	Encode:   riscv64Encode,
	Do:       riscv64Do,
})

// riscv64Do returns what the machine does for an instruction.
func riscv64Do(p Plan, code []byte, _ uint64) arch.Emulation {
	if p.form != formDo || len(code) < int(p.Len) {
		return arch.Emulation{}
	}
	return insn.RISCV64Emulation(code)
}

const riscv64CNop = 0x0001

// riscv64Encode writes the trampoline of a plan.
func riscv64Encode(p Plan, code []byte, pc, slot uint64) ([]byte, error) {
	if !p.InSlot() {
		return nil, fmt.Errorf("encoding the trampoline of %#x: there is none (%s)", pc, p.Kind)
	}
	if len(code) < int(p.Len) {
		return nil, fmt.Errorf("encoding the trampoline of %#x: %w", pc, insn.ErrTruncated)
	}
	out := append([]byte(nil), code[:p.Len]...)
	if p.Len == 2 {
		out = binary.LittleEndian.AppendUint16(out, riscv64CNop)
	}
	return append(out, arch.RISCV64.Breakpoint(4)...), nil
}
