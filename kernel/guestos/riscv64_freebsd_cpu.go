package guestos

import (
	"strconv"
	"strings"

	"trapline/insn"
	"trapline/kernel/arch"
)

var _ = freebsdCPUs.Row(arch.RISCV64, &freebsdCPU{
	pcpu:    freebsdRISCV64Area,
	entries: []string{"cpu_exception_handler", "cpu_exception_handler_user", "fork_trampoline"},
	saved:   freebsdRISCV64Saved,
	frames:  func(f *freebsd) { f.links = freebsdRISCV64Links(f) },
})

// freebsdRISCV64Area: in the kernel tp has the area. While the user runs, tp is the user's, and
// sscratch leads to the place on the thread's stack where the kernel has left its own. In the code
// between the two that place is at sp, above the struct trapframe once there is one.
func freebsdRISCV64Area(f *freebsd, mem Mem, regs arch.Regs) uint64 {
	if riscv64User(regs) || f.Enters(regs.Reg(arch.RISCV64PC)) {
		const align = 16 // of a stack
		sp := regs.Reg(arch.RISCV64SP)
		frame := uint64(f.types().layout.trap.size+align-1) &^ (align - 1)
		for _, at := range [3]uint64{regs.Reg(arch.RISCV64SSCRATCH), sp, sp + frame} {
			if !highHalf(at) {
				continue
			}
			if area, err := f.u64(mem, at); err == nil && f.isArea(area) {
				return area
			}
		}
	}
	if tp := regs.Reg(arch.RISCV64TP); f.isArea(tp) {
		return tp
	}
	return 0
}

// freebsdRISCV64Saved: t, s and a registers are in arrays, by their names in the psABI.
func freebsdRISCV64Saved(r arch.Reg) (member string, element int) {
	switch r {
	case arch.RISCV64PC:
		return "tf_sepc", 0
	case arch.RISCV64SSTATUS:
		return "tf_sstatus", 0
	}
	for name, reg := range arch.RISCV64.Aliases {
		if reg != r {
			continue
		}
		letter := strings.ToLower(name[:1])
		if n, err := strconv.Atoi(name[1:]); err == nil {
			return "tf_" + letter, n
		}
		return "tf_" + strings.ToLower(name), 0
	}
	return "", 0
}

// freebsdRISCV64Links: the entry makes no record, so the frame pointer of what it calls leads to the
// struct trapframe, with whose address in sp it has called.
func freebsdRISCV64Links(f *freebsd) *linkISA {
	links := riscv64Links
	links.set = insn.RISCV64
	links.entries = []string{"cpu_exception_handler_supervisor"}
	links.savedReg = f.savedAt
	return &links
}
