package vm

import (
	"iter"

	"trapline/probes/d/code"
)

// Deferrable reports whether a firing of these clauses may as well come later, if Env has the time, the
// thread and registers as they were: they neither read the guest's memory nor act on the guest, and cannot end the trace. What else
// they do concerns the machine alone, and comes in the same order.
func (m *Machine) Deferrable(es []Enabling) bool {
	for _, e := range es {
		if !m.clauses[e.Clause].defers {
			return false
		}
	}
	return len(es) > 0
}

// AsksThread says that a firing of these clauses may ask for the current thread.
func (m *Machine) AsksThread(es []Enabling) bool {
	for _, e := range es {
		if m.clauses[e.Clause].thread {
			return true
		}
	}
	return false
}

// Registers lists what else it may ask for: registers, as of Env.Reg, and arguments, of which the
// bits in args are set.
func (m *Machine) Registers(es []Enabling) (regs []int, args uint16) {
	for _, e := range es {
		for in := range instrs(m.prog.Clauses[e.Clause]) {
			switch in.Op {
			case code.OpReg:
				regs = append(regs, int(in.Imm))
			case code.OpArg:
				args |= 1 << in.N
			}
		}
	}
	return regs, args
}

// instrs goes through all code of a clause.
func instrs(c *code.Clause) iter.Seq[code.Instr] {
	return func(yield func(code.Instr) bool) {
		for _, f := range funcs(c) {
			for _, in := range f.Code {
				if !yield(in) {
					return
				}
			}
		}
	}
}

// funcs are all functions of a clause.
func funcs(c *code.Clause) (all []*code.Func) {
	if c.Pred != nil {
		all = append(all, c.Pred)
	}
	for _, a := range c.Actions {
		all = append(all, a.Funcs()...)
	}
	return all
}

// defers says of one clause whether it is deferrable.
func defers(c *code.Clause) bool {
	for _, a := range c.Actions {
		if !a.Act.Deferrable() {
			return false
		}
	}
	for in := range instrs(c) {
		if readsMemory(in) {
			return false
		}
	}
	return true
}

// readsMemory says that an instruction looks at the guest's memory, or at what cannot be known later.
func readsMemory(in code.Instr) bool {
	switch in.Op {
	case code.OpLoadS, code.OpLoadU, code.OpLoadStr, code.OpLoadBytes, code.OpUReg, code.OpLocal, code.OpFrames:
		return true
	case code.OpBuiltin:
		switch code.Builtin(in.Imm) {
		case code.Caller, code.Execargs, code.Stackdepth, code.UCaller, code.UStackdepth:
			return true
		}
	case code.OpCall:
		switch code.Sub(in.Imm) {
		case code.SubBcopy, code.SubCopyin, code.SubCopyinstr, code.SubCopyinto, code.SubCopyout, code.SubCopyoutstr,
			code.SubInetNtoa, code.SubInetNtoa6, code.SubMemstr, code.SubInetNtop, code.SubProgenyof:
			return true
		}
	}
	return false
}

// asksThread says of one clause whether it asks for the current thread.
func asksThread(p *code.Program, c *code.Clause) bool {
	for in := range instrs(c) {
		switch in.Op {
		case code.OpLoadSelf, code.OpStoreSelf:
			return true
		case code.OpKey, code.OpLoadArr, code.OpStoreArr:
			if p.Vars[in.Imm].Scope == code.Self {
				return true
			}
		case code.OpPartS, code.OpPartU, code.OpPartStr, code.OpPartBytes, code.OpPut, code.OpPutStr, code.OpPutBytes, code.OpPlace:
			if v, _ := in.Part(); p.Vars[v].Scope == code.Self {
				return true
			}
		case code.OpBuiltin:
			if ofThread(code.Builtin(in.Imm)) {
				return true
			}
		}
	}
	return false
}

// ofThread says that a built-in variable is of the current thread.
func ofThread(b code.Builtin) bool {
	switch b {
	case code.PID, code.TID, code.PPID, code.UID, code.GID, code.Errno, code.Curthread, code.Execname, code.VTimestamp:
		return true
	}
	return false
}
