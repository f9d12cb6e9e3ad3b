package code

import (
	"fmt"
	"strings"
)

// Text is the instruction in words: the operation and its operand, with names for
// numbers. It does not fail on a bad operand.
func (p *Program) Text(in Instr) string {
	if in.Op >= opMax {
		return in.Op.String()
	}
	arg := p.operand(in)
	if arg == "" {
		return in.Op.String()
	}
	return in.Op.String() + " " + arg
}

func (p *Program) operand(in Instr) string {
	switch ops[in.Op].arg {
	case argImm:
		return immText(in.Imm)
	case argSize, argJump:
		return fmt.Sprint(in.Imm)
	case argInt, argLoad, argArg:
		return fmt.Sprint(in.N)
	case argString:
		if in.Imm < uint64(len(p.Strings)) {
			return fmt.Sprintf("%q", p.Strings[in.Imm])
		}
	case argVar, argArray:
		if in.Imm < uint64(len(p.Vars)) {
			return p.Vars[in.Imm].Name
		}
	case argPart:
		return p.partText(in)
	case argBuiltin:
		return Builtin(in.Imm).String()
	case argFrames:
		return fmt.Sprintf("%s/%d", [...]string{"kernel", "user"}[in.N&1], in.Imm)
	case argCall:
		return fmt.Sprintf("%s/%d", Sub(in.Imm), in.N)
	default:
		return ""
	}
	return fmt.Sprintf("?%d", in.Imm)
}

// immText shows small numbers in decimal, negative ones with their sign, others in hex.
func immText(x uint64) string {
	if i := int64(x); i > -1<<16 && i < 1<<16 {
		return fmt.Sprint(i)
	}
	return fmt.Sprintf("%#x", x)
}

// Line is the code of f on one line, instructions separated by "; ". Jump targets are
// indices of instructions.
func (p *Program) Line(f *Func) string {
	s := make([]string, len(f.Code))
	for i, in := range f.Code {
		s[i] = p.Text(in)
	}
	return strings.Join(s, "; ")
}

// Disasm lists f, one instruction on a line: its index, its text and the kinds on the
// stack after it (i scalar, s string, b bytes, f frames, k keys), bottom first. Code that
// VerifyFunc refuses is listed without them from the offending instruction on.
func (p *Program) Disasm(f *Func) string {
	v := verifier{prog: p, f: f, at: make([]*string, len(f.Code)+1)}
	_ = v.run() // what it found out before it failed is shown
	var b strings.Builder
	for i, in := range f.Code {
		after := ""
		if before := v.at[i]; before != nil && p.checkOperand(in, i, len(f.Code)) == nil {
			after, _ = p.apply(in, *before)
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%4d  %-28s %s", i, p.Text(in), after), " ") + "\n")
	}
	return b.String()
}
