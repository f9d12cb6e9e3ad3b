package trampoline

import "fmt"

// Walk finds the instructions of a function: code is its bytes, addr its address. It calls
// yield with the offset and length of each instruction in turn, until yield returns false.
// The error says where code stops being instructions; it wraps ErrTruncated, ErrUndefined
// or ErrTooLong.
func Walk(isa *ISA, code []byte, addr uint64, yield func(off, n int) bool) error {
	for off := 0; off < len(code); {
		n, err := isa.Length(code[off:])
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
