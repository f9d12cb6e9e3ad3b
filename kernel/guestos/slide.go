package guestos

import "trapline/kernel/arch"

// An anchor is code of Linux whose address the CPU gets early in the boot: where it runs
// less where it was linked is how far the kernel has moved itself (KASLR).
type anchor struct {
	symbol string
	reg    arch.Reg
}

// slideUnit divides every distance by which Linux moves itself, on all architectures. The
// register may hold something else for a few instructions, as riscv64's does.
const slideUnit = 2 << 20

// Slide compares the anchor's register with its symbol.
func (l *linux) Slide(regs arch.Regs) (delta uint64, known bool) {
	at := regs.Reg(l.isa.anchor.reg)
	delta = at - l.anchor
	return delta, l.anchor != 0 && highHalf(at) && delta%slideUnit == 0
}
