package trampoline

import (
	"trapline/insn"
	"trapline/kernel/arch"
)

// riscv64Plan decides how an instruction is displaced.
//
// Copied: what neither names an address relative to itself nor saves one. That includes
// all of SYSTEM (csr*, with reads and writes of the interrupt mask, which is the guest's
// own at all times: interrupts between the two breakpoints are held back by the emulator;
// wfi; sfence.vma; ecall, whose exception is reported at pc; sret and mret, which leave the
// slot and never come to the second breakpoint), fence.i, LR and SC (the reservation
// survives a breakpoint), and what is undefined (the fault is reported at pc).
//
// Emulated by the machine: auipc, all jumps and branches.
//
// Refused: encodings longer than 32 bits, which are reserved.
func riscv64Plan(code []byte, _ uint64) Plan {
	n, err := insn.RISCV64.Length(code)
	p := Plan{Kind: Copy, Len: uint8(n)}
	switch {
	case err == insn.ErrTruncated:
		return Plan{reason: reasonTruncated}
	case err != nil:
		return Plan{reason: reasonUndefined}
	case insn.RISCV64.Class(code) == insn.Breakpoint:
		p.Kind = Guest
	case insn.RISCV64Emulation(code).Op != arch.OpNone:
		p = p.as(Emulate, formDo)
	}
	return p
}
