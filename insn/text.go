package insn

import (
	"regexp"
	"strconv"
	"sync"
)

// decoding guards the decoders of arm64 and riscv64 in x/arch, which are not safe for concurrent
// use: each Decode notes in a slice of its package (decoderCover) which row of the table has
// matched, for the package's own tests. That of amd64 writes to nothing.
var decoding sync.Mutex

// bad is the text of bytes that are not an instruction.
const bad = "(bad)"

// relativeOperand is the operand that names an address: "." and an offset in arm64asm, the
// last number in riscv64asm.
var relativeOperand = regexp.MustCompile(`\.\+0x[0-9a-f]+|-?[0-9]+$`)

// withTarget puts an absolute address, or a symbol's name and an offset, into the text of an
// instruction that names an address relative to itself.
func withTarget(text string, target uint64, sym func(uint64) (string, uint64)) string {
	return relativeOperand.ReplaceAllLiteralString(text, targetText(target, sym))
}

// targetText is an address as an operand: in a symbol's terms if one covers it.
func targetText(addr uint64, sym func(uint64) (string, uint64)) string {
	if sym != nil {
		if s, base := sym(addr); s != "" && base == addr {
			return s
		} else if s != "" {
			return s + "+" + strconv.FormatUint(addr-base, 10)
		}
	}
	return "0x" + strconv.FormatUint(addr, 16)
}
