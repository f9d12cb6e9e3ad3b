package guestos

import (
	"cmp"

	"trapline/insn"
	"trapline/kernel/arch"
)

// riscv64Frames follows frame pointers (RISC-V ELF psABI, 2.3): before the address in s0
// lie the caller's s0 and, before that in order, the return address: a function that calls
// no other stores only s0.
func riscv64Frames(f *frames, mem Mem, regs arch.Regs, pcs []uint64) int {
	if riscv64User(regs) {
		return 0
	}
	return f.linked(cmp.Or(f.links, &riscv64Links), mem, regs, pcs)
}

const (
	before8  = ^uint64(8) + 1
	before16 = ^uint64(16) + 1
)

var riscv64Links = linkISA{
	set:      insn.RISCV64,
	full:     record{next: before16, ret: before8},
	leaf:     record{next: before8},
	entries:  []string{"handle_exception", "ret_from_exception"},
	saved:    riscv64Saved,
	savedReg: riscv64SavedReg,
}

// riscv64Saved: the entry makes no record, so the frame pointer of what it calls leads to the
// stack pointer it has called with.
func riscv64Saved(_ *frames, _ Mem, fp, _ uint64) (at uint64, ok bool) { return fp, true }
