package lesson

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"trapline/kernel/arch"
)

var amd64Course = &course{
	breakpoint: "int3",
	trap: "int3 is one byte long, so it fits over any instruction. It raises the exception #BP, vector 3. The CPU saves where it was; " +
		"RIP is already one byte past the breakpoint (SDM vol. 3, 6.4.4):",
	frame: []field{
		{"SS", arch.SS, "stack segment"},
		{"RSP", arch.RSP, "stack pointer"},
		{"RFLAGS", arch.RFLAGS, "flags"},
		{"CS", arch.CS, "code segment: the low two bits are the privilege level"},
		{"RIP", arch.RIP, "the breakpoint + 1"},
	},
	mask:      "IF, bit 9 of RFLAGS",
	masked:    func(regs []uint64) bool { return regs[arch.RFLAGS]&(1<<9) == 0 },
	displaced: amd64Displaced,
}

// amd64Displaced finds the displacement by which an instruction names an address relative
// to RIP.
func amd64Displaced(code []byte) (disp int64, size int) {
	in, err := x86asm.Decode(code, 64)
	if err != nil || in.PCRel == 0 || in.PCRelOff+in.PCRel > len(code) {
		return 0, 0
	}
	switch at := code[in.PCRelOff:]; in.PCRel {
	case 1:
		return int64(int8(at[0])), 1
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(at))), 4
	}
	return 0, 0
}
