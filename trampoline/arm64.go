package trampoline

import (
	"encoding/binary"
	"fmt"

	"trapline/kernel/arch"
)

// ARM64 displaces instructions of AArch64.
//
// A slot has 8 bytes: the instruction, and the second breakpoint that stands for the jump
// back, as in FreeBSD's kinst. What names or saves its own address has no room there to be
// written anew: the machine does it (see armDo).
//
//	pc      brk             the first breakpoint, over ldp x29,x30,[sp],#16
//	pc+4    ..         <----------------------------.
//	                                                |
//	slot    ldp x29,x30,[sp],#16                    |
//	        brk             the second; goes on at -'
var ARM64 = &ISA{
	Arch:     arch.ARM64,
	SlotSize: 8,
	Fill:     arch.ARM64.Breakpoint(4),
	Length:   armLength,
	Plan:     armPlan,
	Encode:   armEncode,
	Do:       armDo,
	Flow:     armFlow,
	Text:     armText,
}

// armLength: every instruction has four bytes. That a word is undefined is no reason to
// stop: the next one begins where it ends.
func armLength(code []byte) (int, error) {
	if len(code) < 4 {
		return 0, ErrTruncated
	}
	return 4, nil
}

func armWord(code []byte) uint32 { return binary.LittleEndian.Uint32(code) }

// armEncode writes the trampoline of a plan.
func armEncode(p Plan, code []byte, pc, slot uint64) ([]byte, error) {
	if !p.InSlot() {
		return nil, fmt.Errorf("encoding the trampoline of %#x: there is none (%s)", pc, p.Kind)
	}
	if len(code) < 4 {
		return nil, fmt.Errorf("encoding the trampoline of %#x: %w", pc, ErrTruncated)
	}
	w := armWord(code)
	switch p.form {
	case armLiteral:
		w = armLoad(w)
	case armCallAuth:
		w &^= 1 << 21 // blraa to braa
	}
	return append(binary.LittleEndian.AppendUint32(nil, w), arch.ARM64.Breakpoint(4)...), nil
}

// armLoads are ldr, ldrsw, prfm and ldr of a vector register from [Xn], by the fields V and
// opc of the form that loads a literal (Arm ARM, C4.1.94).
var armLoads = [2][4]uint32{
	{0xb9400000, 0xf9400000, 0xb9800000, 0xf9800000}, // w, x, sw, prfm
	{0xbd400000, 0xfd400000, 0x3dc00000, 0},          // s, d, q
}

// armLoad is the load of a literal as a load through the register that armBorrowed says.
func armLoad(w uint32) uint32 {
	return armLoads[w>>26&1][w>>30] | uint32(armBorrowed(w))<<5 | w&31
}

// armBorrowed is the register through which a literal is loaded from a slot: the one that
// is loaded, or X0 if that is none.
func armBorrowed(w uint32) arch.Reg {
	if armWritten(w) == arch.NoReg {
		return arch.ArmX0
	}
	return armWritten(w)
}

// armWritten is the general register that the load of a literal writes.
func armWritten(w uint32) arch.Reg {
	if vector, prfm := w>>26&1 == 1, w>>30 == 3; vector || prfm {
		return arch.NoReg
	}
	return armReg(w)
}

// armReg is the register in the lowest five bits of w. Number 31 is the zero register.
func armReg(w uint32) arch.Reg {
	if w &= 31; w != 31 {
		return arch.ArmX0 + arch.Reg(w)
	}
	return arch.NoReg
}
