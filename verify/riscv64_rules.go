package verify

import (
	"math/rand/v2"

	"trapline/kernel/arch"
)

var _ = rulesOf.Row(arch.RISCV64, &rules{
	general: append(numbered(1, 2), numbered(3, 32)...), sp: arch.RISCV64SP, pc: arch.RISCV64PC, count: 0, align: 16,
	control: []arch.Reg{arch.RISCV64SSTATUS, arch.RISCV64SATP, arch.RISCV64STVEC, arch.RISCV64SIE, arch.RISCV64PC},
	flags: func(r *rand.Rand, regs arch.Regs) {
		const sie, sum = 1 << 1, 1 << 18
		now := regs.Reg(arch.RISCV64SSTATUS)
		regs.SetReg(arch.RISCV64SSTATUS, now&^(sie|sum)|r.Uint64()&(sie|sum))
	},
})
