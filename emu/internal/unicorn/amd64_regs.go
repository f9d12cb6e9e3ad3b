package unicorn

/*
#include "amd64.h"
*/
import "C"

import (
	"math"
	"unsafe"

	"trapline/kernel/arch"
)

var amd64Segments = map[arch.Reg]int{
	arch.CS: C.TL_CS, arch.SS: C.TL_SS, arch.DS: C.TL_DS, arch.ES: C.TL_ES, arch.FS: C.TL_FS, arch.GS: C.TL_GS,
}

var _ = architectures.Row(arch.AMD64, func(e *Engine) registers { return amd64{e} })

// amd64 is the registers of an amd64 engine.
type amd64 struct{ *Engine }

func (e amd64) env() *C.struct_tl_amd64_env { return (*C.struct_tl_amd64_env)(e.c.env) }

// own is what an amd64 CPU has besides.
func (e amd64) own() *C.struct_tl_amd64_cpu {
	return (*C.struct_tl_amd64_cpu)(unsafe.Pointer(&e.c.arch[0]))
}

func (e amd64) msr(i int) *uint64 {
	return (*uint64)(unsafe.Add(unsafe.Pointer(e.own().msrs), i*8))
}

// word is the place of a register that is kept as one 64-bit word, or nil.
func (e amd64) word(r arch.Reg) *uint64 {
	env := e.env()
	switch r {
	case arch.RIP:
		return (*uint64)(&env.eip)
	case arch.FSBase:
		return (*uint64)(&env.segs[C.TL_FS].base)
	case arch.GSBase:
		return (*uint64)(&env.segs[C.TL_GS].base)
	case arch.KernelGSBase:
		return e.msr(C.TL_KERNEL_GS)
	case arch.LSTAR:
		return e.msr(C.TL_LSTAR)
	case arch.CR0:
		return (*uint64)(&env.cr[0])
	case arch.CR2:
		return (*uint64)(&env.cr[2])
	case arch.CR3:
		return (*uint64)(&env.cr[3])
	case arch.CR4:
		return (*uint64)(&env.cr[4])
	}
	return nil
}

// Reg reads a register straight from the library's state. During a run it is exact only
// inside a callback.
func (e amd64) Reg(r arch.Reg) uint64 {
	if r <= arch.R15 {
		return uint64(e.env().regs[r])
	}
	if r == arch.RFLAGS {
		return uint64(C.tl_amd64_flags(e.c))
	}
	if w := e.word(r); w != nil {
		return *w
	}
	if s, ok := amd64Segments[r]; ok {
		return uint64(e.env().segs[s].selector)
	}
	return 0
}

func (e amd64) place(r arch.Reg) (at *uint64, mask uint64) {
	if r <= arch.R15 {
		return (*uint64)(&e.env().regs[r]), math.MaxUint64
	}
	if s, ok := amd64Segments[r]; ok {
		return (*uint64)(unsafe.Pointer(&e.env().segs[s].selector)), math.MaxUint32
	}
	return e.word(r), math.MaxUint64
}

// mode is in the selector of code.
func (e amd64) mode() (at *uint64, mask uint64) { return e.place(arch.CS) }

// SetReg writes a general register, RIP, RFLAGS or a base. Selectors and control
// registers have effects of their own and are not written this way.
func (e amd64) SetReg(r arch.Reg, v uint64) {
	switch {
	case r <= arch.R15:
		e.env().regs[r] = C.uint64_t(v)
	case r == arch.RFLAGS:
		C.tl_amd64_set_flags(e.c, C.uint64_t(v))
	case r == arch.RIP, r == arch.FSBase, r == arch.GSBase, r == arch.KernelGSBase:
		*e.word(r) = v
	}
}

// Entry is the state of an amd64 CPU at the entry of a kernel: 64-bit code, paging on,
// interrupts off, CS 0x10 and the other segments 0x18.
type Entry struct {
	RIP, RSI, RSP, CR3, GDT uint64
	GDTLimit                uint16
}

// Start puts the CPU of an amd64 engine into that state.
func (e *Engine) Start(s Entry) {
	C.tl_amd64_start(e.c, C.uint64_t(s.RIP), C.uint64_t(s.RSI), C.uint64_t(s.RSP), C.uint64_t(s.CR3),
		C.uint64_t(s.GDT), C.uint16_t(s.GDTLimit))
}

// SetAPIC gives the CPU of an amd64 engine a local APIC, as CPUID has it: its registers are
// devices in memory. Addresses from the end of RAM on are Load and Store from now
// on, so there must be less of it than that. Only before a run.
func (e *Engine) SetAPIC() error {
	return unusable(C.tl_amd64_apic(e.c))
}

// StartUp begins at the start of a page below 1 MiB, in real mode, as a startup IPI has it.
func (e *Engine) StartUp(page uint8) { C.tl_amd64_start_up(e.c, C.uint8_t(page)) }

// SetNMI raises or withdraws a non-maskable interrupt of an amd64 engine.
func (e *Engine) SetNMI(high bool) { e.setLine(C.TL_LINE_NMI, high) }

// NMI reports whether one is still to be taken.
func (e *Engine) NMI() bool { return e.c.clock.lines&C.TL_LINE_NMI != 0 }
