package guestos

import "trapline/kernel/arch"

// UserMode reports whether a CPU of an architecture runs user code. It looks at the CPU's mode:
// what an address is depends on the kernel, which may lie in either half of an address space, and
// runs at low addresses before it is mapped where it belongs.
func UserMode(a *arch.Arch, regs arch.Regs) bool {
	i, err := isaFor(a)
	return err == nil && i.userMode(regs)
}
