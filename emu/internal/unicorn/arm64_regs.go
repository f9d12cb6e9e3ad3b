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

var armSystem = map[arch.Reg]uint32{
	arch.ArmSPSR:      sysreg(3, 0, 4, 0, 0),
	arch.ArmELR:       sysreg(3, 0, 4, 0, 1),
	arch.ArmSP_EL0:    sysreg(3, 0, 4, 1, 0),
	arch.ArmESR:       sysreg(3, 0, 5, 2, 0),
	arch.ArmFAR:       sysreg(3, 0, 6, 0, 0),
	arch.ArmVBAR:      sysreg(3, 0, 12, 0, 0),
	arch.ArmTPIDR:     sysreg(3, 0, 13, 0, 4),
	arch.ArmTPIDR_EL0: sysreg(3, 3, 13, 0, 2),
	arch.ArmSCTLR:     sysreg(3, 0, 1, 0, 0),
	arch.ArmTTBR0:     sysreg(3, 0, 2, 0, 0),
	arch.ArmTTBR1:     sysreg(3, 0, 2, 0, 1),
	arch.ArmTCR:       sysreg(3, 0, 2, 0, 2),
}

// Reg reads a register from the library's state. During a run it is exact only inside a
// callback.
func (e arm64) Reg(r arch.Reg) uint64 {
	switch {
	case r <= arch.ArmSP:
		return uint64(e.env().x[r])
	case r == arch.ArmPC:
		return uint64(e.env().pc)
	case r == arch.ArmPSTATE:
		return uint64(C.tl_arm64_pstate(e.c))
	case r == arch.ArmSP_EL0 && e.env().pstate&C.TL_PSTATE_SP == 0: // the one in use
		return uint64(e.env().x[arch.ArmSP])
	}
	if s, ok := armSystem[r]; ok {
		return uint64(C.tl_arm64_system(e.c, C.uint32_t(s)))
	}
	return 0
}

func (e arm64) place(r arch.Reg) (at *uint64, mask uint64) {
	env := e.env()
	switch {
	case r <= arch.ArmSP:
		return (*uint64)(&env.x[r]), math.MaxUint64
	case r == arch.ArmPC:
		return (*uint64)(&env.pc), math.MaxUint64
	case r == arch.ArmPSTATE:
		return (*uint64)(unsafe.Pointer(&env.pstate)), C.TL_PSTATE_EL | C.TL_PSTATE_SP
	case r == arch.ArmSP_EL0 && env.pstate&C.TL_PSTATE_SP == 0: // the one in use
		return e.place(arch.ArmSP)
	}
	s, ok := armSystem[r]
	if off := C.tl_arm64_place(e.c, C.uint32_t(s)); ok && off != 0 {
		return (*uint64)(unsafe.Add(e.c.env, off)), math.MaxUint64
	}
	return nil, 0
}

func (e arm64) mode() (at *uint64, mask uint64) { return e.place(arch.ArmPSTATE) }

// SetReg writes a general register, SP, the pc, or PSTATE. System registers have effects of
// their own and are not written this way.
func (e arm64) SetReg(r arch.Reg, v uint64) {
	switch {
	case r <= arch.ArmSP:
		e.env().x[r] = C.uint64_t(v)
	case r == arch.ArmPC:
		e.env().pc = C.uint64_t(v)
	case r == arch.ArmPSTATE:
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
