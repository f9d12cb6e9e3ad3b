package guestos

import (
	"testing"

	"trapline/kernel/arch"
)

// The mode is that of CPL (SDM vol. 3, 5.5), PSTATE.EL (Arm ARM, D1.2) or the privilege level
// (RISC-V Privileged ISA, 1.2), wherever the program counter is.
func TestUserMode(t *testing.T) {
	for _, c := range []struct {
		a    *arch.Arch
		reg  arch.Reg
		v    uint64
		user bool
	}{
		{arch.AMD64, arch.CS, 0x33, true},
		{arch.AMD64, arch.CS, 0x10, false},
		{arch.ARM64, arch.ARM64PSTATE, 0x60000000, true},
		{arch.ARM64, arch.ARM64PSTATE, 0x3c5, false}, // EL1h
		{arch.ARM64, arch.ARM64PSTATE, 0x3c4, false}, // EL1t
		{arch.RISCV64, arch.RISCV64PRIV, 0, true},
		{arch.RISCV64, arch.RISCV64PRIV, 1, false},
		{arch.RISCV64, arch.RISCV64PRIV, 3, false},
	} {
		for _, pc := range []uint64{0x401000, 0x80001000, 0xffffffff81000000} {
			if got := UserMode(c.a, fakeRegs{c.reg: c.v, c.a.PC: pc}); got != c.user {
				t.Errorf("%s with %s = %#x at %#x: %t", c.a.Name, c.a.Regs[c.reg].Name, c.v, pc, got)
			}
		}
	}
	for _, a := range arch.All {
		if _, err := isaFor(a); err != nil {
			t.Error(err)
		}
	}
}
