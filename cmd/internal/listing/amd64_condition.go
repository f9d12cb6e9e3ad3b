package listing

import "trapline/kernel/arch"

// amd64Condition knows the conditional jumps: Jcc by its condition code (SDM vol. 2, B.1.4.7),
// and those that count RCX down or look at it.
func amd64Condition(code []byte, regs arch.Regs) (branch, taken bool) {
	for len(code) > 1 && amd64Prefix(code[0]) {
		code = code[1:]
	}
	switch {
	case code[0]>>4 == 7:
		return true, amd64Flags(code[0]&15, regs.Reg(arch.RFLAGS))
	case len(code) > 1 && code[0] == 0x0f && code[1]>>4 == 8:
		return true, amd64Flags(code[1]&15, regs.Reg(arch.RFLAGS))
	case code[0] >= 0xe0 && code[0] <= 0xe3:
		return true, amd64Loop(code[0], regs)
	}
	return false, false
}

// amd64Prefix tells prefixes that leave a jump's condition as it is, and REX.
func amd64Prefix(b byte) bool {
	switch b {
	case 0x66, 0x2e, 0x3e, 0x26, 0x36, 0x64, 0x65, 0xf2, 0xf3:
		return true
	}
	return b>>4 == 4
}

// amd64Flags tells whether condition code cc holds.
func amd64Flags(cc byte, flags uint64) bool {
	bit := func(n uint) bool { return flags>>n&1 != 0 }
	cf, pf, zf, sf, of := bit(0), bit(2), bit(6), bit(7), bit(11)
	holds := [8]bool{of, cf, zf, cf || zf, sf, pf, sf != of, zf || sf != of}[cc>>1]
	return holds != (cc&1 != 0)
}

// amd64Loop tells whether LOOPNE, LOOPE, LOOP or JRCXZ jumps.
func amd64Loop(op byte, regs arch.Regs) bool {
	rcx, zf := regs.Reg(arch.RCX), regs.Reg(arch.RFLAGS)>>6&1 != 0
	switch op {
	case 0xe0:
		return rcx != 1 && !zf
	case 0xe1:
		return rcx != 1 && zf
	case 0xe2:
		return rcx != 1
	}
	return rcx == 0
}
