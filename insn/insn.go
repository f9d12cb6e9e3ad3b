// Package insn knows the instructions of guests: how long one is, where control goes after it,
// what it does to its function's frame, how it reads, and what it computes. Whoever looks at
// machine code asks here; nobody else decodes.
//
//	bytes --Length, Walk--> instructions --Flow---> where control goes, and under what condition
//	                                     --Frame--> prologue and epilogue
//	                                     --Class--> breakpoint, nop, exclusive access ...
//	                                     --Text---> the GNU assembler's syntax
//	                                     --Execute--> registers and memory as it leaves them
//
// An architecture is one [Set]. All of it is a function of the bytes; package trampoline decides
// what becomes of an instruction that a breakpoint displaces.
package insn

import (
	"errors"
	"fmt"

	"trapline/kernel/arch"
)

// The ways in which bytes are not an instruction.
var (
	// ErrTruncated means that the bytes end inside the instruction.
	ErrTruncated = errors.New("the bytes end inside the instruction")
	// ErrUndefined means that the architecture has no such instruction in the mode
	// that kernels run in (amd64: 64-bit mode).
	ErrUndefined = errors.New("no such instruction")
	// ErrTooLong means that prefixes push the instruction past the architecture's
	// limit (amd64: 15 bytes, SDM vol. 2, 2.3.11).
	ErrTooLong = errors.New("the instruction is longer than 15 bytes")
)

// A Set is the instruction set of one architecture.
type Set struct {
	Arch *arch.Arch

	// Length returns the number of bytes of the first instruction of code.
	// The error wraps ErrTruncated, ErrUndefined or ErrTooLong.
	Length func(code []byte) (int, error)

	// Flow returns where control goes after the first instruction of code, which lies at pc.
	// Bytes that are not an instruction go onward.
	Flow func(code []byte, pc uint64) Flow

	// Frame returns what an instruction does for its function's frame, Class its class. code is
	// the instruction.
	Frame func(code []byte) Frame
	Class func(code []byte) Class

	// Text returns the first instruction of code in the syntax of the GNU assembler,
	// or "(bad)". sym names an address by the symbol that covers it and the symbol's
	// own address; it may be nil, and returns "" for an address without one.
	Text func(code []byte, pc uint64, sym func(uint64) (name string, base uint64)) string

	// Execute carries out on m the instruction code, which lies at pc and is neither a jump nor
	// a branch. It leaves the address of the next instruction in m's program counter. The error
	// wraps ErrUnknown if the instruction is not among those that compilers compute with.
	Execute func(m Machine, code []byte, pc uint64) error
}

// sets has the instruction set of each architecture.
var sets arch.Table[*Set]

// For returns the instruction set of an architecture.
func For(a *arch.Arch) (*Set, error) {
	if s, ok := sets.Of(a); ok {
		return s, nil
	}
	return nil, fmt.Errorf("the instructions of %s are not known", a)
}

// Walk calls yield with the offset and length of each instruction of code in turn, until yield
// returns false. addr is the address of code. The error says where code stops being
// instructions; it wraps ErrTruncated, ErrUndefined or ErrTooLong.
func (s *Set) Walk(code []byte, addr uint64, yield func(off, n int) bool) error {
	for off := 0; off < len(code); {
		n, err := s.Length(code[off:])
		if err != nil {
			return fmt.Errorf("decoding the instruction at %#x (offset %d): %w", addr+uint64(off), off, err)
		}
		if !yield(off, n) {
			return nil
		}
		off += n
	}
	return nil
}
