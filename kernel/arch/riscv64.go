package arch

import (
	"debug/elf"
	"encoding/binary"
)

// Registers of RISCV64: the general registers in the order of the architecture's own
// encoding (RISCV64X0+n is xn), then the program counter, the supervisor's control
// registers, the privilege level and the machine's control registers.
const (
	RISCV64X0 Reg = iota // always 0
	RISCV64RA            // x1, the return address
	RISCV64SP            // x2
	RISCV64GP            // x3
	RISCV64TP            // x4, in Linux's kernel the current task
	RISCV64S0 Reg = 8    // x8, the frame pointer
	RISCV64A0 Reg = 10   // x10, the first argument and the return value
)

// The other registers of RISCV64.
const (
	RISCV64PC       Reg = 32 + iota
	RISCV64SSTATUS      // SIE is bit 1 (Privileged Architecture, 4.1.1)
	RISCV64SIE          //
	RISCV64STVEC        //
	RISCV64SSCRATCH     //
	RISCV64SEPC         //
	RISCV64SCAUSE       //
	RISCV64STVAL        //
	RISCV64SIP          //
	RISCV64SATP         //
	RISCV64PRIV         // 0 user, 1 supervisor, 3 machine
	RISCV64MSTATUS      // those of machine mode: with our firmware they are the emulator's own
	RISCV64MEDELEG      //
	RISCV64MIDELEG      //
	RISCV64MIE          //
	RISCV64MTVEC        //
	RISCV64MSCRATCH     //
	RISCV64MEPC         //
	RISCV64MCAUSE       //
	RISCV64MTVAL        //
	RISCV64MIP          //
)

// RISCV64 is RV64GC.
var RISCV64 = &Arch{
	Name:      "riscv64",
	Machine:   elf.EM_RISCV,
	ByteOrder: binary.LittleEndian,
	PtrSize:   8,
	PageSize:  4096,

	MinInstr: 2,
	MaxInstr: 4, // longer encodings are reserved

	Breakpoint:     riscv64Breakpoint,
	BreakpointSkip: 0, // sepc is the address of EBREAK (Privileged Architecture, 3.3.1)

	Regs: append(numbered("X", 32), []RegInfo{
		{"PC", -1},
		{"SSTATUS", 4096 + 0x100}, {"SIE", 4096 + 0x104}, {"STVEC", 4096 + 0x105}, // RISC-V DWARF, table 1
		{"SSCRATCH", 4096 + 0x140}, {"SEPC", 4096 + 0x141}, {"SCAUSE", 4096 + 0x142},
		{"STVAL", 4096 + 0x143}, {"SIP", 4096 + 0x144}, {"SATP", 4096 + 0x180},
		{"PRIV", -1},
		{"MSTATUS", 4096 + 0x300}, {"MEDELEG", 4096 + 0x302}, {"MIDELEG", 4096 + 0x303},
		{"MIE", 4096 + 0x304}, {"MTVEC", 4096 + 0x305}, {"MSCRATCH", 4096 + 0x340},
		{"MEPC", 4096 + 0x341}, {"MCAUSE", 4096 + 0x342}, {"MTVAL", 4096 + 0x343}, {"MIP", 4096 + 0x344},
	}...),
	Aliases: riscv64Names(),

	PC: RISCV64PC, SP: RISCV64SP, FP: RISCV64S0, Flags: RISCV64SSTATUS, Ret: RISCV64A0,
	Args: consecutive(RISCV64A0, 8), // RISC-V ELF psABI, 2.1
	Link: RISCV64RA,

	Interruptible: func(flags uint64) bool { return flags&(1<<1) != 0 }, // SIE
}

var (
	ebreak  = []byte{0x73, 0x00, 0x10, 0x00}
	cEbreak = []byte{0x02, 0x90}
)

// riscv64Breakpoint returns EBREAK for four bytes and C.EBREAK for two, so that it covers
// one instruction and no part of the next.
func riscv64Breakpoint(n int) []byte {
	if n == 2 {
		return cEbreak
	}
	return ebreak
}

// riscv64Names has the names of the calling convention (RISC-V ELF psABI, 1.1).
func riscv64Names() map[string]Reg {
	names := map[string]Reg{}
	for i, name := range [...]string{
		"ZERO", "RA", "SP", "GP", "TP", "T0", "T1", "T2",
		"S0", "S1", "A0", "A1", "A2", "A3", "A4", "A5",
		"A6", "A7", "S2", "S3", "S4", "S5", "S6", "S7",
		"S8", "S9", "S10", "S11", "T3", "T4", "T5", "T6",
	} {
		names[name] = Reg(i)
	}
	return names
}
