package unicorn

/*
#include "arm64.h"
*/
import "C"

import (
	"math"
	"unsafe"

	"trapline/kernel/arch"
)

var _ = architectures.Row(arch.ARM64, func(e *Engine) registers { return arm64{e} })

// arm64 is the registers of an arm64 engine.
type arm64 struct{ *Engine }

func (e arm64) env() *C.struct_tl_arm64_env { return (*C.struct_tl_arm64_env)(e.c.env) }

// sysreg is a system register as an MRS names it.
func sysreg(op0, op1, crn, crm, op2 uint32) uint32 {
	return op0<<14 | op1<<11 | crn<<7 | crm<<3 | op2
}

var arm64System = map[arch.Reg]uint32{
	arch.ARM64SPSR:      sysreg(3, 0, 4, 0, 0),
	arch.ARM64ELR:       sysreg(3, 0, 4, 0, 1),
	arch.ARM64SP_EL0:    sysreg(3, 0, 4, 1, 0),
	arch.ARM64ESR:       sysreg(3, 0, 5, 2, 0),
	arch.ARM64FAR:       sysreg(3, 0, 6, 0, 0),
	arch.ARM64VBAR:      sysreg(3, 0, 12, 0, 0),
	arch.ARM64TPIDR:     sysreg(3, 0, 13, 0, 4),
	arch.ARM64TPIDR_EL0: sysreg(3, 3, 13, 0, 2),
	arch.ARM64SCTLR:     sysreg(3, 0, 1, 0, 0),
	arch.ARM64TTBR0:     sysreg(3, 0, 2, 0, 0),
	arch.ARM64TTBR1:     sysreg(3, 0, 2, 0, 1),
	arch.ARM64TCR:       sysreg(3, 0, 2, 0, 2),
}

// Reg reads a register from the library's state. During a run it is exact only inside a
// callback.
func (e arm64) Reg(r arch.Reg) uint64 {
	switch {
	case r <= arch.ARM64SP:
		return uint64(e.env().x[r])
	case r == arch.ARM64PC:
		return uint64(e.env().pc)
	case r == arch.ARM64PSTATE:
		return uint64(C.tl_arm64_pstate(e.c))
	case r == arch.ARM64SP_EL0 && e.env().pstate&C.TL_PSTATE_SP == 0: // the one in use
		return uint64(e.env().x[arch.ARM64SP])
	}
	if s, ok := arm64System[r]; ok {
		return uint64(C.tl_arm64_system(e.c, C.uint32_t(s)))
	}
	return 0
}

func (e arm64) place(r arch.Reg) (at *uint64, mask uint64) {
	env := e.env()
	switch {
	case r <= arch.ARM64SP:
		return (*uint64)(&env.x[r]), math.MaxUint64
	case r == arch.ARM64PC:
		return (*uint64)(&env.pc), math.MaxUint64
	case r == arch.ARM64PSTATE:
		return (*uint64)(unsafe.Pointer(&env.pstate)), C.TL_PSTATE_EL | C.TL_PSTATE_SP
	case r == arch.ARM64SP_EL0 && env.pstate&C.TL_PSTATE_SP == 0: // the one in use
		return e.place(arch.ARM64SP)
	}
	s, ok := arm64System[r]
	if off := C.tl_arm64_place(e.c, C.uint32_t(s)); ok && off != 0 {
		return (*uint64)(unsafe.Add(e.c.env, off)), math.MaxUint64
	}
	return nil, 0
}

func (e arm64) mode() (at *uint64, mask uint64) { return e.place(arch.ARM64PSTATE) }

// SetReg writes a general register, SP, the pc, or PSTATE. System registers have effects of
// their own and are not written this way.
func (e arm64) SetReg(r arch.Reg, v uint64) {
	switch {
	case r <= arch.ARM64SP:
		e.env().x[r] = C.uint64_t(v)
	case r == arch.ARM64PC:
		e.env().pc = C.uint64_t(v)
	case r == arch.ARM64PSTATE:
		C.tl_arm64_set_pstate(e.c, C.uint32_t(v))
	}
}

// User reports whether the CPU is in user mode.
func (e arm64) User() bool { return e.env().pstate&C.TL_PSTATE_EL == 0 }

// StartARM64 puts the CPU of an arm64 engine into the state in which firmware enters a
// kernel: EL1 at pc, MMU off, interrupts masked, x0 the device tree.
func (e *Engine) StartARM64(pc, tree uint64) {
	C.tl_arm64_start(e.c, C.uint64_t(pc), C.uint64_t(tree))
}
