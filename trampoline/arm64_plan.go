package trampoline

import "trapline/kernel/arch"

// The forms of a trampoline of arm64. The second breakpoint follows.
const (
	armCopy     form = iota // the instruction
	armLiteral              // a load of a literal, through a register that the machine lends
	armCallAuth             // blraa and its like as braa, with the link register lent
)

// An armClass is the instructions whose bits under mask are value.
type armClass struct {
	mask, value uint32
	kind        Kind
	form        form
	reason      reason
	do          func(w uint32, pc uint64) arch.Emulation // nil for nothing
}

// armPlan decides how an instruction is displaced: by the first row of armClasses that it
// is of, or else it is copied.
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
func armPlan(code []byte, pc uint64) Plan {
	if len(code) < 4 {
		return Plan{reason: reasonTruncated}
	}
	p := Plan{Kind: Copy, Len: 4}
	c := armClassOf(armWord(code))
	switch {
	case c == nil:
		return p
	case c.kind == Refuse:
		return p.refuse(c.reason)
	case c.kind == Guest:
		return Plan{Kind: Guest, Len: 4}
	}
	return p.as(c.kind, c.form)
}

func armClassOf(w uint32) *armClass {
	for i := range armClasses {
		if c := &armClasses[i]; w&c.mask == c.value {
			return c
		}
	}
	return nil
}

// armClasses are the instructions that are not simply copied (Arm ARM, C4.1). The first row
// that fits counts.
var armClasses = []armClass{
	{mask: 0x1f000000, value: 0x10000000, kind: Emulate, form: formDo, do: armADR},         // adr, adrp
	{mask: 0x7c000000, value: 0x14000000, kind: Emulate, form: formDo, do: armB},           // b, bl
	{mask: 0xff000010, value: 0x54000000, kind: Emulate, form: formDo, do: armBCond},       // b.cond
	{mask: 0xff000010, value: 0x54000010, kind: Refuse, reason: reasonUnknownBranch},       // bc.cond
	{mask: 0x7e000000, value: 0x34000000, kind: Emulate, form: formDo, do: armCBZ},         // cbz, cbnz
	{mask: 0x7e000000, value: 0x36000000, kind: Emulate, form: formDo, do: armTBZ},         // tbz, tbnz
	{mask: 0xfffffc1f, value: 0xd61f0000, kind: Emulate, form: formDo, do: armBR},          // br
	{mask: 0xfffffc1f, value: 0xd65f0000, kind: Emulate, form: formDo, do: armBR},          // ret
	{mask: 0xfffffc1f, value: 0xd63f0000, kind: Emulate, form: formDo, do: armBLR},         // blr
	{mask: 0xffffffff, value: 0xd63f0bdf, kind: Refuse, reason: reasonLinkRegister},        // blraaz x30
	{mask: 0xffffffff, value: 0xd63f0fdf, kind: Refuse, reason: reasonLinkRegister},        // blrabz x30
	{mask: 0xfffffbe0, value: 0xd73f0bc0, kind: Refuse, reason: reasonLinkRegister},        // blraa, blrab x30, x
	{mask: 0xfffff81f, value: 0xd73f081e, kind: Refuse, reason: reasonLinkRegister},        // blraa, blrab x, x30
	{mask: 0xfffff81f, value: 0xd63f081f, kind: Emulate, form: armCallAuth, do: armLink},   // blraaz, blrabz
	{mask: 0xfffff800, value: 0xd73f0800, kind: Emulate, form: armCallAuth, do: armLink},   // blraa, blrab
	{mask: 0xff000000, value: 0xdc000000, kind: Copy},                                      // a literal of no size: undefined
	{mask: 0x3b000000, value: 0x18000000, kind: Relocate, form: armLiteral, do: armLendTo}, // ldr, ldrsw, prfm literal
	{mask: 0xffe0001f, value: 0xd4200000, kind: Guest},                                     // brk
	{mask: 0xff000000, value: 0x55000000, kind: Refuse, reason: reasonUnknownBranch},       // retaasppc, retabsppc
	{mask: 0x7e000000, value: 0x74000000, kind: Refuse, reason: reasonUnknownBranch},       // cb<cc>
	{mask: 0xff80001f, value: 0xf380001f, kind: Refuse, reason: reasonOwnAddress},          // autiasppc, autibsppc
	{mask: 0xfffffbff, value: 0xdac1a3fe, kind: Refuse, reason: reasonOwnAddress},          // paciasppc, pacibsppc
	{mask: 0xfffffbff, value: 0xdac183fe, kind: Refuse, reason: reasonOwnAddress},          // pacnbiasppc, pacnbibsppc
}
