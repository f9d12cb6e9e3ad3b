package guestos

import (
	"encoding/binary"

	"trapline/kernel/arch"
)

// amd64Frame is one frame of a stack: the state of the CPU in it, as far as it is known.
type amd64Frame struct {
	pc, sp, bp uint64
	// interrupted: pc is the next instruction, not one after a call.
	interrupted bool
	// scratch: the registers below are this frame's, not only a callee's.
	scratch          bool
	di, dx, r10, r13 uint64
}

// amd64ORC follows the stack by ORC tables. A return address may be the first byte of the
// next function (the call does not come back), so the entry for the byte before it counts;
// of an interrupted instruction, the entry for itself.
func amd64ORC(l *linux, t *orcTable, mem Mem, regs arch.Regs, pcs []uint64) int {
	w := amd64Walk{l: l, table: t, mem: mem, amd64Frame: amd64Frame{
		pc: regs.Reg(arch.RIP), sp: regs.Reg(arch.RSP), bp: regs.Reg(arch.RBP),
		interrupted: true, scratch: true,
		di: regs.Reg(arch.RDI), dx: regs.Reg(arch.RDX), r10: regs.Reg(arch.R10), r13: regs.Reg(arch.R13),
	}}
	n := one(w.pc, pcs)
	for n < len(pcs) && w.step() {
		pcs[n] = w.pc
		n++
	}
	return n
}

// amd64Code is where the code of Linux begins: the kernel's, modules' and BPF programs'.
const amd64Code = 0xffffffff80000000

type amd64Walk struct {
	amd64Frame
	l     *linux
	table *orcTable
	mem   Mem
}

// step goes to the caller's, or the interrupted, frame. It is false at the end and
// wherever something is not as it should be: the walk never guesses.
func (w *amd64Walk) step() bool {
	pc := w.pc
	if !w.interrupted {
		pc--
	}
	table, at := w.l.orcAt(w.table, pc)
	if table == nil {
		return false
	}
	e, ok := table.find(at)
	if !ok || e.kind == orcUndefined || e.kind == orcEnd {
		return false
	}
	cfa, ok := w.callerSP(e)
	if !ok || cfa%8 != 0 || !highHalf(cfa) {
		return false
	}
	bp, ok := w.callerBP(e, cfa)
	if !ok {
		return false
	}
	switch e.kind {
	case orcCall:
		return w.call(cfa, bp, e.spReg == orcSPIndirect || e.spReg == orcBPIndirect)
	case orcRegs:
		return w.regs(cfa, bp, e.bpReg == orcNone)
	default:
		return w.iretFrame(cfa, bp)
	}
}

// callerSP is the stack pointer at the caller's call, or where saved registers lie.
func (w *amd64Walk) callerSP(e orcEntry) (uint64, bool) {
	off := uint64(e.spOffset)
	switch e.spReg {
	case orcSP:
		return w.sp + off, true
	case orcBP:
		return w.bp + off, true
	case orcSPIndirect:
		v, ok := w.load(w.sp)
		return v + off, ok
	case orcBPIndirect:
		return w.load(w.bp + off)
	case orcDI:
		return w.di + off, w.scratch
	case orcDX:
		return w.dx + off, w.scratch
	case orcR10:
		return w.r10 + off, w.scratch
	case orcR13:
		return w.r13 + off, w.scratch
	}
	return 0, false
}

func (w *amd64Walk) callerBP(e orcEntry, cfa uint64) (uint64, bool) {
	switch off := uint64(e.bpOffset); e.bpReg {
	case orcNone:
		return w.bp, true
	case orcPrevSP:
		return w.load(cfa + off)
	case orcBP:
		return w.load(w.bp + off)
	}
	return 0, false
}

// call leaves a function. The stack pointer must go up, unless the stack is another one.
func (w *amd64Walk) call(cfa, bp uint64, switched bool) bool {
	ret, ok := w.load(cfa - 8)
	if !ok || ret < amd64Code || cfa <= w.sp && !switched {
		return false
	}
	w.amd64Frame = amd64Frame{pc: ret, sp: cfa, bp: bp}
	return true
}

// Offsets in struct pt_regs, the registers that the kernel saves on its stack: the order
// of the pushes is a part of the interface of ptrace, and does not change.
const (
	regsR13  = 2 * 8
	regsBP   = 4 * 8
	regsR10  = 7 * 8
	regsDX   = 12 * 8
	regsDI   = 14 * 8
	regsIRET = 16 * 8
)

// regs goes to where all registers of struct pt_regs at addr were saved.
func (w *amd64Walk) regs(addr, bp uint64, restoreBP bool) bool {
	if !w.iretFrame(addr+regsIRET, bp) {
		return false
	}
	b := w.l.regs[:]
	if w.mem.ReadMem(addr, b) != nil {
		return false
	}
	le := binary.LittleEndian
	if restoreBP {
		w.bp = le.Uint64(b[regsBP:])
	}
	w.di, w.dx = le.Uint64(b[regsDI:]), le.Uint64(b[regsDX:])
	w.r10, w.r13 = le.Uint64(b[regsR10:]), le.Uint64(b[regsR13:])
	w.scratch = true
	return true
}

// iretFrame goes to where the CPU took an exception: it pushed SS, RSP, RFLAGS, CS and
// RIP (SDM vol. 3, figure 6-9). One from user mode is where the kernel's stack ends.
func (w *amd64Walk) iretFrame(addr, bp uint64) bool {
	b := w.l.regs[:32]
	if w.mem.ReadMem(addr, b) != nil {
		return false
	}
	le := binary.LittleEndian
	pc, cs, sp := le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[24:])
	if cs&3 != 0 || pc < amd64Code || pc == w.pc && sp == w.sp {
		return false
	}
	w.pc, w.sp, w.bp, w.interrupted = pc, sp, bp, true
	return true
}

func (w *amd64Walk) load(addr uint64) (uint64, bool) {
	v, err := w.l.u64(w.mem, addr)
	return v, err == nil
}
