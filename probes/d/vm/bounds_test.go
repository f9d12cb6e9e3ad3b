package vm

import (
	"testing"

	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
)

// Every subroutine, with any arguments, ends in a value or a fault, and keeps to the
// scratch space; so do strings of any content.
func FuzzSubs(f *testing.F) {
	for i := range code.Subs() {
		f.Add(byte(i), `{"a": [1, {"b": "c\n"}]}`, "a[1].b", uint64(0x1000), uint64(3), uint64(scratchBase))
		f.Add(byte(i), "/a/../b//./c", "/", uint64(scratchBase), uint64(1)<<63, ^uint64(0))
		f.Add(byte(i), "", "", uint64(0), ^uint64(0), uint64(36))
	}
	f.Fuzz(func(t *testing.T, n byte, s1, s2 string, a, b, c uint64) {
		sub := code.Subs()[int(n)%len(code.Subs())]
		p := &code.Program{Strings: []string{upTo(s1), upTo(s2)}}
		ins := []code.Instr{push(64), call(code.SubAlloca, 1), op(code.OpPop)}
		kinds, _ := sub.Signature()
		strings, numbers := 0, []uint64{a, b, c}
		for i, k := range kinds {
			if k == code.String {
				ins = append(ins, imm(code.OpStr, uint64(strings%2)))
				strings++
			} else {
				ins = append(ins, imm(code.OpPush, numbers[i%3]))
			}
		}
		ins = append(ins, call(sub, len(kinds)))
		fn := fn(tI64, ins...)
		switch _, kind := sub.Signature(); kind {
		case code.String:
			fn.Type = tStr
		case code.Void:
			fn.Code = append(fn.Code, push(0))
		}
		p.Clauses = []*code.Clause{clauseOf(trace(fn))}
		m, es := machine(t, p)
		g := newGuest()
		g.write(0x1000, "memory of the guest")
		for range 2 {
			m.Fire(g, es)
		}
		if f := m.frames[0]; len(f.mem) > f.limit {
			t.Errorf("%s: %d of %d bytes of scratch", sub, len(f.mem), f.limit)
		}
		if got := string(m.lits); got != p.Strings[0]+p.Strings[1] || string(m.frames[0].mem[:len(m.lits)]) != got {
			t.Errorf("%s: the constants have changed: %q", sub, m.frames[0].mem[:len(m.lits)])
		}
	})
}

// upTo is s up to a NUL, as strings of a program are.
func upTo(s string) string { return string(upToNUL([]byte(s), len(s))) }

// The kinds of clauses that scripts have most allocate nothing at a firing.
func TestAllocs(t *testing.T) {
	key := fn(tStr, builtin(code.Execname))
	number := fn(tI64, imm(code.OpArg, 0), push(1), op(code.OpAdd))
	p := program(
		&code.Clause{Pred: fn(tInt, builtin(code.PID)), Actions: []code.Action{count(key)}},
		clauseOf(code.Action{Act: code.Printf, Format: "%d %s", Args: []*code.Func{number, key}}),
		clauseOf(eval(fn(code.Type{}, imm(code.OpArg, 0), imm(code.OpStoreGlobal, 0), op(code.OpPop)))),
		clauseOf(code.Action{Act: code.Speculate, Args: []*code.Func{fn(tInt, call(code.SubSpeculation, 0))}}, trace(number)),
		clauseOf(code.Action{Act: code.Discard, Args: []*code.Func{fn(tInt, push(1))}}),
		clauseOf(trace(fn(tI64, push(8), call(code.SubAlloca, 1)))),
	)
	p.Vars = []code.Var{{Name: "x", Type: tI64}}
	p.Aggs = []code.Agg{{Keys: []code.Type{tStr}}}
	m, es := machine(t, p)
	m.bufs[0].OnFull = resetBuffer
	g := newGuest()
	if n := testing.AllocsPerRun(1000, func() { m.Fire(g, es) }); n != 0 {
		t.Errorf("%v allocations at a firing", n)
	}
}

func resetBuffer(b *buffer.Buffer) { b.Reset() }

func TestConfigTooLarge(t *testing.T) {
	cfg := option.DefaultLimits()
	cfg.NSpec, cfg.SpecSize = 1<<16, 1<<20
	if _, err := New(program(), cfg); err == nil {
		t.Error("64 GB of speculations")
	}
}

func TestCommitInRecord(t *testing.T) {
	c := clauseOf(trace(fn(tInt, push(1))), code.Action{Act: code.Commit, Args: []*code.Func{fn(tInt, push(1))}})
	if _, err := New(program(c), option.DefaultLimits()); err == nil {
		t.Error("a clause that records and commits")
	}
}
