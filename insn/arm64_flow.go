package insn

import "trapline/kernel/arch"

// arm64Flow: a return is ret with the link register, plain or authenticated; ret with another is
// a jump (Arm ARM, C4.1.95).
func arm64Flow(code []byte, pc uint64) Flow {
	if len(code) < 4 {
		return Flow{}
	}
	switch w := arm64Word(code); {
	case w == 0xd65f03c0, w&^0x400 == 0xd65f0bff: // ret; retaa, retab
		return Flow{Way: Return}
	case w&0xfffff81f == 0xd63f081f, w&0xfffff800 == 0xd73f0800: // blraaz, blrabz; blraa, blrab
		return Flow{Way: Call}
	case w&0xfffff81f == 0xd61f081f, w&0xfffff800 == 0xd71f0800: // braaz, brabz; braa, brab
		return Flow{Way: Indirect, Next: arm64Authenticated(arm64Reg(w >> 5))}
	default:
		return emulated(arch.ARM64, arm64Emulation(w, pc), pc, 4)
	}
}

// arm64Authenticated goes where a signed pointer to the kernel leads: the code is in the
// bits that an address of the kernel has all set.
func arm64Authenticated(r arch.Reg) func(arch.Regs, ReadMem) (uint64, bool) {
	const code = 0xffff << 48
	return func(regs arch.Regs, _ ReadMem) (uint64, bool) {
		if r == arch.NoReg {
			return 0, false
		}
		return regs.Reg(r) | code, true
	}
}
