package insn

import "trapline/kernel/arch"

// riscv64Flow: a return is a jump to what the return address register holds (Unprivileged ISA,
// 2.5.1).
func riscv64Flow(code []byte, pc uint64) Flow {
	n, err := riscv64Length(code)
	if err != nil {
		return Flow{}
	}
	do := RISCV64Emulation(code)
	if do.Op == arch.OpJumpReg && do.A == arch.NoReg && do.B == arch.RISCV64RA && do.Imm == 0 {
		return Flow{Way: Return}
	}
	return emulated(arch.RISCV64, do, pc, n)
}
