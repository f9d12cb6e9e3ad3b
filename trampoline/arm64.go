package trampoline

import (
	"encoding/binary"
	"fmt"

	"trapline/insn"
	"trapline/kernel/arch"
)

// ARM64 displaces instructions of AArch64.
//
// A slot has 8 bytes: the instruction, and the second breakpoint that stands for the jump
// back, as in FreeBSD's kinst. What names or saves its own address has no room there to be
// written anew: the machine does it (see arm64Do).
//
//	pc      brk             the first breakpoint, over ldp x29,x30,[sp],#16
//	pc+4    ..         <----------------------------.
//	                                                |
//	slot    ldp x29,x30,[sp],#16                    |
//	        brk             the second; goes on at -'
var ARM64 = isas.Row(arch.ARM64, &ISA{
	Set:      insn.ARM64,
	SlotSize: 8,
	Fill:     arch.ARM64.Breakpoint(4),
	Plan:     arm64Plan,
	Encode:   arm64Encode,
	Do:       arm64Do,
})

func arm64Word(code []byte) uint32 { return binary.LittleEndian.Uint32(code) }

// arm64Do returns what the machine does for an instruction: all of it, or what goes with its slot.
func arm64Do(p Plan, code []byte, pc uint64) arch.Emulation {
	switch {
	case len(code) < 4 || p.Kind == Refuse:
		return arch.Emulation{}
	case p.form == arm64Literal:
		w := arm64Word(code)
		off, _ := insn.ARM64Literal(w)
		return arch.Emulation{Op: arch.OpLend, A: arm64Borrowed(w), B: arm64Written(w), Imm: off}
	case p.form == arm64CallAuth:
		return arch.Emulation{Op: arch.OpLendOut, A: arch.ARM64LR, B: arch.NoReg}
	}
	return insn.ARM64Emulation(code, pc)
}

// arm64Encode writes the trampoline of a plan.
func arm64Encode(p Plan, code []byte, pc, slot uint64) ([]byte, error) {
	if !p.InSlot() {
		return nil, fmt.Errorf("encoding the trampoline of %#x: there is none (%s)", pc, p.Kind)
	}
	if len(code) < 4 {
		return nil, fmt.Errorf("encoding the trampoline of %#x: %w", pc, insn.ErrTruncated)
	}
	w := arm64Word(code)
	switch p.form {
	case arm64Literal:
		w = arm64Load(w)
	case arm64CallAuth:
		w &^= 1 << 21 // blraa to braa
	}
	return append(binary.LittleEndian.AppendUint32(nil, w), arch.ARM64.Breakpoint(4)...), nil
}

// arm64Loads are ldr, ldrsw, prfm and ldr of a vector register from [Xn], by the fields V and
// opc of the form that loads a literal (Arm ARM, C4.1.94).
var arm64Loads = [2][4]uint32{
	{0xb9400000, 0xf9400000, 0xb9800000, 0xf9800000}, // w, x, sw, prfm
	{0xbd400000, 0xfd400000, 0x3dc00000, 0},          // s, d, q
}

// arm64Load is the load of a literal as a load through the register that arm64Borrowed says.
func arm64Load(w uint32) uint32 {
	return arm64Loads[w>>26&1][w>>30] | uint32(arm64Borrowed(w))<<5 | w&31
}

// arm64Borrowed is the register through which a literal is loaded from a slot: the one that
// is loaded, or X0 if that is none.
func arm64Borrowed(w uint32) arch.Reg {
	if arm64Written(w) == arch.NoReg {
		return arch.ARM64X0
	}
	return arm64Written(w)
}

// arm64Written is the general register that the load of a literal writes.
func arm64Written(w uint32) arch.Reg {
	if vector, prfm := w>>26&1 == 1, w>>30 == 3; vector || prfm {
		return arch.NoReg
	}
	if w &= 31; w != 31 {
		return arch.ARM64X0 + arch.Reg(w)
	}
	return arch.NoReg // the zero register
}
