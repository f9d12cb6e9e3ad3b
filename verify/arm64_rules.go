package verify

import (
	"math/rand/v2"

	"trapline/kernel/arch"
)

var _ = rulesOf.Row(arch.ARM64, &rules{
	general: numbered(0, 31), sp: arch.ARM64.SP, pc: arch.ARM64.PC, count: 0, align: 16,
	control: []arch.Reg{arch.ARM64.Flags, arch.ARM64.PC},
	flags: func(r *rand.Rand, regs arch.Regs) {
		const conditions, irq = 0xf << 28, 1 << 7
		now := regs.Reg(arch.ARM64.Flags)
		regs.SetReg(arch.ARM64.Flags, now&^(conditions|irq)|r.Uint64()&(conditions|irq))
	},
})
