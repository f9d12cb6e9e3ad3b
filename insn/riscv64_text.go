package insn

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/arch/riscv64/riscv64asm"

	"trapline/kernel/arch"
)

// riscv64Text disassembles. What x/arch does not know is shown as .insn.
func riscv64Text(code []byte, pc uint64, sym func(uint64) (string, uint64)) string {
	n, err := riscv64Length(code)
	if err != nil {
		return bad
	}
	decoding.Lock()
	defer decoding.Unlock()
	in, err := riscv64asm.Decode(code[:n])
	if err != nil || in.Len != n {
		return fmt.Sprintf(".insn %d, 0x%0*x", n, 2*n, riscv64Word(code, n))
	}
	text := strings.Join(strings.Fields(riscv64asm.GNUSyntax(in)), " ")
	text = riscv64Numbered.ReplaceAllStringFunc(text, func(r string) string { return riscv64Names[r] })
	switch do := RISCV64Emulation(code); {
	case do.Op == arch.OpNone, do.Op == arch.OpSet, do.Op == arch.OpJumpReg: // auipc shows its own operand
		return text
	default:
		return withTarget(text, pc+uint64(do.Imm), sym)
	}
}

// riscv64Numbered is a register by number. As objdump does, we name registers by their use
// (RISC-V ELF psABI, 1.1 and 1.2).
var (
	riscv64Numbered = regexp.MustCompile(`\b[xf][0-9]+\b`)
	riscv64Names    = riscv64NamesOf()
)

func riscv64NamesOf() map[string]string {
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
