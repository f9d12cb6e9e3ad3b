package code

import (
	"fmt"
	"strings"
)

// Verify checks every function of the program, so that the machine need not: operands are
// in range, jumps go forward, the stack has the same depth and the same kinds of value
// wherever paths join and never underflows, all code can be reached, and each function
// ends with one value of its type, or none. It fills in MaxStack.
func (p *Program) Verify() error {
	for i, c := range p.Clauses {
		if err := p.verifyClause(c); err != nil {
			return fmt.Errorf("verifying clause %d: %w", i, err)
		}
	}
	return nil
}

func (p *Program) verifyClause(c *Clause) error {
	if c.Pred != nil {
		if err := p.VerifyFunc(c.Pred); err != nil {
			return fmt.Errorf("predicate: %w", err)
		}
	}
	for i, a := range c.Actions {
		for _, f := range a.Funcs() {
			if err := p.VerifyFunc(f); err != nil {
				return fmt.Errorf("action %d: %w", i, err)
			}
		}
		for _, n := range a.Aggs {
			if n < 0 || n >= len(p.Aggs) {
				return fmt.Errorf("action %d: no aggregation %d", i, n)
			}
		}
	}
	return nil
}

// VerifyFunc checks one function against the program's tables and sets its MaxStack.
func (p *Program) VerifyFunc(f *Func) error {
	v := verifier{prog: p, f: f, at: make([]*string, len(f.Code)+1)}
	if err := v.run(); err != nil {
		return err
	}
	f.MaxStack = v.max
	return nil
}

// A verifier runs a function once on kinds instead of values. One pass is enough: jumps
// go forward.
type verifier struct {
	prog *Program
	f    *Func
	at   []*string // the stack before each instruction, in letters; nil: not reached
	max  int
}

func (v *verifier) run() error {
	empty := ""
	v.at[0] = &empty
	for pc, in := range v.f.Code {
		if v.at[pc] == nil {
			return fmt.Errorf("%d: %s: cannot be reached", pc, in.Op)
		}
		if err := v.step(pc, in); err != nil {
			return fmt.Errorf("%d: %s: %w", pc, in.Op, err)
		}
	}
	end := v.at[len(v.f.Code)]
	if end == nil || *end != letter(v.f.Type.Kind) {
		return fmt.Errorf("end: the stack is %s, not %q", show(end), letter(v.f.Type.Kind))
	}
	return nil
}

func (v *verifier) step(pc int, in Instr) error {
	if err := v.prog.checkOperand(in, pc, len(v.f.Code)); err != nil {
		return err
	}
	after, err := v.prog.apply(in, *v.at[pc])
	if err != nil {
		return err
	}
	v.max = max(v.max, len(after))
	if ops[in.Op].arg == argJump {
		if err := v.join(int(in.Imm), after); err != nil {
			return err
		}
	}
	if in.Op == OpJmp {
		return nil
	}
	return v.join(pc+1, after)
}

// join records that the stack may be s at pc, and fails if another path says otherwise.
func (v *verifier) join(pc int, s string) error {
	if old := v.at[pc]; old != nil && *old != s {
		return fmt.Errorf("the stack at %d is %s or %q", pc, show(old), s)
	}
	v.at[pc] = &s
	return nil
}

// apply runs one instruction on a stack of kinds.
func (p *Program) apply(in Instr, stack string) (string, error) {
	pop, push := p.effect(in)
	n := len(stack) - len(pop)
	if n < 0 {
		return "", fmt.Errorf("takes %q from the stack %q", pop, stack)
	}
	for i, want := range []byte(pop) {
		got := stack[n+i]
		if want == 'v' || want == 'w' {
			push = strings.ReplaceAll(push, string(want), string(got))
		} else if want != got {
			return "", fmt.Errorf("takes %q from the stack %q", pop, stack)
		}
	}
	return stack[:n] + push, nil
}

// checkOperand checks N and Imm of the instruction at pc, in code of n instructions.
func (p *Program) checkOperand(in Instr, pc, n int) error {
	if in.Op >= opMax {
		return fmt.Errorf("no such operation")
	}
	form := ops[in.Op].arg
	if !p.operandOK(form, in, pc, n) {
		return fmt.Errorf("bad operand %d, %d", in.N, in.Imm)
	}
	if (form == argVar || form == argArray) && !p.varOK(in) {
		return fmt.Errorf("bad variable %s", p.Vars[in.Imm].Name)
	}
	return nil
}

func (p *Program) operandOK(form argForm, in Instr, pc, n int) bool {
	switch form {
	case argString:
		return in.Imm < uint64(len(p.Strings))
	case argInt:
		return in.N == 1 || in.N == 2 || in.N == 4
	case argLoad:
		return in.N == 1 || in.N == 2 || in.N == 4 || in.N == 8
	case argSize:
		return in.Imm > 0 && in.Imm <= MaxSize
	case argJump:
		return in.Imm > uint64(pc) && in.Imm <= uint64(n)
	case argVar, argArray:
		return in.Imm < uint64(len(p.Vars))
	case argArg:
		return in.N < 10
	case argBuiltin:
		return in.Imm < uint64(builtinMax)
	case argPart:
		return p.partOK(in)
	case argFrames:
		return in.N <= 1 && in.Imm <= MaxFrames
	case argCall:
		return in.Imm < uint64(subMax) && callOK(Sub(in.Imm), int(in.N))
	}
	return true
}

func callOK(s Sub, n int) bool {
	least, most := s.Args()
	return n >= least && n <= most
}

// varOK reports whether the variable has the scope and the shape that the operation is for.
func (p *Program) varOK(in Instr) bool {
	v := p.Vars[in.Imm]
	if v.Type.Kind == Void {
		return false
	}
	switch in.Op {
	case OpLoadGlobal, OpStoreGlobal:
		return v.Scope == Global && len(v.Keys) == 0
	case OpLoadSelf, OpStoreSelf:
		return v.Scope == Self && len(v.Keys) == 0
	case OpLoadThis, OpStoreThis:
		return v.Scope == This && len(v.Keys) == 0
	}
	return len(v.Keys) > 0
}

func show(s *string) string {
	if s == nil {
		return "unknown"
	}
	return fmt.Sprintf("%q", *s)
}
