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
	text = riscvNumbered.ReplaceAllStringFunc(text, func(r string) string { return riscvNames[r] })
	return withTarget(text, riscvDo(riscvPlan(code, pc), code, pc), pc, sym)
}

// riscvNumbered is a register by number. As objdump does, we name registers by their use
// (RISC-V ELF psABI, 1.1 and 1.2).
var (
	riscvNumbered = regexp.MustCompile(`\b[xf][0-9]+\b`)
	riscvNames    = riscvNamesOf()
)

func riscvNamesOf() map[string]string {
	const (
		general  = "zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"
		floating = "ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7 " +
			"fs2 fs3 fs4 fs5 fs6 fs7 fs8 fs9 fs10 fs11 ft8 ft9 ft10 ft11"
	)
	names := map[string]string{}
	for i, name := range strings.Fields(general) {
		names["x"+strconv.Itoa(i)] = name
	}
	for i, name := range strings.Fields(floating) {
		names["f"+strconv.Itoa(i)] = name
	}
	return names
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
	return relativeOperand.ReplaceAllLiteralString(text, targetText(pc+uint64(do.Imm), sym))
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
