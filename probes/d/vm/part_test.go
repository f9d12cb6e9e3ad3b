package vm

import (
	"fmt"
	"testing"

	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
)

// partVars are variables of every kind that parts are of: 24 bytes each.
func partVars() []code.Var {
	bytes := code.Type{Kind: code.Bytes, Size: 24, Name: "struct s"}
	return []code.Var{
		{Name: "g", Type: bytes}, {Name: "t", Scope: code.This, Type: bytes}, {Name: "s", Scope: code.Self, Type: bytes},
		{Name: "a", Type: bytes, Keys: []code.Type{tI64}}, {Name: "sa", Scope: code.Self, Type: bytes, Keys: []code.Type{tI64}},
	}
}

func part(op code.Op, v uint64, size, n int) code.Instr {
	return code.Instr{Op: op, N: uint16(n), Imm: code.PartImm(v, size)}
}

// at is the code that leaves where a part of variable v lies.
func at(v uint64, off int64) []code.Instr {
	if len(partVars()[v].Keys) > 0 {
		return []code.Instr{push(9), imm(code.OpKey, v), push(off)}
	}
	return []code.Instr{push(off)}
}

func TestParts(t *testing.T) {
	for v := range uint64(5) {
		join := func(lists ...[]code.Instr) (all []code.Instr) {
			for _, l := range lists {
				all = append(all, l...)
			}
			return all
		}
		put := func(off, x int64, size, n int) []code.Instr {
			return join(at(v, off), []code.Instr{push(x), part(code.OpPut, v, size, n), op(code.OpPop)})
		}
		get := func(op code.Op, off int64, size, n int) []code.Instr {
			return join(at(v, off), []code.Instr{part(op, v, size, n)})
		}
		for i, test := range []struct {
			code []code.Instr
			typ  code.Type
			want string
		}{
			{get(code.OpPartS, 16, 8, 0), tI64, "0"},
			{join(put(4, -2, 2, 0), get(code.OpPartS, 4, 2, 0)), tI64, "-2"},
			{join(put(4, -2, 2, 0), get(code.OpPartU, 4, 2, 0)), tI64, "65534"},
			{join(put(4, -2, 2, 0), get(code.OpPartU, 2, 4, 0)), tI64, fmt.Sprint(0xfffe0000)},
			{join(put(0, -1, 4, 0), put(0, 5, 4, code.BitsN(3, 7)), get(code.OpPartU, 0, 4, 0)), tI64, fmt.Sprint(0xfffffc2f)},
			{join(put(0, 0x48, 4, code.BitsN(3, 7)), get(code.OpPartS, 0, 4, code.BitsN(3, 7))), tI64, "-56"},
			{join(put(8, -1, 8, code.BitsN(0, 64)), get(code.OpPartS, 8, 8, code.BitsN(0, 64))), tI64, "-1"},
			{join(at(v, 3), []code.Instr{imm(code.OpStr, 0), part(code.OpPutStr, v, 6, 0), op(code.OpPop)}, get(code.OpPartStr, 3, 6, 0)), tStr, "hello"},
			{join(at(v, 3), []code.Instr{imm(code.OpStr, 0), part(code.OpPutStr, v, 4, 0), op(code.OpPop)}, get(code.OpPartStr, 3, 6, 0)), tStr, "hel"},
			{join(put(0, 0x4241, 8, 0), at(v, 8), get(code.OpPartBytes, 0, 16, 0), []code.Instr{part(code.OpPutBytes, v, 16, 0), op(code.OpPop)},
				get(code.OpPartStr, 8, 16, 0)), tStr, "AB"},
			{[]code.Instr{push(3), imm(code.OpBound, 4)}, tI64, "3"},
		} {
			p := program()
			p.Vars, p.Strings = partVars(), []string{"hello, world"}
			got, fault := value(t, newGuest(), p, fn(test.typ, test.code...))
			if got != test.want || fault.Kind != 0 {
				t.Errorf("variable %d, %d: %q, %v; want %s", v, i, got, fault, test.want)
			}
		}
		for i, bad := range [][]code.Instr{
			get(code.OpPartU, 17, 8, 0), get(code.OpPartU, -1, 1, 0), get(code.OpPartU, 24, 1, 0), get(code.OpPartU, 1<<62, 8, 0),
			join(at(v, 21), []code.Instr{push(1), part(code.OpPut, v, 4, 0)}),
		} {
			p := program()
			p.Vars = partVars()
			if _, fault := value(t, newGuest(), p, fn(tI64, bad...)); fault.Kind != IllegalOp {
				t.Errorf("variable %d, bad %d: %v", v, i, fault)
			}
		}
	}
}

// TestPartsAllocate: a firing that reads and writes parts allocates nothing.
func TestPartsAllocate(t *testing.T) {
	for v := range uint64(5) {
		store, load := append(at(v, 4), push(7), part(code.OpPut, v, 4, 0)), code.OpPartU
		p := program(clauseOf(eval(fn(tI64, store...)), trace(fn(tI64, append(at(v, 4), part(load, v, 4, 0))...))))
		p.Vars = partVars()
		m, es := machine(t, p)
		var env Env = newGuest()
		m.bufs[0].OnFull = func(b *buffer.Buffer) { b.Reset() }
		m.Fire(env, es)
		if n := testing.AllocsPerRun(1000, func() { m.Fire(env, es) }); n != 0 {
			t.Errorf("variable %d: %v allocations in a firing", v, n)
		}
	}
}

func TestBadParts(t *testing.T) {
	for _, in := range []code.Instr{
		part(code.OpPartU, 0, 3, 0), part(code.OpPartU, 0, 0, 0), part(code.OpPartU, 9, 4, 0), part(code.OpPartU, 5, 4, 0),
		part(code.OpPartU, 0, 8, code.BitsN(60, 8)), part(code.OpPartBytes, 0, 25, 0), part(code.OpPartStr, 0, 8, 1),
	} {
		p := program(clauseOf(eval(fn(tI64, push(0), in))))
		p.Vars = append(partVars(), code.Var{Name: "i", Type: tI64})
		if _, err := New(p, option.DefaultLimits()); err == nil {
			t.Errorf("%v is accepted", in)
		}
	}
}
