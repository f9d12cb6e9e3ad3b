package arch

import (
	"debug/elf"
	"testing"
)

// TestAll holds every architecture to what the fields of Arch promise.
func TestAll(t *testing.T) {
	for _, a := range All {
		t.Run(a.Name, func(t *testing.T) {
			if got, err := ForELF(a.Machine); err != nil || got != a {
				t.Errorf("ForELF(%v): %v, %v", a.Machine, got, err)
			}
			for _, n := range []int{a.MinInstr, a.MaxInstr} {
				if b := a.Breakpoint(n); len(b) == 0 || len(b) > n {
					t.Errorf("the breakpoint over %d bytes is % x", n, b)
				}
			}
			testNames(t, a)
		})
	}
	if _, err := ForELF(elf.EM_VAX); err == nil {
		t.Error("there is an architecture for the VAX")
	}
}

// testNames: a name and a DWARF number belong to one register, and aliases lead to one.
func testNames(t *testing.T, a *Arch) {
	dwarf := map[int]string{}
	for i, r := range a.Regs {
		if got, ok := a.Lookup(r.Name); !ok || got != Reg(i) {
			t.Errorf("Lookup(%s) is register %d, not %d", r.Name, got, i)
		}
		if other := dwarf[r.DWARF]; r.DWARF >= 0 && other != "" {
			t.Errorf("%s and %s have the DWARF number %d", other, r.Name, r.DWARF)
		}
		dwarf[r.DWARF] = r.Name
	}
	for name, r := range a.Aliases {
		if got, ok := a.Lookup(name); !ok || got != r {
			t.Errorf("Lookup(%s) is register %d, not %d", name, got, r)
		}
	}
	if _, ok := a.Lookup("NONE"); ok {
		t.Error("there is a register NONE")
	}
}

// TestInterruptible takes flags as the guests of tests have them, with interrupts on and off.
func TestInterruptible(t *testing.T) {
	for a, flags := range map[*Arch][2]uint64{AMD64: {0x202, 0x2}, ARM64: {0x5, 0x85}, RISCV64: {0x2, 0x20}} {
		if !a.Interruptible(flags[0]) || a.Interruptible(flags[1]) {
			t.Errorf("%s: interruptible with %#x: %v, with %#x: %v",
				a, flags[0], a.Interruptible(flags[0]), flags[1], a.Interruptible(flags[1]))
		}
	}
}

// TestRegs looks at registers by name, so that a constant that has slipped shows.
func TestRegs(t *testing.T) {
	for _, c := range []struct {
		a    *Arch
		name string
		want Reg
	}{
		{AMD64, "rip", RIP}, {AMD64, "LSTAR", LSTAR},
		{ARM64, "x0", ARM64X0}, {ARM64, "X29", ARM64FP}, {ARM64, "lr", ARM64LR}, {ARM64, "SP", ARM64SP},
		{ARM64, "PC", ARM64PC}, {ARM64, "PSTATE", ARM64PSTATE}, {ARM64, "SP_EL0", ARM64SP_EL0},
		{ARM64, "TTBR1", ARM64TTBR1}, {ARM64, "TCR", ARM64TCR},
		{RISCV64, "zero", RISCV64X0}, {RISCV64, "RA", RISCV64RA}, {RISCV64, "tp", RISCV64TP},
		{RISCV64, "X8", RISCV64S0}, {RISCV64, "A0", RISCV64A0}, {RISCV64, "pc", RISCV64PC},
		{RISCV64, "SSTATUS", RISCV64SSTATUS}, {RISCV64, "SATP", RISCV64SATP}, {RISCV64, "PRIV", RISCV64PRIV},
	} {
		if got, ok := c.a.Lookup(c.name); !ok || got != c.want {
			t.Errorf("%s: %s is register %d, want %d", c.a, c.name, got, c.want)
		}
	}
}
