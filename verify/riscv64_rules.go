package verify

import (
	"math/rand/v2"

	"trapline/kernel/arch"
)

var _ = rulesOf.Row(arch.RISCV64, &rules{
	general: append(numbered(1, 2), numbered(3, 32)...), sp: arch.RiscvSP, pc: arch.RiscvPC, count: 0, align: 16,
	control: []arch.Reg{arch.RiscvSSTATUS, arch.RiscvSATP, arch.RiscvSTVEC, arch.RiscvSIE, arch.RiscvPC},
	flags: func(r *rand.Rand, regs arch.Regs) {
		const sie, sum = 1 << 1, 1 << 18
		now := regs.Reg(arch.RiscvSSTATUS)
		regs.SetReg(arch.RiscvSSTATUS, now&^(sie|sum)|r.Uint64()&(sie|sum))
	},
})
