package trampoline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/riscv64/riscv64asm"

	"trapline/kernel/arch"
)

// decoding guards the decoders of arm64 and riscv64 in x/arch, which write to a variable
// of their package.
var decoding sync.Mutex

// armText disassembles. What x/arch does not know is shown as .inst.
func armText(code []byte, pc uint64, sym func(uint64) (string, uint64)) string {
	if len(code) < 4 {
		return "(bad)"
	}
	decoding.Lock()
	defer decoding.Unlock()
	in, err := arm64asm.Decode(code[:4])
	if err != nil {
		return fmt.Sprintf(".inst %#08x", armWord(code))
	}
	return withTarget(arm64asm.GNUSyntax(in), armDo(armPlan(code, pc), code, pc), pc, sym)
}

// riscvText disassembles. What x/arch does not know is shown as .insn.
func riscvText(code []byte, pc uint64, sym func(uint64) (string, uint64)) string {
	n, err := riscvLength(code)
	if err != nil {
		return "(bad)"
	}
	decoding.Lock()
	defer decoding.Unlock()
	in, err := riscv64asm.Decode(code[:n])
	if err != nil || in.Len != n {
		return fmt.Sprintf(".insn %d, 0x%0*x", n, 2*n, riscvWord(code, n))
	}
	text := strings.Join(strings.Fields(riscv64asm.GNUSyntax(in)), " ")
	return withTarget(text, riscvDo(riscvPlan(code, pc), code, pc), pc, sym)
}

// relativeOperand is the operand that names an address: "." and an offset in arm64asm, the
// last number in riscv64asm.
var relativeOperand = regexp.MustCompile(`\.\+0x[0-9a-f]+|-?[0-9]+$`)

// withTarget puts an absolute address, or a symbol's name and an offset, into the text of an
// instruction that names an address relative to itself.
func withTarget(text string, do arch.Emulation, pc uint64, sym func(uint64) (string, uint64)) string {
	if do.Op == arch.OpNone || do.Op == arch.OpJumpReg || do.Op == arch.OpLendOut || strings.HasPrefix(text, "auipc") {
		return text
	}
	addr := pc + uint64(do.Imm)
	name := "0x" + strconv.FormatUint(addr, 16)
	if sym != nil {
		if s, base := sym(addr); s != "" && base == addr {
			name = s
		} else if s != "" {
			name = s + "+" + strconv.FormatUint(addr-base, 10)
		}
	}
	return relativeOperand.ReplaceAllLiteralString(text, name)
}
