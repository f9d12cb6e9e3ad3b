package trampoline

import (
	"trapline/insn"
	"trapline/kernel/arch"
)

// AMD64 displaces instructions of 64-bit mode.
//
// A slot has 32 bytes. The most that is needed is 27, for a loop with 13 bytes of prefixes;
// a call takes up to 25, for a push, an instruction of 15 bytes and the jump back. Slots must lie within 2 GiB of all that an instruction can name
// relative to itself; Encode checks.
var AMD64 = isas.Row(arch.AMD64, &ISA{
	Set:      insn.AMD64,
	SlotSize: amd64SlotSize,
	Fill:     []byte{amd64INT3},
	Plan:     amd64Plan,
	Encode:   amd64Encode,
	Do:       func(Plan, []byte, uint64) arch.Emulation { return arch.Emulation{} },
})

const amd64SlotSize = 32
