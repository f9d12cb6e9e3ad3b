package trampoline

import (
	"trapline/insn"
	"trapline/kernel/arch"
)

// The forms of a trampoline of arm64. The second breakpoint follows.
const (
	arm64Copy     form = iota // the instruction
	arm64Literal              // a load of a literal, through a register that the machine lends
	arm64CallAuth             // blraa and its like as braa, with the link register lent
)

// An arm64Class is the instructions whose bits under mask are value.
type arm64Class struct {
	mask, value uint32
	kind        Kind
	form        form
	reason      reason
}

// arm64Plan decides how an instruction is displaced.
//
// Copied: what neither names an address relative to itself nor saves one. That includes
// reads and writes of the interrupt mask (mrs and msr daif, daifset, daifclr: the mask is
// the guest's own at all times, interrupts between the two breakpoints are held back by the
// emulator), wfi, svc, hvc and smc (their exceptions are reported at pc+4), exclusive loads
// and stores (the monitor survives a breakpoint), and what is undefined (the fault is
// reported at pc). Some leave the slot and never come to the second breakpoint: eret and
// its authenticated forms, and authenticated jumps and returns, which are copied because
// authenticating is the CPU's business.
//
// Relocated: loads of literals, through a register. The machine lends it: it holds the
// literal's address while the load runs, so that a fault is the load's own.
//
// Emulated by the machine: adr and adrp, all other branches. An authenticated call is
// a jump in the slot, and the machine sets the link register before.
//
// Refused: what uses its own address as a key (FEAT_PAuth_LR), and branches that are
// newer than this table.
func arm64Plan(code []byte, pc uint64) Plan {
	if len(code) < 4 {
		return Plan{reason: reasonTruncated}
	}
	p := Plan{Kind: Copy, Len: 4}
	c := arm64ClassOf(arm64Word(code))
	switch {
	case c != nil && c.kind == Refuse:
		return p.refuse(c.reason)
	case c != nil:
		return p.as(c.kind, c.form)
	case insn.ARM64.Class(code) == insn.Breakpoint:
		return Plan{Kind: Guest, Len: 4}
	case insn.ARM64Emulation(code, pc).Op != arch.OpNone:
		return p.as(Emulate, formDo)
	}
	if _, ok := insn.ARM64Literal(arm64Word(code)); ok {
		return p.as(Relocate, arm64Literal)
	}
	return p
}

func arm64ClassOf(w uint32) *arm64Class {
	for i := range arm64Classes {
		if c := &arm64Classes[i]; w&c.mask == c.value {
			return c
		}
	}
	return nil
}

// arm64Classes are the branches and signatures whose plan does not follow from what they do (Arm
// ARM, C4.1). The first row that fits counts.
var arm64Classes = []arm64Class{
	{mask: 0xff000010, value: 0x54000010, kind: Refuse, reason: reasonUnknownBranch}, // bc.cond
	{mask: 0xffffffff, value: 0xd63f0bdf, kind: Refuse, reason: reasonLinkRegister},  // blraaz x30
	{mask: 0xffffffff, value: 0xd63f0fdf, kind: Refuse, reason: reasonLinkRegister},  // blrabz x30
	{mask: 0xfffffbe0, value: 0xd73f0bc0, kind: Refuse, reason: reasonLinkRegister},  // blraa, blrab x30, x
	{mask: 0xfffff81f, value: 0xd73f081e, kind: Refuse, reason: reasonLinkRegister},  // blraa, blrab x, x30
	{mask: 0xfffff81f, value: 0xd63f081f, kind: Emulate, form: arm64CallAuth},        // blraaz, blrabz
	{mask: 0xfffff800, value: 0xd73f0800, kind: Emulate, form: arm64CallAuth},        // blraa, blrab
	{mask: 0xff000000, value: 0x55000000, kind: Refuse, reason: reasonUnknownBranch}, // retaasppc, retabsppc
	{mask: 0x7e000000, value: 0x74000000, kind: Refuse, reason: reasonUnknownBranch}, // cb<cc>
	{mask: 0xff80001f, value: 0xf380001f, kind: Refuse, reason: reasonOwnAddress},    // autiasppc, autibsppc
	{mask: 0xfffffbff, value: 0xdac1a3fe, kind: Refuse, reason: reasonOwnAddress},    // paciasppc, pacibsppc
	{mask: 0xfffffbff, value: 0xdac183fe, kind: Refuse, reason: reasonOwnAddress},    // pacnbiasppc, pacnbibsppc
}
