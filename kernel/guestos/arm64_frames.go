package guestos

import (
	"cmp"

	"trapline/insn"
	"trapline/kernel/arch"
)

// arm64Frames follows frame records (AAPCS64, 6.4.6): x29 leads to the caller's x29 and
// the return address.
func arm64Frames(f *frames, mem Mem, regs arch.Regs, pcs []uint64) int {
	if arm64User(regs) {
		return 0
	}
	return f.linked(cmp.Or(f.links, &arm64Links), mem, regs, pcs)
}

var arm64Links = linkISA{
	set:      insn.ARM64,
	full:     record{next: 0, ret: 8},
	leaf:     record{next: 0, ret: 8},
	entries:  []string{"el1h_64_sync", "el1h_64_irq", "el1h_64_fiq", "el1h_64_error"},
	saved:    arm64Saved,
	savedReg: arm64SavedReg,
}

// arm64Saved: struct pt_regs has the record that the entry makes for what it interrupts at 304,
// from Linux 5.10 to 6.12. It has the pc and x29; a return address may be in x30 alone.
func arm64Saved(f *frames, mem Mem, _, next uint64) (at uint64, ok bool) {
	at = next - 304
	pc, err := f.u64(mem, at+uint64(arm64SavedReg(arch.ARM64PC)))
	if err != nil {
		return 0, false
	}
	told, err := f.u64(mem, next+8)
	return at, err == nil && told == pc
}
