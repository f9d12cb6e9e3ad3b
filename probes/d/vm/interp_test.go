package vm

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strings"
	"testing"

	"trapline/probes/d/code"
)

// The interpreter's switch has a case for every operation: the source says so.
func TestRunCoversEveryOp(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "interp.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if c, ok := n.(*ast.CaseClause); ok {
			for _, e := range c.List {
				if s, ok := e.(*ast.SelectorExpr); ok {
					cases[strings.ToLower(strings.TrimPrefix(s.Sel.Name, "Op"))] = true
				}
			}
		}
		return true
	})
	for op := code.Op(0); !strings.HasPrefix(op.String(), "op("); op++ {
		if !cases[op.String()] {
			t.Errorf("no case for %s", op)
		}
	}
}

// value runs one function of a program with these strings and variables.
func value(t *testing.T, g *guest, p *code.Program, f *code.Func) (string, Fault) {
	t.Helper()
	p.Clauses = []*code.Clause{clauseOf(trace(f))}
	m, es := machine(t, p)
	var fault Fault
	m.OnFault = func(_ Env, f Fault) { fault = f }
	m.Fire(g, es)
	for _, r := range records(t, m) {
		return r[0], fault
	}
	return "", fault
}

func TestOps(t *testing.T) {
	tests := []struct {
		name string
		code []code.Instr
		want int64
	}{
		{"push", []code.Instr{push(-5)}, -5},
		{"nop", []code.Instr{op(code.OpNop), push(1)}, 1},
		{"dup", []code.Instr{push(3), op(code.OpDup), op(code.OpMul)}, 9},
		{"pop", []code.Instr{push(3), push(4), op(code.OpPop)}, 3},
		{"add wraps", []code.Instr{push(math.MaxInt64), push(1), op(code.OpAdd)}, math.MinInt64},
		{"sub", []code.Instr{push(3), push(5), op(code.OpSub)}, -2},
		{"mul", []code.Instr{push(-3), push(5), op(code.OpMul)}, -15},
		{"divs", []code.Instr{push(-7), push(2), op(code.OpDivS)}, -3},
		{"divs smallest", []code.Instr{push(math.MinInt64), push(-1), op(code.OpDivS)}, math.MinInt64},
		{"divu", []code.Instr{push(-1), push(2), op(code.OpDivU)}, math.MaxInt64},
		{"mods", []code.Instr{push(-7), push(2), op(code.OpModS)}, -1},
		{"mods smallest", []code.Instr{push(math.MinInt64), push(-1), op(code.OpModS)}, 0},
		{"modu", []code.Instr{push(-1), push(10), op(code.OpModU)}, 5},
		{"and", []code.Instr{push(12), push(10), op(code.OpAnd)}, 8},
		{"or", []code.Instr{push(12), push(10), op(code.OpOr)}, 14},
		{"xor", []code.Instr{push(12), push(10), op(code.OpXor)}, 6},
		{"shl", []code.Instr{push(1), push(65), op(code.OpShl)}, 2},
		{"shrs", []code.Instr{push(-8), push(1), op(code.OpShrS)}, -4},
		{"shru", []code.Instr{push(-8), push(1), op(code.OpShrU)}, math.MaxInt64 - 3},
		{"neg", []code.Instr{push(5), op(code.OpNeg)}, -5},
		{"not", []code.Instr{push(5), op(code.OpNot)}, -6},
		{"lnot", []code.Instr{push(5), op(code.OpLNot), op(code.OpLNot)}, 1},
		{"sext 1", []code.Instr{push(0x1ff), narrowOp(code.OpSext, 1)}, -1},
		{"sext 4", []code.Instr{push(0x80000000), narrowOp(code.OpSext, 4)}, math.MinInt32},
		{"zext 2", []code.Instr{push(-1), narrowOp(code.OpZext, 2)}, 0xffff},
		{"eq", []code.Instr{push(2), push(2), op(code.OpEq)}, 1},
		{"ne", []code.Instr{push(2), push(2), op(code.OpNe)}, 0},
		{"lts", []code.Instr{push(-1), push(2), op(code.OpLtS)}, 1},
		{"les", []code.Instr{push(2), push(2), op(code.OpLeS)}, 1},
		{"gts", []code.Instr{push(-1), push(2), op(code.OpGtS)}, 0},
		{"ges", []code.Instr{push(2), push(2), op(code.OpGeS)}, 1},
		{"ltu", []code.Instr{push(-1), push(2), op(code.OpLtU)}, 0},
		{"leu", []code.Instr{push(2), push(2), op(code.OpLeU)}, 1},
		{"gtu", []code.Instr{push(-1), push(2), op(code.OpGtU)}, 1},
		{"geu", []code.Instr{push(1), push(2), op(code.OpGeU)}, 0},
		{"scmp less", []code.Instr{imm(code.OpStr, 0), imm(code.OpStr, 1), op(code.OpScmp)}, -1},
		{"scmp equal", []code.Instr{imm(code.OpStr, 0), imm(code.OpStr, 0), op(code.OpScmp)}, 0},
		{"scmp unsigned", []code.Instr{imm(code.OpStr, 2), imm(code.OpStr, 1), op(code.OpScmp)}, 1},
		{"jmp", []code.Instr{push(1), push(1), imm(code.OpJnz, 4), op(code.OpNeg), op(code.OpNop)}, 1},
		{"jz", []code.Instr{push(1), push(0), imm(code.OpJz, 4), op(code.OpNeg)}, 1},
		{"jz not", []code.Instr{push(1), push(2), imm(code.OpJz, 4), op(code.OpNeg)}, -1},
		{"conditional", []code.Instr{push(0), imm(code.OpJz, 4), push(10), imm(code.OpJmp, 5), push(20)}, 20},
		{"loads", []code.Instr{push(0x1000), narrowOp(code.OpLoadS, 2)}, -2},
		{"loadu", []code.Instr{push(0x1000), narrowOp(code.OpLoadU, 4)}, 0x0201fffe},
		{"loadu 8", []code.Instr{push(0x1000), narrowOp(code.OpLoadU, 8)}, 0x0605040302_01fffe & math.MaxInt64},
		{"arg", []code.Instr{{Op: code.OpArg, N: 3}}, 33},
		{"reg", []code.Instr{imm(code.OpReg, 16)}, 1616},
		{"local in memory", []code.Instr{imm(code.OpLocal, 3), narrowOp(code.OpLoadU, 2)}, 0xfffe},
		{"local in registers", []code.Instr{imm(code.OpLocal, 4), narrowOp(code.OpLoadU, 4)}, 0x04030201},
		{"unset global", []code.Instr{imm(code.OpLoadGlobal, 0)}, 0},
		{"global keeps 64 bits", []code.Instr{push(0x1ff), imm(code.OpStoreGlobal, 0)}, 511},
		{"global", []code.Instr{push(5), imm(code.OpStoreGlobal, 0), op(code.OpPop), imm(code.OpLoadGlobal, 0)}, 5},
		{"this", []code.Instr{push(5), imm(code.OpStoreThis, 1), op(code.OpPop), imm(code.OpLoadThis, 1)}, 5},
		{"self", []code.Instr{push(5), imm(code.OpStoreSelf, 2), op(code.OpPop), imm(code.OpLoadSelf, 2)}, 5},
		{"array", []code.Instr{
			push(7), imm(code.OpStr, 0), imm(code.OpKey, 3), push(70), imm(code.OpStoreArr, 3), op(code.OpPop),
			push(7), imm(code.OpStr, 1), imm(code.OpKey, 3), push(71), imm(code.OpStoreArr, 3), op(code.OpPop),
			push(7), imm(code.OpStr, 0), imm(code.OpKey, 3), imm(code.OpLoadArr, 3),
		}, 70},
		{"array of another key", []code.Instr{push(8), imm(code.OpStr, 0), imm(code.OpKey, 3), imm(code.OpLoadArr, 3)}, 0},
		{"strlen", []code.Instr{imm(code.OpStr, 0), call(code.SubStrlen, 1)}, 5},
		{"loadstr", []code.Instr{push(0x1100), imm(code.OpLoadStr, 256), call(code.SubStrlen, 1)}, 300 - 45},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := newGuest()
			g.args[3], g.regs[16] = 33, 1616
			g.write(0x1000, "\xfe\xff\x01\x02\x03\x04\x05\x06")
			g.write(0x1100, strings.Repeat("x", 300))
			p := &code.Program{Strings: []string{"apple", "pear", "\xff", "placed", "held"}, Vars: []code.Var{
				{Name: "g", Type: tI8},
				{Name: "t", Scope: code.This, Type: tI64},
				{Name: "s", Scope: code.Self, Type: tI64},
				{Name: "a", Type: tI64, Keys: []code.Type{tInt, tStr}},
			}}
			got, fault := value(t, g, p, fn(tI64, test.code...))
			if fault.Kind != 0 {
				t.Fatalf("fault %+v", fault)
			}
			if want := intText(test.want); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	divide := func(o code.Op) []code.Instr { return []code.Instr{push(1), push(0), op(o)} }
	// dup a 256 byte string load until the scratch space is gone
	var scratch []code.Instr
	for range 400 {
		scratch = append(scratch, push(0x1000), imm(code.OpLoadBytes, 256), op(code.OpPop))
	}
	tests := []struct {
		name string
		typ  code.Type
		code []code.Instr
		want string
		off  int
	}{
		{"divs", tI64, divide(code.OpDivS), "divide-by-zero", 2},
		{"divu", tI64, divide(code.OpDivU), "divide-by-zero", 2},
		{"mods", tI64, divide(code.OpModS), "divide-by-zero", 2},
		{"modu", tI64, divide(code.OpModU), "divide-by-zero", 2},
		{"load", tI64, []code.Instr{push(0x20), narrowOp(code.OpLoadU, 8)}, "invalid address (0x20)", 1},
		{"load over the end of a page", tI64, []code.Instr{push(0x1ffc), narrowOp(code.OpLoadS, 8)}, "invalid address (0x2000)", 1},
		{"string over the end of a page", tStr, []code.Instr{push(0x1fc0), imm(code.OpLoadStr, 256)}, "invalid address (0x2000)", 1},
		{"bytes", tI64, []code.Instr{push(0x9000), imm(code.OpLoadBytes, 16), op(code.OpPop), push(0)}, "invalid address (0x9000)", 1},
		{"copyinstr", tStr, []code.Instr{push(-1), call(code.SubCopyinstr, 1)}, "invalid address (0xffffffffffffffff)", 1},
		{"lltostr", tStr, []code.Instr{push(1), push(1), call(code.SubLltostr, 2)}, "illegal operation", 2},
		{"local", tI64, []code.Instr{imm(code.OpLocal, 0)}, "no value: lost: optimized out", 0},
		{"thread", tI64, []code.Instr{builtin(code.PID)}, "invalid address (0x10)", 0},
		{"self", tI64, []code.Instr{imm(code.OpLoadSelf, 0)}, "invalid address (0x10)", 0},
		{"scratch", tI64, append(scratch, push(0)), "out of scratch space", 256*3 + 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := newGuest()
			g.thread = nil
			g.write(0x1000, strings.Repeat("x", 4096))
			p := &code.Program{Vars: []code.Var{{Name: "s", Scope: code.Self, Type: tI64}}, Strings: []string{"lost"}}
			_, fault := value(t, g, p, fn(test.typ, test.code...))
			if fault.Text() != test.want || fault.Offset != test.off || fault.Action != 1 || fault.EPID != 1 {
				t.Errorf("got %q %+v, want %q at %d", fault.Text(), fault, test.want, test.off)
			}
		})
	}
}

// A string that ends in the last bytes of a mapped page is read without touching the next.
func TestLoadStringAtEndOfPage(t *testing.T) {
	g := newGuest()
	g.write(0x1ffa, "hello\x00")
	got, fault := value(t, g, &code.Program{}, fn(tStr, push(0x1ffa), imm(code.OpLoadStr, 256)))
	if got != "hello" || fault.Kind != 0 {
		t.Errorf("got %q, %+v", got, fault)
	}
}

func TestBuiltins(t *testing.T) {
	want := map[code.Builtin]string{
		code.Execargs: "cat /etc/passwd", code.JID: "0", code.UCaller: "4202496", code.UStackdepth: "2",
		code.Caller: intText(-0x7effffe0), code.CPU: "0", code.Curthread: intText(-0x777ffc600000), code.EPID: "1",
		code.Errno: "-2", code.Execname: "busybox", code.GID: "100", code.ID: "7", code.IPL: "0", code.PID: "42",
		code.PPID: "1", code.Probefunc: "vfs_read", code.Probemod: "vmlinux", code.Probename: "3", code.Probeprov: "kinst",
		code.Stackdepth: "2", code.TID: "43", code.Timestamp: "1500", code.UID: "1000", code.VTimestamp: "750",
		code.WallTimestamp: "1735689600000001500",
	}
	for _, b := range code.Builtins() {
		typ := b.Type()
		typ.Signed = true
		got, fault := value(t, newGuest(), &code.Program{}, fn(typ, builtin(b)))
		if got != want[b] || fault.Kind != 0 {
			t.Errorf("%s: got %q, want %q, fault %v", b, got, want[b], fault)
		}
	}
}
