package arch

import (
	"debug/elf"
	"encoding/binary"
)

// Registers of ARM64: the general registers in the order of the architecture's own
// encoding (ARM64X0+n is Xn), then what an exception level has of its own. ARM64SP is the
// stack pointer in use, ARM64SP_EL0 the other one while the kernel runs on SP_EL1.
const (
	ARM64X0 Reg = iota
	ARM64X8 Reg = 8
	ARM64FP Reg = 29 // X29 (AAPCS64, 6.1.1)
	ARM64LR Reg = 30 // X30
)

// The other registers of ARM64.
const (
	ARM64SP        Reg = 31 + iota
	ARM64PC            //
	ARM64PSTATE        // in the layout of an SPSR: NZCV 31:28, DAIF 9:6, mode 3:0 (Arm ARM, C5.2.19)
	ARM64ELR           // ELR_EL1
	ARM64SPSR          // SPSR_EL1
	ARM64ESR           // ESR_EL1
	ARM64FAR           // FAR_EL1
	ARM64SP_EL0        //
	ARM64TPIDR         // TPIDR_EL1
	ARM64TPIDR_EL0     //
	ARM64VBAR          // VBAR_EL1
	ARM64SCTLR         // SCTLR_EL1
	ARM64TCR           // TCR_EL1
	ARM64TTBR0         // TTBR0_EL1
	ARM64TTBR1         // TTBR1_EL1
)

// ARM64 is AArch64, little-endian, with a kernel at EL1.
var ARM64 = &Arch{
	Name:      "arm64",
	Machine:   elf.EM_AARCH64,
	ByteOrder: binary.LittleEndian,
	PtrSize:   8,
	PageSize:  4096,

	MinInstr: 4,
	MaxInstr: 4,

	Breakpoint:     func(int) []byte { return arm64BRK },
	BreakpointSkip: 0, // the preferred return address is BRK's own (Arm ARM, D1.3.1)

	Regs: append(numbered("X", 31), []RegInfo{
		{"SP", 31}, {"PC", 32}, // DWARF for the Arm 64-bit Architecture, 4.1
		{"PSTATE", -1}, {"ELR", 33}, {"SPSR", -1}, {"ESR", -1}, {"FAR", -1},
		{"SP_EL0", -1}, {"TPIDR", -1}, {"TPIDR_EL0", 36}, {"VBAR", -1},
		{"SCTLR", -1}, {"TCR", -1}, {"TTBR0", -1}, {"TTBR1", -1},
	}...),
	Aliases: map[string]Reg{"LR": ARM64LR},

	PC: ARM64PC, SP: ARM64SP, FP: ARM64FP, Flags: ARM64PSTATE, Ret: ARM64X0,
	Args: consecutive(ARM64X0, 8), // AAPCS64, 6.8.2
	Link: ARM64LR,

	Interruptible: func(flags uint64) bool { return flags&(1<<7) == 0 }, // PSTATE.I masks them
}

// arm64BRK is BRK #0x7472. Linux uses other immediates (kprobes 4, BUG 0x800, ...).
var arm64BRK = []byte{0x40, 0x8e, 0x2e, 0xd4}
