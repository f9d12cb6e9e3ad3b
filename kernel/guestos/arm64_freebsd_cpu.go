package guestos

import (
	"trapline/insn"
	"trapline/kernel/arch"
)

// arm64: TPIDR_EL1 has the area. The kernel keeps it in x18 besides, which is the user's in user mode.
var _ = freebsdCPUs.Row(arch.ARM64, &freebsdCPU{
	pcpu: func(f *freebsd, _ Mem, regs arch.Regs) uint64 {
		if at := regs.Reg(arch.ARM64TPIDR); f.isArea(at) {
			return at
		}
		return 0
	},
	saved:  freebsdARM64Saved,
	frames: func(f *freebsd) { f.links = freebsdARM64Links(f) },
})

func freebsdARM64Saved(r arch.Reg) (member string, element int) {
	switch {
	case r < arch.ARM64LR:
		return "tf_x", int(r)
	case r == arch.ARM64LR:
		return "tf_lr", 0
	case r == arch.ARM64SP:
		return "tf_sp", 0
	case r == arch.ARM64PC:
		return "tf_elr", 0
	case r == arch.ARM64PSTATE:
		return "tf_spsr", 0
	}
	return "", 0
}

// freebsdARM64Links: the frame pointer of an entry leads to the end of the struct trapframe.
func freebsdARM64Links(f *freebsd) *linkISA {
	return &linkISA{
		set:     insn.ARM64,
		full:    arm64Links.full,
		leaf:    arm64Links.leaf,
		entries: []string{"handle_el1h_sync", "handle_el1h_irq", "handle_el1h_fiq", "handle_el1h_serror"},
		saved: func(_ *frames, _ Mem, _, next uint64) (uint64, bool) {
			l := f.types().layout
			if l == nil {
				return 0, false
			}
			return next - uint64(l.trap.size), true
		},
		savedReg: f.savedAt,
	}
}
