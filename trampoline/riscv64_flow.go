package trampoline

import "trapline/kernel/arch"

// riscvFlow tells where control goes. A return is a jump to what the return address
// register holds (Unprivileged ISA, 2.5.1).
func riscvFlow(code []byte, pc uint64) Flow {
	n, err := riscvLength(code)
	if err != nil {
		return Flow{}
	}
	do := riscvDo(riscvPlan(code, pc), code, pc)
	if do.Op == arch.OpJumpReg && do.A == arch.NoReg && do.B == arch.RiscvRA && do.Imm == 0 {
		return Flow{Way: Return}
	}
	return emulated(arch.RISCV64, do, pc, n)
}
