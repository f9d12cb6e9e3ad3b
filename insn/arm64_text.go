package insn

import (
	"fmt"

	"golang.org/x/arch/arm64/arm64asm"

	"trapline/kernel/arch"
)

// arm64Text disassembles. What x/arch does not know is shown as .inst.
func arm64Text(code []byte, pc uint64, sym func(uint64) (string, uint64)) string {
	if len(code) < 4 {
		return bad
	}
	decoding.Lock()
	defer decoding.Unlock()
	in, err := arm64asm.Decode(code[:4])
	if err != nil {
		return fmt.Sprintf(".inst %#08x", arm64Word(code))
	}
	text := arm64asm.GNUSyntax(in)
	if to, ok := arm64Target(arm64Word(code), pc); ok {
		text = withTarget(text, to, sym)
	}
	return text
}

// arm64Target is the address that an instruction names relative to itself.
func arm64Target(w uint32, pc uint64) (to uint64, ok bool) {
	if imm, ok := ARM64Literal(w); ok {
		return pc + uint64(imm), true
	}
	do := arm64Emulation(w, pc)
	return pc + uint64(do.Imm), do.Op != arch.OpNone && do.Op != arch.OpJumpReg
}
