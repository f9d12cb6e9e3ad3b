package insn

import (
	"errors"

	"trapline/kernel/arch"
)

// A Machine is what an instruction that is executed reads and writes.
type Machine interface {
	arch.Regs
	// Mem returns the n bytes at an address as a number, SetMem stores them. A machine
	// remembers itself what cannot be reached.
	Mem(addr uint64, n int) uint64
	SetMem(addr uint64, n int, v uint64)
	// Fail notes that the instruction does something that is not known.
	Fail(err error)
}

// ErrUnknown means that it is not known what an instruction computes.
var ErrUnknown = errors.New("it is not known what the instruction does")

// signed is the low bits of v with their sign.
func signed(v uint64, bits uint) uint64 { return uint64(int64(v<<(64-bits)) >> (64 - bits)) }

// unsigned is the low bits of v.
func unsigned(v uint64, bits uint) uint64 { return v << (64 - bits) >> (64 - bits) }

// signedField is the number in n bits of w from bit lo on.
func signedField(w uint32, lo, n uint) int64 { return int64(int32(w<<(32-lo-n)) >> (32 - n)) }

func boolean(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
