package arch

import (
	"debug/elf"
	"encoding/binary"
)

// Registers of AMD64, in the order of the architecture's own encoding. GSBase is the
// base of the segment in use, KernelGSBase the one that SWAPGS would bring in.
const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
	RIP
	RFLAGS
	CS
	SS
	DS
	ES
	FS
	GS
	FSBase
	GSBase
	KernelGSBase
	CR0
	CR2
	CR3
	CR4
	LSTAR
)

// AMD64 is x86-64 in long mode.
var AMD64 = &Arch{
	Name:      "amd64",
	Machine:   elf.EM_X86_64,
	ByteOrder: binary.LittleEndian,
	PtrSize:   8,
	PageSize:  4096,

	MinInstr: 1,
	MaxInstr: 15, // SDM vol. 2, 2.3.11

	Breakpoint:     func(int) []byte { return int3 },
	BreakpointSkip: 1,

	Regs: []RegInfo{
		{"RAX", 0}, {"RCX", 2}, {"RDX", 1}, {"RBX", 3}, // System V ABI, figure 3.36
		{"RSP", 7}, {"RBP", 6}, {"RSI", 4}, {"RDI", 5},
		{"R8", 8}, {"R9", 9}, {"R10", 10}, {"R11", 11},
		{"R12", 12}, {"R13", 13}, {"R14", 14}, {"R15", 15},
		{"RIP", 16}, {"RFLAGS", 49},
		{"CS", 51}, {"SS", 52}, {"DS", 53}, {"ES", 50}, {"FS", 54}, {"GS", 55},
		{"FSBASE", 58}, {"GSBASE", 59}, {"KERNELGSBASE", -1},
		{"CR0", -1}, {"CR2", -1}, {"CR3", -1}, {"CR4", -1}, {"LSTAR", -1},
	},
	PC: RIP, SP: RSP, FP: RBP, Flags: RFLAGS, Ret: RAX,
	Args:          []Reg{RDI, RSI, RDX, RCX, R8, R9},
	Interruptible: func(flags uint64) bool { return flags&(1<<9) != 0 }, // IF

	StackArgs: 8, // above the return address (System V ABI, 3.2.2)
}

var int3 = []byte{0xcc}
