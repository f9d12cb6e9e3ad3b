package trampoline

import "trapline/kernel/arch"

// A riscvClass is the instructions of n bytes whose bits under mask are value.
type riscvClass struct {
	n           int
	mask, value uint32
	kind        Kind
	do          func(w uint32) arch.Emulation // of Emulate
}

// riscvPlan decides how an instruction is displaced: by the first row of riscvClasses that
// it is of, or else it is copied.
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
func riscvPlan(code []byte, _ uint64) Plan {
	n, err := riscvLength(code)
	switch {
	case err == ErrTruncated:
		return Plan{reason: reasonTruncated}
	case err != nil:
		return Plan{reason: reasonUndefined}
	}
	p := Plan{Kind: Copy, Len: uint8(n)}
	if c := riscvClassOf(riscvWord(code, n), n); c != nil {
		p.Kind = c.kind
	}
	if p.Kind == Emulate {
		p.form = formDo
	}
	return p
}

func riscvClassOf(w uint32, n int) *riscvClass {
	for i := range riscvClasses {
		if c := &riscvClasses[i]; n == c.n && w&c.mask == c.value {
			return c
		}
	}
	return nil
}

// riscvClasses are the instructions that are not copied (Unprivileged ISA, 24.1 and 16.8).
// The first row that fits counts.
var riscvClasses = []riscvClass{
	{4, 0xffffffff, 0x00100073, Guest, nil}, // ebreak
	{4, 0x0000007f, 0x00000017, Emulate, riscvAUIPC},
	{4, 0x0000007f, 0x0000006f, Emulate, riscvJAL},
	{4, 0x0000707f, 0x00000067, Emulate, riscvJALR},
	{4, 0x0000707f, 0x00000063, Emulate, riscvBranch(arch.OpIfEQ)},  // beq
	{4, 0x0000707f, 0x00001063, Emulate, riscvBranch(arch.OpIfNE)},  // bne
	{4, 0x0000707f, 0x00004063, Emulate, riscvBranch(arch.OpIfLT)},  // blt
	{4, 0x0000707f, 0x00005063, Emulate, riscvBranch(arch.OpIfGE)},  // bge
	{4, 0x0000707f, 0x00006063, Emulate, riscvBranch(arch.OpIfLTU)}, // bltu
	{4, 0x0000707f, 0x00007063, Emulate, riscvBranch(arch.OpIfGEU)}, // bgeu
	{2, 0xffff, 0x9002, Guest, nil},                                 // c.ebreak
	{2, 0xe003, 0xa001, Emulate, riscvCJ},
	{2, 0xe003, 0xc001, Emulate, riscvCBranch(arch.OpIfEQ)}, // c.beqz
	{2, 0xe003, 0xe001, Emulate, riscvCBranch(arch.OpIfNE)}, // c.bnez
	{2, 0xffff, 0x8002, Copy, nil},                          // reserved: c.jr x0
	{2, 0xf07f, 0x8002, Emulate, riscvCJR},
	{2, 0xf07f, 0x9002, Emulate, riscvCJALR},
}
