package verify

import (
	"math/rand/v2"

	"trapline/kernel/arch"
)

var _ = rulesOf.Row(arch.AMD64, &rules{
	general: amd64General(), sp: arch.RSP, pc: arch.RIP, count: arch.RCX, align: 8,
	control: []arch.Reg{arch.CR0, arch.CR2, arch.CR3, arch.CR4, arch.RFLAGS, arch.GSBase, arch.LSTAR},
	flags: func(r *rand.Rand, regs arch.Regs) {
		const arithmetic, direction, interrupt, step = 0x8d5, 0x400, 0x200, 0x100
		f := r.Uint64()&(arithmetic|interrupt) | 2
		if r.IntN(4) == 0 {
			f |= direction
		}
		if r.IntN(8) == 0 {
			f |= step
		}
		regs.SetReg(arch.RFLAGS, f)
	},
	settles: []setting{
		{",%cr0", arch.CR0, 1<<16 | 1<<3 | 1<<1}, // WP, TS, MP
		{",%cr4", arch.CR4, 1<<7 | 1<<2},         // PGE, TSD
	},
})

func amd64General() []arch.Reg {
	return append(numbered(arch.RAX, arch.RSP), numbered(arch.RBP, arch.RIP)...)
}
