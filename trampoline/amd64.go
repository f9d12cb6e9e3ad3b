package trampoline

import "trapline/kernel/arch"

// AMD64 displaces instructions of 64-bit mode.
//
// A slot has 32 bytes. The most that is needed is 27, for a loop with 13 bytes of prefixes;
// a call takes up to 25, for a push, an instruction of 15 bytes and the jump back. Slots must lie within 2 GiB of all that an instruction can name
// relative to itself; Encode checks.
var AMD64 = &ISA{
	Arch:     arch.AMD64,
	SlotSize: amd64SlotSize,
	Fill:     []byte{amd64INT3},
	Length:   amd64Length,
	Plan:     amd64Plan,
	Encode:   amd64Encode,
	Do:       func(Plan, []byte, uint64) arch.Emulation { return arch.Emulation{} },
	Flow:     amd64Flow,
	Text:     amd64Text,
}

const amd64SlotSize = 32

func amd64Length(code []byte) (int, error) {
	in, err := decodeAMD64(code)
	return in.length, err
}
