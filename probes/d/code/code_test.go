package code

import (
	"strings"
	"testing"
)

func TestOpTable(t *testing.T) {
	seen := map[string]Op{}
	for op := range opMax {
		o := ops[op]
		if o.name == "" {
			t.Errorf("op %d has no name", op)
		}
		if old, ok := seen[o.name]; ok {
			t.Errorf("ops %d and %d are both %s", old, op, o.name)
		}
		seen[o.name] = op
		for _, c := range o.in + o.out {
			if !strings.ContainsRune("isbfkvw*", c) {
				t.Errorf("%s: strange letter %q", o.name, c)
			}
		}
		star := strings.Contains(o.in+o.out, "*")
		var wants bool
		switch o.arg {
		case argVar, argArray, argBuiltin, argCall:
			wants = true
		}
		if star != wants {
			t.Errorf("%s: a * in the effect goes with an operand that decides it", o.name)
		}
	}
	if got := opMax.String(); !strings.HasPrefix(got, "op(") {
		t.Errorf("opMax is %s", got)
	}
}

func TestTablesComplete(t *testing.T) {
	for _, b := range Builtins() {
		if b.String() == "" || b.Type().Kind == Void || b.Type().Name == "" {
			t.Errorf("builtin %d: incomplete", b)
		}
	}
	for _, s := range Subs() {
		least, most := s.Args()
		args, result := s.Signature()
		if s.String() == "" || least > most || len(args) != most || (result == Void) == s.Leaves() {
			t.Errorf("subroutine %d (%s): incomplete", s, s)
		}
	}
}

// testProgram has one of each table entry that instructions refer to.
var testProgram = Program{
	Strings: []string{"hi"},
	Vars: []Var{
		{Name: "x", Type: intType},
		{Name: "a", Type: strType, Keys: []Type{intType, strType}},
		{Name: "t", Scope: This, Type: strType},
	},
}

func TestVerify(t *testing.T) {
	str := Type{Kind: String, Size: 8}
	tests := []struct {
		name string
		typ  Type
		code []Instr
		max  int
		err  string // part of it
	}{
		{"empty", Type{}, nil, 0, ""},
		{"constant", intType, []Instr{{Op: OpPush, Imm: 1}}, 1, ""},
		{"nothing for int", intType, nil, 0, `the stack is ""`},
		{"string for int", intType, []Instr{{Op: OpStr}}, 0, `the stack is "s"`},
		{"left over", Type{}, []Instr{{Op: OpPush}}, 0, `the stack is "i"`},
		{"underflow", intType, []Instr{{Op: OpPush}, {Op: OpAdd}}, 0, `1: add: takes "ii" from the stack "i"`},
		{"kinds", intType, []Instr{{Op: OpStr}, {Op: OpPush}, {Op: OpAdd}}, 0, `takes "ii"`},
		{"dup", intType, []Instr{{Op: OpPush}, {Op: OpDup}, {Op: OpMul}}, 2, ""},
		{"dup string", intType, []Instr{{Op: OpStr}, {Op: OpDup}, {Op: OpScmp}}, 2, ""},
		{"no such string", str, []Instr{{Op: OpStr, Imm: 1}}, 0, "bad operand"},
		{"load size", intType, []Instr{{Op: OpPush}, {Op: OpLoadS, N: 3}}, 0, "bad operand"},
		{"unknown op", Type{}, []Instr{{Op: opMax}}, 0, "no such operation"},
		{"array", str, []Instr{{Op: OpPush}, {Op: OpStr}, {Op: OpKey, Imm: 1}, {Op: OpLoadArr, Imm: 1}}, 2, ""},
		{"store array", str, []Instr{{Op: OpPush}, {Op: OpStr}, {Op: OpKey, Imm: 1}, {Op: OpStr}, {Op: OpStoreArr, Imm: 1}}, 2, ""},
		{"array as scalar", str, []Instr{{Op: OpLoadGlobal, Imm: 1}}, 0, "bad variable a"},
		{"scalar as array", str, []Instr{{Op: OpPush}, {Op: OpKey}}, 0, "bad variable x"},
		{"wrong scope", intType, []Instr{{Op: OpLoadSelf}}, 0, "bad variable x"},
		{"call", str, []Instr{{Op: OpStr}, {Op: OpPush}, {Op: OpCall, N: 2, Imm: uint64(SubSubstr)}}, 2, ""},
		{"call with too few", str, []Instr{{Op: OpStr}, {Op: OpCall, N: 1, Imm: uint64(SubSubstr)}}, 0, "bad operand"},
		{"and", intType, []Instr{
			{Op: OpPush}, {Op: OpJz, Imm: 4}, {Op: OpPush, Imm: 1}, {Op: OpJmp, Imm: 5}, {Op: OpPush},
		}, 1, ""},
		{"unequal depths", intType, []Instr{
			{Op: OpPush}, {Op: OpDup}, {Op: OpJz, Imm: 5}, {Op: OpPush, Imm: 1}, {Op: OpJmp, Imm: 6}, {Op: OpPop},
		}, 0, "the stack at 6 is"},
		{"unequal kinds", intType, []Instr{
			{Op: OpPush}, {Op: OpJz, Imm: 4}, {Op: OpPush, Imm: 1}, {Op: OpJmp, Imm: 5}, {Op: OpStr},
		}, 0, `is "i" or "s"`},
		{"backward", Type{}, []Instr{{Op: OpNop}, {Op: OpJmp, Imm: 0}}, 0, "bad operand"},
		{"to itself", Type{}, []Instr{{Op: OpJmp, Imm: 0}}, 0, "bad operand"},
		{"too far", Type{}, []Instr{{Op: OpJmp, Imm: 2}}, 0, "bad operand"},
		{"unreachable", Type{}, []Instr{{Op: OpJmp, Imm: 2}, {Op: OpNop}}, 0, "1: nop: cannot be reached"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := &Func{Code: test.code, Type: test.typ}
			err := testProgram.VerifyFunc(f)
			if test.err == "" {
				if err != nil || f.MaxStack != test.max {
					t.Errorf("max %d, error %v; want max %d", f.MaxStack, err, test.max)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want %s", err, test.err)
			}
		})
	}
}

func TestVerifyReachesEveryFunc(t *testing.T) {
	bad := &Func{Code: []Instr{{Op: OpAdd}}}
	good := &Func{Code: []Instr{{Op: OpPush}}, Type: intType}
	for name, c := range map[string]*Clause{
		"predicate": {Pred: bad},
		"action":    {Actions: []Action{{Args: []*Func{good, bad}}}},
		"increment": {Actions: []Action{{Args: []*Func{good}, Incr: bad}}},
		"agg":       {Actions: []Action{{Act: Printa, Aggs: []int{0}}}},
	} {
		if err := (&Program{Clauses: []*Clause{c}}).Verify(); err == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
}

func TestDisasm(t *testing.T) {
	f := &Func{Type: strType, Code: []Instr{
		{Op: OpPush, Imm: ^uint64(0)}, {Op: OpStr}, {Op: OpKey, Imm: 1}, {Op: OpLoadArr, Imm: 1},
		{Op: OpPush, Imm: 1 << 40}, {Op: OpCall, N: 2, Imm: uint64(SubStrchr)},
	}}
	const want = `   0  push -1                      i
   1  str "hi"                     is
   2  key a                        k
   3  loadarr a                    s
   4  push 0x10000000000           si
   5  call strchr/2                s
`
	if got := testProgram.Disasm(f); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	f.Code = append(f.Code, Instr{Op: OpLoadThis, Imm: 99}, Instr{Op: 200}, Instr{Op: OpBuiltin, Imm: 99}, Instr{Op: OpCall, Imm: 99})
	if got := testProgram.Disasm(f); !strings.Contains(got, "loadthis ?99") || !strings.Contains(got, "op(200)") {
		t.Errorf("bad operands: got\n%s", got)
	}
}
