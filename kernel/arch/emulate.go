package arch

import "fmt"

// Run emulates an instruction of n bytes at the PC in regs, on the architecture a. It is the reference
// for what the comments of Op say: machines have their own implementations, which are tested against
// it. Run does nothing for OpNone, and for OpLend and OpLendOut, which need a slot.
func (e Emulation) Run(a *Arch, n int, regs Regs) {
	if e.Op == OpNone || e.Op >= OpLend {
		return
	}
	pc := regs.Reg(a.PC)
	to := e.Next(a, n, regs)
	switch {
	case e.A == NoReg:
	case e.Op == OpSet:
		regs.SetReg(e.A, pc+uint64(e.Imm))
	case e.Op == OpJump, e.Op == OpJumpReg:
		regs.SetReg(e.A, pc+uint64(n))
	}
	regs.SetReg(a.PC, to)
}

// Next returns the PC after an instruction of n bytes at the PC in regs.
func (e Emulation) Next(a *Arch, n int, regs Regs) uint64 {
	pc := regs.Reg(a.PC)
	switch {
	case e.Op == OpJump:
		return pc + uint64(e.Imm)
	case e.Op == OpJumpReg:
		return (read(regs, e.B) + uint64(e.Imm)) &^ uint64(e.C)
	case holds(a, e, regs):
		return pc + uint64(e.Imm)
	}
	return pc + uint64(n)
}

// read returns the value of r, 0 for NoReg.
func read(regs Regs, r Reg) uint64 {
	if r == NoReg {
		return 0
	}
	return regs.Reg(r)
}

// holds reports whether the condition of a conditional branch holds.
func holds(a *Arch, e Emulation, regs Regs) bool {
	b := read(regs, e.B)
	switch e.Op {
	case OpIfBitSet:
		return b>>e.C&1 == 1
	case OpIfBitClr:
		return b>>e.C&1 == 0
	case OpIfFlags:
		return FlagsHold(regs.Reg(a.Flags)>>28, e.C)
	}
	c := read(regs, Reg(e.C))
	switch e.Op {
	case OpIfEQ:
		return b == c
	case OpIfNE:
		return b != c
	case OpIfLT:
		return int64(b) < int64(c)
	case OpIfGE:
		return int64(b) >= int64(c)
	case OpIfLTU:
		return b < c
	case OpIfGEU:
		return b >= c
	case OpIfEQ32:
		return uint32(b) == uint32(c)
	case OpIfNE32:
		return uint32(b) != uint32(c)
	}
	return false
}

// FlagsHold reports whether a condition of arm64 holds for the flags N, Z, C and V, which are
// bits 3 to 0 (Arm ARM, C1.2.4). An odd condition is the opposite of the even one before it, except
// that 15, like 14, always holds.
func FlagsHold(nzcv uint64, cond uint8) bool {
	n, z, c, v := nzcv>>3&1 == 1, nzcv>>2&1 == 1, nzcv>>1&1 == 1, nzcv&1 == 1
	var ok bool
	switch cond >> 1 {
	case 0: // eq
		ok = z
	case 1: // cs
		ok = c
	case 2: // mi
		ok = n
	case 3: // vs
		ok = v
	case 4: // hi
		ok = c && !z
	case 5: // ge
		ok = n == v
	case 6: // gt
		ok = n == v && !z
	default: // al
		return true
	}
	return ok != (cond&1 == 1)
}

// Text describes what e does on the architecture a: "if X5 == 0: pc = pc+0x10".
func (e Emulation) Text(a *Arch) string {
	name := func(r Reg) string {
		if r == NoReg {
			return "0"
		}
		return a.Regs[r].Name
	}
	link := ""
	if e.A != NoReg {
		link = name(e.A) + " = next; "
	}
	pc := offset("pc", e.Imm)
	switch e.Op {
	case OpNone:
		return ""
	case OpSet:
		return name(e.A) + " = " + pc
	case OpJump:
		return link + "pc = " + pc
	case OpJumpReg:
		to := offset(name(e.B), e.Imm)
		if e.C != 0 {
			to = fmt.Sprintf("(%s) &^ %d", to, e.C)
		}
		return link + "pc = " + to
	case OpLend:
		return fmt.Sprintf("%s = %s in the slot", name(e.A), pc)
	case OpLendOut:
		return name(e.A) + " = next in the slot"
	}
	return "if " + e.condition(name) + ": pc = " + pc
}

// offset formats base+imm.
func offset(base string, imm int64) string {
	if imm == 0 {
		return base
	}
	return fmt.Sprintf("%s%+#x", base, imm)
}

var (
	conditions = map[Op]string{
		OpIfEQ: "==", OpIfNE: "!=", OpIfLT: "<", OpIfGE: ">=",
		OpIfLTU: "< (unsigned)", OpIfGEU: ">= (unsigned)", OpIfEQ32: "== (32 bits)", OpIfNE32: "!= (32 bits)",
	}
	flagConditions = [16]string{
		"eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al", "nv",
	}
)

// condition describes the condition of a conditional branch.
func (e Emulation) condition(name func(Reg) string) string {
	switch e.Op {
	case OpIfBitSet:
		return fmt.Sprintf("bit %d of %s is 1", e.C, name(e.B))
	case OpIfBitClr:
		return fmt.Sprintf("bit %d of %s is 0", e.C, name(e.B))
	case OpIfFlags:
		return flagConditions[e.C&15]
	}
	return fmt.Sprintf("%s %s %s", name(e.B), conditions[e.Op], name(Reg(e.C)))
}
