package unicorn

/*
#include "riscv64.h"
*/
import "C"

import (
	"math"

	"trapline/kernel/arch"
)

var _ = architectures.Row(arch.RISCV64, func(e *Engine) registers { return riscv64{e} })

// riscv64 is the registers of a riscv64 engine.
type riscv64 struct{ *Engine }

func (e riscv64) env() *C.struct_tl_riscv64_env { return (*C.struct_tl_riscv64_env)(e.c.env) }

// Bits of mstatus, mie and mip that sstatus, sie and sip show (Privileged Architecture, 4.1).
const (
	sstatusMask   = 1<<63 | 3<<32 | 1<<19 | 1<<18 | 3<<15 | 3<<13 | 1<<8 | 1<<5 | 1<<1
	interruptMask = C.TL_SSIP | C.TL_STIP | C.TL_SEIP
)

// Reg reads a register straight from the library's state. During a run it is exact only
// inside a callback.
func (e riscv64) Reg(r arch.Reg) uint64 {
	if w := e.word(r); w != nil {
		return uint64(*w)
	}
	env := e.env()
	switch r {
	case arch.RISCV64SSTATUS:
		return uint64(env.mstatus) & sstatusMask
	case arch.RISCV64SIE:
		return uint64(env.mie) & interruptMask
	case arch.RISCV64SIP:
		return uint64(env.mip) & interruptMask
	}
	return e.machineReg(r)
}

// word is the place of a register that is kept as one 64-bit word, or nil.
func (e riscv64) word(r arch.Reg) *C.uint64_t {
	env := e.env()
	if r < arch.RISCV64PC {
		return &env.gpr[r]
	}
	switch r {
	case arch.RISCV64PC:
		return &env.pc
	case arch.RISCV64STVEC:
		return &env.stvec
	case arch.RISCV64SSCRATCH:
		return &env.sscratch
	case arch.RISCV64SEPC:
		return &env.sepc
	case arch.RISCV64SCAUSE:
		return &env.scause
	case arch.RISCV64STVAL:
		return &env.stval
	case arch.RISCV64SATP:
		return &env.satp
	case arch.RISCV64PRIV:
		return &env.priv
	}
	return nil
}

func (e riscv64) place(r arch.Reg) (at *uint64, mask uint64) {
	return (*uint64)(e.word(r)), math.MaxUint64
}

func (e riscv64) mode() (at *uint64, mask uint64) { return e.place(arch.RISCV64PRIV) }

// machineReg reads a register of machine mode.
func (e riscv64) machineReg(r arch.Reg) uint64 {
	env := e.env()
	switch r {
	case arch.RISCV64MSTATUS:
		return uint64(env.mstatus)
	case arch.RISCV64MEDELEG:
		return uint64(env.medeleg)
	case arch.RISCV64MIDELEG:
		return uint64(env.mideleg)
	case arch.RISCV64MIE:
		return uint64(env.mie)
	case arch.RISCV64MTVEC:
		return uint64(env.mtvec)
	case arch.RISCV64MSCRATCH:
		return uint64(env.mscratch)
	case arch.RISCV64MEPC:
		return uint64(env.mepc)
	case arch.RISCV64MCAUSE:
		return uint64(env.mcause)
	case arch.RISCV64MTVAL:
		return uint64(env.mtval)
	case arch.RISCV64MIP:
		return uint64(env.mip)
	}
	return 0
}

// Bits of sstatus that can be set from here: SIE and SUM.
const sstatusSettable = 1<<18 | C.TL_SIE

// SetReg writes a general register, the pc, or what of sstatus has no effect at once. Control
// registers have effects of their own and are not written this way.
func (e riscv64) SetReg(r arch.Reg, v uint64) {
	switch {
	case r > 0 && r < arch.RISCV64PC:
		e.env().gpr[r] = C.uint64_t(v)
	case r == arch.RISCV64PC:
		e.env().pc = C.uint64_t(v)
	case r == arch.RISCV64SSTATUS:
		e.env().mstatus = e.env().mstatus&^sstatusSettable | C.uint64_t(v&sstatusSettable)
	}
}

// User reports whether the CPU is in user mode.
func (e riscv64) User() bool { return e.env().priv == C.TL_USER }

// SetBare gives machine mode of a riscv64 engine to the guest: there is no firmware, so no
// Call. The CSRs stimecmp and menvcfg are ReadSystem and WriteSystem then, by their numbers.
// Only before StartRISCV64.
func (e *Engine) SetBare() { C.tl_riscv64_set_bare(e.c) }

// Numbers of the CSRs that are devices.
const (
	RISCV64Stimecmp = 0x14d
	RISCV64Menvcfg  = 0x30a
)

// StartRISCV64 puts the CPU of a riscv64 engine into the state in which firmware enters a
// kernel: S-mode at pc, no paging, interrupts off, a0 the hart, a1 what the kernel is to
// find there: on the first hart the device tree. With SetBare it is M-mode, as after a reset.
func (e *Engine) StartRISCV64(pc, a1 uint64) {
	C.tl_riscv64_start(e.c, C.uint64_t(pc), C.uint64_t(e.c.id), C.uint64_t(a1))
}

// Interrupts of a riscv64 engine, to be set by SetInterrupt.
const (
	RISCV64External = C.TL_LINE_EXTERNAL
	RISCV64Timer    = C.TL_LINE_TIMER
	RISCV64Software = C.TL_LINE_SOFTWARE

	RISCV64MachineExternal = C.TL_LINE_M_EXTERNAL
	RISCV64MachineTimer    = C.TL_LINE_M_TIMER
	RISCV64MachineSoftware = C.TL_LINE_M_SOFTWARE
)

// SetInterrupt raises or lowers an interrupt of a riscv64 engine.
func (e *Engine) SetInterrupt(which uint8, high bool) {
	lines := uint8(e.c.clock.lines) &^ which
	if high {
		lines |= which
	}
	C.tl_riscv64_lines(e.c, C.uint8_t(lines))
}

// riscv64Paging sets satp, for tests.
func (e *Engine) riscv64Paging(satp uint64) {
	(*C.struct_tl_riscv64_env)(e.c.env).satp = C.uint64_t(satp)
	e.Flush()
}
