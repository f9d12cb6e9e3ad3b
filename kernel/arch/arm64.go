package arch

import (
	"debug/elf"
	"encoding/binary"
)

// Registers of ARM64: the general registers in the order of the architecture's own
// encoding (ArmX0+n is Xn), then what an exception level has of its own. ArmSP is the
// stack pointer in use, ArmSP_EL0 the other one while the kernel runs on SP_EL1.
const (
	ArmX0 Reg = iota
	ArmX8 Reg = 8
	ArmFP Reg = 29 // X29 (AAPCS64, 6.1.1)
	ArmLR Reg = 30 // X30
)

// The other registers of ARM64.
const (
	ArmSP        Reg = 31 + iota
	ArmPC            //
	ArmPSTATE        // in the layout of an SPSR: NZCV 31:28, DAIF 9:6, mode 3:0 (Arm ARM, C5.2.19)
	ArmELR           // ELR_EL1
	ArmSPSR          // SPSR_EL1
	ArmESR           // ESR_EL1
	ArmFAR           // FAR_EL1
	ArmSP_EL0        //
	ArmTPIDR         // TPIDR_EL1
	ArmTPIDR_EL0     //
	ArmVBAR          // VBAR_EL1
	ArmSCTLR         // SCTLR_EL1
	ArmTCR           // TCR_EL1
	ArmTTBR0         // TTBR0_EL1
	ArmTTBR1         // TTBR1_EL1
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

	Breakpoint:     func(int) []byte { return armBRK },
	BreakpointSkip: 0, // the preferred return address is BRK's own (Arm ARM, D1.3.1)

	Regs: append(numbered("X", 31), []RegInfo{
		{"SP", 31}, {"PC", 32}, // DWARF for the Arm 64-bit Architecture, 4.1
		{"PSTATE", -1}, {"ELR", 33}, {"SPSR", -1}, {"ESR", -1}, {"FAR", -1},
		{"SP_EL0", -1}, {"TPIDR", -1}, {"TPIDR_EL0", 36}, {"VBAR", -1},
		{"SCTLR", -1}, {"TCR", -1}, {"TTBR0", -1}, {"TTBR1", -1},
	}...),
	Aliases: map[string]Reg{"LR": ArmLR},

	PC: ArmPC, SP: ArmSP, FP: ArmFP, Flags: ArmPSTATE, Ret: ArmX0,
	Args: consecutive(ArmX0, 8), // AAPCS64, 6.8.2
	Link: ArmLR,

	Interruptible: func(flags uint64) bool { return flags&(1<<7) == 0 }, // PSTATE.I masks them
}

// armBRK is BRK #0x7472. Linux uses other immediates (kprobes 4, BUG 0x800, ...).
var armBRK = []byte{0x40, 0x8e, 0x2e, 0xd4}
