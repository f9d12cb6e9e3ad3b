package vm

import (
	"testing"

	"trapline/probes/d/agg"
	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
)

// speeds are the clauses that must be fast, by what is in them.
func speeds() map[string]*code.Program {
	countBy := func(keys ...*code.Func) *code.Program {
		p := program(clauseOf(count(keys...)))
		p.Aggs = []code.Agg{{Fn: agg.Count}}
		for _, k := range keys {
			p.Aggs[0].Keys = append(p.Aggs[0].Keys, k.Type)
		}
		return p
	}
	pred := countBy()
	pred.Clauses[0].Pred = fn(tInt, builtin(code.PID), push(1), op(code.OpEq))
	argPred := countBy()
	argPred.Clauses[0].Pred = fn(tInt, code.Instr{Op: code.OpArg}, push(1), op(code.OpGtS))
	self := program(clauseOf(
		eval(fn(tI64, builtin(code.Timestamp), imm(code.OpStoreSelf, 0))),
		eval(fn(tI64, push(0), imm(code.OpStoreSelf, 0)))))
	self.Vars = []code.Var{{Name: "ts", Scope: code.Self, Type: tI64}}
	array := program(clauseOf(
		eval(fn(tI64, builtin(code.Execname), builtin(code.PID), imm(code.OpKey, 0), push(5), imm(code.OpStoreArr, 0)))))
	array.Vars = []code.Var{{Name: "a", Type: tI64, Keys: []code.Type{tStr, tInt}}}
	quantize := program(clauseOf(code.Action{Act: code.Aggregate, Aggs: []int{0}, Args: []*code.Func{fn(tI64, code.Instr{Op: code.OpArg})}}))
	quantize.Aggs = []code.Agg{{Fn: agg.Quantize, Type: tI64}}
	printf := program(clauseOf(code.Action{Act: code.Printf, Format: "%s %d\n", Args: []*code.Func{
		fn(tStr, builtin(code.Execname)), fn(tInt, builtin(code.PID))}}))
	return map[string]*code.Program{
		"count":           countBy(),
		"count_func":      countBy(fn(tStr, builtin(code.Probefunc))),
		"count_execname":  countBy(fn(tStr, builtin(code.Execname))),
		"count_pid_func":  countBy(fn(tInt, builtin(code.PID)), fn(tStr, builtin(code.Probefunc))),
		"pred_pid":        pred,
		"pred_arg":        argPred,
		"self_store_free": self,
		"array_store":     array,
		"quantize":        quantize,
		"printf":          printf,
	}
}

func BenchmarkFire(b *testing.B) {
	for name, p := range speeds() {
		b.Run(name, func(b *testing.B) {
			m, es := machine(b, p)
			var env Env = newGuest()
			m.bufs[0].OnFull = func(b *buffer.Buffer) { b.Reset() }
			b.ReportAllocs()
			for b.Loop() {
				m.Fire(env, es)
			}
		})
	}
}

func TestFireAllocates(t *testing.T) {
	for name, p := range speeds() {
		m, es := machine(t, p)
		var env Env = newGuest()
		m.bufs[0].OnFull = func(b *buffer.Buffer) { b.Reset() }
		m.Fire(env, es)
		if n := testing.AllocsPerRun(1000, func() { m.Fire(env, es) }); n != 0 {
			t.Errorf("%s: %v allocations in a firing", name, n)
		}
	}
}
