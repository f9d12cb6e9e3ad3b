package trampoline

import "trapline/kernel/arch"

// armFlow tells where control goes. A return is ret with the link register, plain or
// authenticated; ret with another is a jump (Arm ARM, C4.1.95).
func armFlow(code []byte, pc uint64) Flow {
	if len(code) < 4 {
		return Flow{}
	}
	switch w := armWord(code); {
	case w == 0xd65f03c0, w&^0x400 == 0xd65f0bff: // ret; retaa, retab
		return Flow{Way: Return}
	case w&0xfffff81f == 0xd61f081f, w&0xfffff800 == 0xd71f0800: // braaz, brabz; braa, brab
		return Flow{Way: Indirect, Next: armAuthenticated(armReg(w >> 5))}
	default:
		return emulated(arch.ARM64, armDo(armPlan(code, pc), code, pc), pc, 4)
	}
}

// armAuthenticated goes where a signed pointer to the kernel leads: the code is in the
// bits that an address of the kernel has all set.
func armAuthenticated(r arch.Reg) func(arch.Regs, ReadMem) (uint64, bool) {
	const code = 0xffff << 48
	return func(regs arch.Regs, _ ReadMem) (uint64, bool) {
		if r == arch.NoReg {
			return 0, false
		}
		return regs.Reg(r) | code, true
	}
}
