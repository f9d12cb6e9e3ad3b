package guestos

import "trapline/kernel/arch"

// riscv64: the kernel keeps the current thread in tp.
var riscv64 = isa{
	arch:        arch.RISCV64,
	userMode:    riscv64User,
	currentTask: riscv64CurrentTask,
	frames:      riscv64Frames,
}

// riscv64CurrentTask reads tp, or sscratch, which is 0 in the kernel except where the
// kernel is entered or left: there it and tp trade places, and one of them is the
// kernel's. A user program that puts a kernel's address into tp can deceive us in a few
// instructions of the way out.
func riscv64CurrentTask(_ *linux, _ Mem, regs arch.Regs) (task uint64, err error) {
	tp, scratch := regs.Reg(arch.RiscvTP), regs.Reg(arch.RiscvSSCRATCH)
	atEntry := regs.Reg(arch.RiscvPC) == regs.Reg(arch.RiscvSTVEC)&^3
	switch {
	case highHalf(scratch) && (riscv64User(regs) || atEntry || !highHalf(tp)):
		return scratch, nil
	case highHalf(tp):
		return tp, nil
	}
	return 0, nil // not so far yet
}

func riscv64User(r arch.Regs) bool { return r.Reg(arch.RiscvPRIV) == 0 }
