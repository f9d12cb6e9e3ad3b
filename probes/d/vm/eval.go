package vm

import "trapline/probes/d/code"

// Eval computes an expression of the program, apart from any clause, where env says. An integer is v
// itself, a string is what Text returns for it. At a fault it is not ok.
func (m *Machine) Eval(env Env, fn *code.Func) (v uint64, f Fault, ok bool) {
	fr := m.frames[0]
	fr.begin(env)
	fr.mem = fr.mem[:len(m.lits)]
	v, ok = fr.run(fn)
	return v, fr.fault, ok
}

// Text is a string that Eval has returned. It is valid until the next Eval.
func (m *Machine) Text(v uint64) []byte { return m.frames[0].bytes(v) }
