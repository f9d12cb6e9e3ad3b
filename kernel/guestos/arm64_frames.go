package guestos

import (
	"trapline/kernel"
	"trapline/kernel/arch"
)

// arm64Frames follows frame records (AAPCS64, 6.4.6): x29 leads to the caller's x29 and
// the return address.
func arm64Frames(f *frames, mem Mem, regs arch.Regs, pcs []uint64) int {
	if arm64User(regs) {
		return 0
	}
	return f.linked(&arm64Links, mem, regs, pcs)
}

var arm64Links = linkISA{
	fp: arch.ArmFP, link: arch.ArmLR,
	full: record{next: 0, ret: 8},
	leaf: record{next: 0, ret: 8},
	length: func(code []byte) int {
		if len(code) < 4 {
			return 0
		}
		return 4
	},
	storesLink: func(code []byte) bool { return arm64Pair(code, 0) },
	makesFrame: func(code []byte) bool { return word(code)&0xffc003ff == 0x910003fd }, // add x29, sp, #n
	dropsFrame: func(code []byte) bool { return arm64Pair(code, 1) },
	exit:       arm64Exit,
	entries:    []string{"el1h_64_sync", "el1h_64_irq", "el1h_64_fiq", "el1h_64_error"},
	saved:      arm64Saved,
	savedReg:   arm64SavedReg,
}

// arm64Saved: struct pt_regs has the record that the entry makes for what it interrupts at 304,
// from Linux 5.10 to 6.12. It tells the pc and x29; a return address may be in x30 alone.
func arm64Saved(f *frames, mem Mem, _, next uint64) (at uint64, ok bool) {
	at = next - 304
	pc, err := f.u64(mem, at+uint64(arm64SavedReg(arch.ArmPC)))
	if err != nil {
		return 0, false
	}
	told, err := f.u64(mem, next+8)
	return at, err == nil && told == pc
}

// arm64Pair tells stp (load 0) and ldp (load 1) of x29 and x30 relative to sp.
func arm64Pair(code []byte, load uint32) bool {
	w := word(code)
	return w&0xfe407fff == 0xa8007bfd|load<<22
}

// arm64Exit tells branches (Arm ARM, C4.1.66) that are not conditional.
func arm64Exit(code []byte, at uint64, fn kernel.Symbol) exit {
	switch w := word(code); {
	case w&0xfc000000 == 0x14000000: // b
		return jump(at+uint64(int64(int32(w<<6))>>4), fn)
	case w&0xfc000000 == 0x94000000, w&0xfefff000 == 0xd63f0000, // bl, blr, authenticated or not
		w&0xffe0001f == 0xd4200000: // brk
		return stays
	case w&0xfefff000 == 0xd61f0000, w&0xfffff000 == 0xd65f0000: // br, ret
		return leaves
	}
	return goesOn
}
