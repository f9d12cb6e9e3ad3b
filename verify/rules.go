package verify

import (
	"math/rand/v2"

	"trapline/kernel/arch"
)

// rules is what states are made of on an architecture.
type rules struct {
	general []arch.Reg // registers that hold any value, but the stack pointer
	sp, pc  arch.Reg
	count   arch.Reg   // of string instructions
	control []arch.Reg // whose values system instructions are given
	align   uint64     // of the stack pointer, in bytes
	// flags puts flags and the interrupt mask at random.
	flags func(r *rand.Rand, regs arch.Regs)
	// settles lists instructions that change how the machine runs at all, by a part of their text,
	// the register that they write, and the bits of it that may change. Other bits would take the
	// machine out of the mode in which kernels run; processors refuse most of that, the
	// emulator does not.
	settles []setting
}

type setting struct {
	text string
	reg  arch.Reg
	bits uint64
}

var rulesOf = map[*arch.Arch]*rules{
	arch.AMD64: {
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
	},
	arch.ARM64: {
		general: numbered(0, 31), sp: arch.ARM64.SP, pc: arch.ARM64.PC, count: 0, align: 16,
		control: []arch.Reg{arch.ARM64.Flags, arch.ARM64.PC},
		flags: func(r *rand.Rand, regs arch.Regs) {
			const conditions, irq = 0xf << 28, 1 << 7
			now := regs.Reg(arch.ARM64.Flags)
			regs.SetReg(arch.ARM64.Flags, now&^(conditions|irq)|r.Uint64()&(conditions|irq))
		},
	},
	arch.RISCV64: {
		general: append(numbered(1, 2), numbered(3, 32)...), sp: arch.RiscvSP, pc: arch.RiscvPC, count: 0, align: 16,
		control: []arch.Reg{arch.RiscvSSTATUS, arch.RiscvSATP, arch.RiscvSTVEC, arch.RiscvSIE, arch.RiscvPC},
		flags: func(r *rand.Rand, regs arch.Regs) {
			const sie, sum = 1 << 1, 1 << 18
			now := regs.Reg(arch.RiscvSSTATUS)
			regs.SetReg(arch.RiscvSSTATUS, now&^(sie|sum)|r.Uint64()&(sie|sum))
		},
	},
}

// numbered are the registers from..to-1.
func numbered(from, to arch.Reg) (regs []arch.Reg) {
	for r := from; r < to; r++ {
		regs = append(regs, r)
	}
	return regs
}

func amd64General() []arch.Reg {
	return append(numbered(arch.RAX, arch.RSP), numbered(arch.RBP, arch.RIP)...)
}
