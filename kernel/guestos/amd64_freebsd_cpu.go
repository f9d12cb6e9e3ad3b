package guestos

import (
	"strings"

	"trapline/kernel/arch"
)

var _ = freebsdCPUs.Row(arch.AMD64, &freebsdCPU{
	pcpu:   freebsdAMD64Area,
	saved:  func(r arch.Reg) (string, int) { return "tf_" + strings.ToLower(arch.AMD64.Regs[r].Name), 0 },
	frames: func(f *freebsd) { f.traps = &traps{freebsdAMD64Entry, freebsdAMD64End, f.savedAt} },
})

// freebsdAMD64Area: the area is at the base of GS, or at the one that SWAPGS would bring in, as on
// Linux. It knows its own address.
func freebsdAMD64Area(f *freebsd, mem Mem, regs arch.Regs) uint64 {
	for _, gs := range [2]arch.Reg{arch.GSBase, arch.KernelGSBase} {
		base := regs.Reg(gs)
		if !highHalf(base) {
			continue
		}
		if self, err := f.u64(mem, base+f.types().layout.self); err == nil && self == base {
			return base
		}
	}
	return 0
}

// freebsdAMD64Entry: exceptions come to labels like Xpage and from there to calltrap, or to one that is
// named alike; interrupts to labels like Xatpic_intr0.
func freebsdAMD64Entry(label string) bool {
	return strings.HasPrefix(label, "X") || strings.HasSuffix(label, "calltrap")
}

// freebsdAMD64End: what has called from there was a system call, or nothing.
func freebsdAMD64End(label string) bool {
	return strings.HasPrefix(label, "fast_syscall_common") || label == "fork_trampoline" || strings.HasPrefix(label, "doreti")
}
