package vm

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"trapline/probes/d/agg"
	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
)

func intText(v int64) string { return strconv.FormatInt(v, 10) }

// records takes the records out of the first buffer: their values in words.
func records(t testing.TB, m *Machine) (out [][]string) {
	t.Helper()
	layouts := m.Layouts()
	layout := func(epid uint32) *buffer.Layout { return layouts[epid-1] }
	err := m.Buffers()[0].Records(layout, func(h buffer.Header, p []byte) error {
		var values []string
		l := layout(h.EPID)
		for i := range l.Fields {
			values = append(values, fieldText(&l.Fields[i], p))
		}
		out = append(out, values)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m.Buffers()[0].Reset()
	return out
}

func fieldText(f *buffer.Field, p []byte) string {
	switch f.Kind {
	case buffer.Int:
		return intText(int64(f.Int(p)))
	case buffer.String:
		return string(f.String(p))
	case buffer.Stack:
		return fmt.Sprintf("%x", f.Stack(p))
	}
	return fmt.Sprintf("%x", f.Bytes(p))
}

func text(rows [][]string) string {
	var s []string
	for _, r := range rows {
		s = append(s, strings.Join(r, ","))
	}
	return strings.Join(s, ";")
}

// A store of 1 more into a variable: x = x + 1.
func increment(load, store code.Op, i uint64) *code.Func {
	return fn(tI64, imm(load, i), push(1), op(code.OpAdd), imm(store, i))
}

func TestVariableLifetimes(t *testing.T) {
	p := program(
		clauseOf(
			trace(increment(code.OpLoadGlobal, code.OpStoreGlobal, 0)),
			trace(increment(code.OpLoadSelf, code.OpStoreSelf, 1)),
			trace(increment(code.OpLoadThis, code.OpStoreThis, 2))),
		clauseOf(trace(fn(tI64, imm(code.OpLoadThis, 2)))))
	p.Vars = []code.Var{{Name: "g", Type: tI64}, {Name: "s", Scope: code.Self, Type: tI64}, {Name: "t", Scope: code.This, Type: tI64}}
	m, es := machine(t, p)
	one, two := newGuest(), newGuest()
	two.thread.Key++
	m.Fire(one, es)
	m.Fire(two, es)
	m.Fire(one, es)
	if got, want := text(records(t, m)), "1,1,1;1;2,1,1;1;3,2,1;1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if one.asked != 2 {
		t.Errorf("the thread was asked for %d times in two firings", one.asked)
	}
}

func TestStringVariables(t *testing.T) {
	store := func(o code.Op, i uint64) code.Action {
		return eval(fn(tStr, imm(code.OpStr, 0), imm(o, i)))
	}
	load := func(o code.Op, i uint64) code.Action { return trace(fn(tStr, imm(o, i))) }
	p := program(clauseOf(
		store(code.OpStoreGlobal, 0), store(code.OpStoreSelf, 1), store(code.OpStoreThis, 2),
		load(code.OpLoadGlobal, 0), load(code.OpLoadSelf, 1), load(code.OpLoadThis, 2),
	), clauseOf(load(code.OpLoadGlobal, 0), load(code.OpLoadSelf, 1), load(code.OpLoadThis, 2)))
	p.Strings = []string{"a long string"}
	p.Vars = []code.Var{{Name: "g", Type: tStr8}, {Name: "s", Scope: code.Self, Type: tStr}, {Name: "t", Scope: code.This, Type: tStr}}
	m, es := machine(t, p)
	m.Fire(newGuest(), es)
	m.Fire(newGuest(), es[1:])
	all := "a long s,a long string,a long string"
	if got, want := text(records(t, m)), all+";"+all+";a long s,a long string,"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Assigning 0 or "" frees: the table is as empty as before, and its memory is used again.
func TestDynamicVariablesFree(t *testing.T) {
	set := func(v ...code.Instr) code.Action {
		key := []code.Instr{{Op: code.OpArg}, imm(code.OpKey, 0)}
		return eval(fn(tI64, append(append(key, v...), imm(code.OpStoreArr, 0))...))
	}
	p := program(clauseOf(set(push(1))), clauseOf(set(push(0))))
	p.Vars = []code.Var{{Name: "a", Type: tI64, Keys: []code.Type{tI64}}}
	m, es := machine(t, p)
	g := newGuest()
	for range 3 {
		for i := range 1000 {
			g.args[0] = uint64(i)
			m.Fire(g, es[:1])
		}
		if m.dyn.live != 1000 {
			t.Fatalf("%d variables live", m.dyn.live)
		}
		for i := range 1000 {
			g.args[0] = uint64(999 - i)
			m.Fire(g, es[1:])
		}
		if m.dyn.live != 0 || len(m.dyn.vars) != 1000 {
			t.Fatalf("%d variables live in %d places", m.dyn.live, len(m.dyn.vars))
		}
	}
}

func TestDynamicVariableDrops(t *testing.T) {
	p := program(clauseOf(eval(fn(tI64, code.Instr{Op: code.OpArg}, imm(code.OpKey, 0), push(1), imm(code.OpStoreArr, 0)))))
	p.Vars = []code.Var{{Name: "a", Type: tI64, Keys: []code.Type{tI64}}}
	cfg := option.DefaultLimits()
	cfg.DynVarSize = 10 * (dynCost + 24)
	m, err := New(p, cfg)
	if err != nil {
		t.Fatal(err)
	}
	g := newGuest()
	for i := range 12 {
		g.args[0] = uint64(i)
		m.Fire(g, []Enabling{{1, 0}})
	}
	if m.VarDrops() != 2 || m.dyn.live != 10 {
		t.Errorf("%d drops, %d live", m.VarDrops(), m.dyn.live)
	}
}

func TestPredicate(t *testing.T) {
	c := clauseOf()
	c.Pred = fn(tInt, builtin(code.PID), push(42), op(code.OpEq))
	m, es := machine(t, program(c))
	g := newGuest()
	m.Fire(g, es)
	g.thread = &Thread{PID: 1}
	m.Fire(g, es)
	if n := len(records(t, m)); n != 1 {
		t.Errorf("%d records", n)
	}
}

// A clause without actions records that it fired; one whose actions record nothing does not.
func TestWhichClausesRecord(t *testing.T) {
	p := program(clauseOf(), clauseOf(count()), clauseOf(eval(fn(tI64, push(1)))),
		clauseOf(code.Action{Act: code.Printf, Format: "hello"}), clauseOf(code.Action{Act: code.Printa, Aggs: []int{0}}))
	p.Aggs = []code.Agg{{Fn: agg.Count}}
	m, _ := machine(t, p)
	for i, want := range []bool{true, false, false, true, true} {
		if got := m.Layouts()[i].Size > 0; got != want {
			t.Errorf("clause %d records: %v", i, got)
		}
	}
}

// A fault forgets the record, keeps what was aggregated, and is reported before the next
// clause runs, so that ERROR's record stands in its place.
func TestFaultEndsClause(t *testing.T) {
	p := program(
		clauseOf(trace(fn(tInt, push(1))), count(), trace(fn(tInt, push(1), push(0), op(code.OpDivS))), count()),
		clauseOf(trace(fn(tInt, push(2)))),
		clauseOf(trace(fn(tI64, code.Instr{Op: code.OpArg, N: 4}))))
	p.Aggs = []code.Agg{{Fn: agg.Count}}
	m, es := machine(t, p)
	var faults []Fault
	m.OnFault = func(_ Env, f Fault) {
		faults = append(faults, f)
		g := newGuest()
		for i := range g.args {
			g.args[i] = f.Arg(i)
		}
		m.Fire(g, es[2:])
	}
	m.Fire(newGuest(), es[:2])
	if got, want := text(records(t, m)), "4;2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := (Fault{EPID: 1, Action: 3, Offset: 2, Kind: DivZero}); len(faults) != 1 || faults[0] != want {
		t.Errorf("faults %+v", faults)
	}
	if rows := agg.Snapshot(agg.Order{}, m.Tables()[0]); len(rows) != 1 || rows[0].Data[0][0] != 1 {
		t.Errorf("aggregation %+v", rows)
	}
}

// A fault in a clause of ERROR does not fire ERROR again.
func TestFaultInErrorClause(t *testing.T) {
	p := program(clauseOf(trace(fn(tInt, push(1), push(0), op(code.OpDivS)))))
	m, es := machine(t, p)
	calls := 0
	m.OnFault = func(env Env, _ Fault) {
		calls++
		m.Fire(env, es)
	}
	m.Fire(newGuest(), es)
	if calls != 1 || m.ErrorFaults != 1 {
		t.Errorf("%d calls, %d errors", calls, m.ErrorFaults)
	}
}

func TestFaultNumbers(t *testing.T) {
	bad := fn(tInt, push(1), push(0), op(code.OpDivS))
	good := fn(tInt, push(1))
	printf := code.Action{Act: code.Printf, Format: "%d%d", Args: []*code.Func{good, bad}}
	sum := code.Action{Act: code.Aggregate, Aggs: []int{0}, Args: []*code.Func{good, bad}}
	p := program(clauseOf(trace(good), printf), clauseOf(printf), clauseOf(trace(good), sum), &code.Clause{Pred: bad})
	p.Aggs = []code.Agg{{Fn: agg.Sum, Keys: []code.Type{tInt}, Type: tInt}}
	m, es := machine(t, p)
	var got []int
	m.OnFault = func(_ Env, f Fault) { got = append(got, f.Action) }
	m.Fire(newGuest(), es)
	if fmt.Sprint(got) != "[3 2 3 0]" {
		t.Errorf("got %v", got)
	}
}

func TestExit(t *testing.T) {
	p := program(
		clauseOf(code.Action{Act: code.Exit, Args: []*code.Func{fn(tInt, push(3))}}, trace(fn(tInt, push(1)))),
		clauseOf(trace(fn(tInt, push(2)))))
	m, es := machine(t, p)
	m.Fire(newGuest(), es)
	if status, ok := m.Exited(); status != 3 || !ok {
		t.Errorf("status %d, %v", status, ok)
	}
	if got := text(records(t, m)); got != "3,1" {
		t.Errorf("got %s: what follows exit in its clause runs, the next clause does not", got)
	}
	m.Fire(newGuest(), es[1:])
	if got := text(records(t, m)); got != "2" {
		t.Errorf("got %s: END runs after an exit", got)
	}
}

func TestStack(t *testing.T) {
	p := program(clauseOf(code.Action{Act: code.Stack}), clauseOf(code.Action{Act: code.Stack, Depth: 1}))
	m, es := machine(t, p)
	m.Fire(newGuest(), es)
	if got, want := text(records(t, m)), "[ffffffff81000010 ffffffff81000020];[ffffffff81000010]"; got != want {
		t.Errorf("got %s", got)
	}
	if l := m.Layouts(); l[0].Size != 16+8+20*8 || l[1].Size != 16+16 {
		t.Errorf("sizes %d, %d", l[0].Size, l[1].Size)
	}
}

// Keys are packed by the types that the aggregation was declared with.
func TestAggregationKeys(t *testing.T) {
	key := []*code.Func{
		fn(tInt, push(0x1_0000_0005)), fn(tStr, imm(code.OpStr, 0)), fn(tU16, imm(code.OpLoadSelf, 0)),
		fn(tI64, push(-7)),
	}
	p := program(clauseOf(code.Action{Act: code.Aggregate, Aggs: []int{0}, Args: key, Incr: fn(tInt, push(2))}))
	p.Strings = []string{"key"}
	p.Vars = []code.Var{{Name: "s", Scope: code.Self, Type: tI64}}
	p.Aggs = []code.Agg{{Fn: agg.Quantize, Keys: []code.Type{tInt, tStr, tU16}, Type: tI64}}
	m, es := machine(t, p)
	m.Fire(newGuest(), es)
	rows := agg.Snapshot(agg.Order{}, m.Tables()[0])
	if len(rows) != 1 || rows[0].Key[0].Int != 5 || string(rows[0].Key[1].Bytes) != "key" || rows[0].Key[2].Int != 0 {
		t.Fatalf("rows %+v", rows)
	}
	for i, n := range rows[0].Data[0] {
		if v, _ := m.Tables()[0].Bucket(i); n != 0 && (v != -4 || n != 2) {
			t.Errorf("%d in bucket %d", n, v)
		}
	}
}

// Without room nothing of the clause runs.
func TestFullBuffer(t *testing.T) {
	p := program(clauseOf(trace(increment(code.OpLoadGlobal, code.OpStoreGlobal, 0))))
	p.Vars = []code.Var{{Name: "g", Type: tI64}}
	cfg := option.DefaultLimits()
	cfg.BufSize = 2 * (16 + 8)
	m, err := New(p, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		m.Fire(newGuest(), []Enabling{{1, 0}})
	}
	if b := m.Buffers()[0]; b.Drops != 1 || text(records(t, m)) != "1;2" {
		t.Errorf("%d drops", b.Drops)
	}
	m.Fire(newGuest(), []Enabling{{1, 0}})
	if got := text(records(t, m)); got != "3" {
		t.Errorf("got %s", got)
	}
}

func TestNewRefuses(t *testing.T) {
	str := fn(tStr, imm(code.OpStr, 0))
	tests := map[string]*code.Program{
		"bad code":     program(clauseOf(trace(fn(tInt, op(code.OpAdd))))),
		"no action":    program(clauseOf(code.Action{Act: 99})),
		"void trace":   program(clauseOf(trace(fn(code.Type{})))),
		"odd integer":  program(clauseOf(trace(fn(code.Type{Kind: code.Int, Size: 3}, push(1))))),
		"exit string":  program(clauseOf(code.Action{Act: code.Exit, Args: []*code.Func{str}})),
		"count values": {Clauses: []*code.Clause{clauseOf(count(fn(tInt, push(1))))}, Aggs: []code.Agg{{}}},
		"key type":     {Clauses: []*code.Clause{clauseOf(count(fn(tInt, push(1))))}, Aggs: []code.Agg{{Keys: []code.Type{tStr}}}},
		"sum of none":  {Clauses: []*code.Clause{clauseOf(count())}, Aggs: []code.Agg{{Fn: agg.Sum}}},
		"this array":   {Vars: []code.Var{{Scope: code.This, Type: tInt, Keys: []code.Type{tInt}}}},
		"void var":     {Vars: []code.Var{{}}},
		"lquantize":    {Aggs: []code.Agg{{Fn: agg.LQuantize}}},
		"predicate":    program(&code.Clause{Pred: str}),
	}
	for name, p := range tests {
		if p.Strings == nil {
			p.Strings = []string{"s"}
		}
		if _, err := New(p, option.DefaultLimits()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
