package vm

import (
	"testing"

	"trapline/probes/d/code"
	"trapline/probes/d/option"
	"trapline/probes/d/syntax/chunktest"
)

// Whatever verifies runs to its end or to a fault: it does not panic, and scratch space
// and variables stay within their bounds.
func FuzzRun(f *testing.F) {
	f.Add([]byte{byte(code.OpPush), 0, 16, byte(code.OpLoadStr), 0, 9, byte(code.OpStoreGlobal), 0, 1}, byte(1))
	f.Add([]byte{byte(code.OpStr), 0, 0, byte(code.OpPush), 0, 3, byte(code.OpCall), 2, byte(code.SubSubstr)}, byte(1))
	f.Add([]byte{byte(code.OpPush), 0, 3, byte(code.OpStr), 0, 1, byte(code.OpKey), 0, 3, byte(code.OpLoadArr), 0, 3}, byte(0))
	f.Add([]byte{byte(code.OpPush), 1, 0, byte(code.OpPush), 3, 0, byte(code.OpPut), 8, 4}, byte(0))
	f.Add([]byte{byte(code.OpPush), 1, 0, byte(code.OpStr), 0, 1, byte(code.OpKey), 0, 3, byte(code.OpPush), 0, 0, byte(code.OpPartStr), 8, 3}, byte(1))
	for _, s := range chunktest.Corpus(f, "testdata/FuzzRun.corpus") {
		f.Add([]byte(s[:len(s)-1]), s[len(s)-1])
	}
	f.Fuzz(func(t *testing.T, b []byte, kind byte) {
		types := []code.Type{tInt, tStr8, {Kind: code.Bytes, Size: 24}, {}}
		fn := &code.Func{Type: types[kind%4]}
		for ; len(b) >= 3; b = b[3:] {
			in := code.Instr{Op: code.Op(b[0]), N: uint16(b[1]), Imm: uint64(b[2])}
			if in.Op == code.OpPush {
				in.Imm = uint64(int64(int8(b[1]))) << 8 << (b[2] & 63) // also large and negative
			}
			if in.Op >= code.OpPartS && in.Op <= code.OpPlace {
				in.N, in.Imm = 0, code.PartImm(uint64(b[2]&7), int(b[1]&31))
				if bits := int(b[2] >> 3); bits > 0 && b[1]&32 != 0 {
					in.N = uint16(code.BitsN(int(b[1]>>6), bits))
				}
			}
			fn.Code = append(fn.Code, in)
		}
		p := &code.Program{
			Strings: []string{"", "a/string", "/"},
			Vars: []code.Var{
				{Name: "i", Type: tI8}, {Name: "s", Type: tStr8},
				{Name: "self", Scope: code.Self, Type: tStr}, {Name: "a", Scope: code.Self, Type: types[2], Keys: []code.Type{tInt, tStr}},
				{Name: "this", Scope: code.This, Type: types[2]}, {Name: "b", Type: tI64, Keys: []code.Type{tI64}},
			},
			Clauses: []*code.Clause{clauseOf(eval(fn))},
		}
		if kind%4 != 3 {
			p.Clauses = append(p.Clauses, clauseOf(trace(fn)))
		}
		cfg := option.DefaultLimits()
		cfg.BufSize, cfg.DynVarSize = 1024, 1024
		m, err := New(p, cfg)
		if err != nil {
			return
		}
		g := newGuest()
		g.write(0x1000, "memory of the guest")
		for range 3 {
			for i := range m.clauses {
				m.Fire(g, []Enabling{{1, i}})
			}
		}
		if f := m.frames[0]; len(f.mem) > f.limit || m.dyn.used > m.dyn.limit {
			t.Errorf("%d of %d bytes of scratch, %d of %d of variables", len(f.mem), f.limit, m.dyn.used, m.dyn.limit)
		}
	})
}
