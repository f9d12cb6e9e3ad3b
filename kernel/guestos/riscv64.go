package guestos

import "trapline/kernel/arch"

// riscv64: the kernel keeps the current thread in tp.
var riscv64 = isas.Row(arch.RISCV64, &isa{
	userMode:    riscv64User,
	currentTask: riscv64CurrentTask,
	anchor:      anchor{"handle_exception", arch.RISCV64STVEC},
	record:      record{next: before16, ret: before8},
	frames:      riscv64Frames,
	savedRegs:   riscv64SavedReg,
	savedSize:   288,
	callArgs:    arch.RISCV64.Args[:6],
	callPrefix:  "__riscv_sys_",
	signalFlag:  2,
	savedUser:   func(r arch.Regs) bool { return r.Reg(arch.RISCV64SSTATUS)&0x100 == 0 && r.Reg(arch.RISCV64PC) != 0 }, // SPP
})

// riscv64CurrentTask reads tp, or sscratch, which is 0 in the kernel except where the
// kernel is entered or left: there it and tp trade places, and one of them is the
// kernel's. A user program that puts a kernel's address into tp can deceive us in a few
// instructions of the way out.
func riscv64CurrentTask(_ *linux, _ Mem, regs arch.Regs) (task uint64, err error) {
	tp, scratch := regs.Reg(arch.RISCV64TP), regs.Reg(arch.RISCV64SSCRATCH)
	atEntry := regs.Reg(arch.RISCV64PC) == regs.Reg(arch.RISCV64STVEC)&^3
	switch {
	case highHalf(scratch) && (riscv64User(regs) || atEntry || !highHalf(tp)):
		return scratch, nil
	case highHalf(tp):
		return tp, nil
	}
	return 0, nil // not so far yet
}

func riscv64User(r arch.Regs) bool { return r.Reg(arch.RISCV64PRIV) == 0 }

// riscv64SavedReg: struct pt_regs begins with the PC and x1 to x31; sstatus follows.
func riscv64SavedReg(r arch.Reg) int {
	switch {
	case r == arch.RISCV64PC:
		return 0
	case r == arch.RISCV64SSTATUS:
		return 8 * 32
	case r > arch.RISCV64X0 && r < arch.RISCV64PC:
		return 8 * int(r)
	}
	return -1
}
