package vm

import (
	"testing"

	"trapline/probes/d/agg"
	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
)

// A present guest notices when it is asked for what is only known while it stands still.
type present struct {
	*guest
	asked, thread bool
}

func (p *present) Caller() uint64       { p.asked = true; return p.guest.Caller() }
func (p *present) Stack(b []uint64) int { p.asked = true; return p.guest.Stack(b) }
func (p *present) UStack(b []uint64) int {
	p.asked = true
	return p.guest.UStack(b)
}
func (p *present) UReg(i int) uint64 { p.asked = true; return p.guest.UReg(i) }

func (p *present) Local(name string) (uint64, []byte, error) {
	p.asked = true
	return p.guest.Local(name)
}

func (p *present) Execargs() (string, uint64, bool) {
	p.asked = true
	return p.guest.Execargs()
}

func (p *present) Progeny(pid int32) (bool, uint64, bool) {
	p.asked = true
	return p.guest.Progeny(pid)
}

func (p *present) Do(a code.Act, n uint64) bool { p.asked = true; return p.guest.Do(a, n) }

func (p *present) Write(addr uint64, b []byte) (uint64, bool) {
	p.asked = true
	return p.guest.Write(addr, b)
}

func (p *present) Read(addr uint64, b []byte) (uint64, bool) {
	p.asked = true
	return p.guest.Read(addr, b)
}

func (p *present) Thread() (*Thread, uint64) {
	p.thread = true
	return p.guest.Thread()
}

func (p *present) VNow() uint64 { p.thread = true; return p.guest.VNow() }

// fireDeferrable fires a clause and reports whether what it has asked for agrees with what was said of it.
func fireDeferrable(t *testing.T, name string, p *code.Program) {
	t.Helper()
	m, es := machine(t, p)
	g := &present{guest: newGuest()}
	g.write(0x1000, "0123456789abcdef")
	m.Fire(g, es)
	if m.Deferrable(es) && g.asked {
		t.Errorf("%s asks for what is there only at the hit, and is deferrable", name)
	}
	if m.Deferrable(es) && g.thread && !m.AsksThread(es) {
		t.Errorf("%s asks for the thread, and is not said to", name)
	}
}

// What a clause of each built-in variable, subroutine and operation on the guest asks for.
func TestDeferrable(t *testing.T) {
	for _, b := range code.Builtins() {
		fireDeferrable(t, b.String(), program(clauseOf(trace(fn(b.Type(), builtin(b))))))
	}
	for _, s := range code.Subs() {
		fireDeferrable(t, s.String(), callOf(s))
	}
	for _, in := range []code.Instr{
		{Op: code.OpArg}, {Op: code.OpReg}, {Op: code.OpUReg}, {Op: code.OpLocal}, {Op: code.OpFrames},
	} {
		p := program(clauseOf(trace(fn(tI64, in))))
		if in.Op == code.OpFrames {
			p = program(clauseOf(trace(fn(code.Type{Kind: code.Frames, Size: 2}, in))))
		}
		p.Strings = []string{"placed"}
		fireDeferrable(t, in.Op.String(), p)
	}
	for _, load := range []code.Instr{narrowOp(code.OpLoadS, 8), narrowOp(code.OpLoadU, 8)} {
		fireDeferrable(t, load.Op.String(), program(clauseOf(trace(fn(tI64, push(0x1000), load)))))
	}
	fireDeferrable(t, "loadstr", program(clauseOf(trace(fn(tStr, push(0x1000), imm(code.OpLoadStr, 8))))))
}

// callOf is a program that calls a subroutine with all arguments it may have.
func callOf(s code.Sub) *code.Program {
	kinds, result := s.Signature()
	var ins []code.Instr
	for _, k := range kinds {
		if k == code.String {
			ins = append(ins, imm(code.OpStr, 0))
		} else {
			ins = append(ins, push(2))
		}
	}
	typ := tI64
	if result == code.String {
		typ = tStr
	}
	ins = append(ins, call(s, len(kinds)))
	if result == code.Void {
		typ = code.Type{}
	}
	p := program(clauseOf(eval(fn(typ, ins...))))
	p.Strings = []string{"text"}
	return p
}

// The actions that act on the guest, end the trace or show it are not deferrable, nor is any in a buffer that
// ends the trace when it is full.
func TestDeferrableActions(t *testing.T) {
	for _, c := range []struct {
		action code.Action
		want   bool
	}{
		{trace(fn(tI64, push(1))), true},
		{count(), true},
		{code.Action{Act: code.Exit, Args: []*code.Func{fn(tInt, push(1))}}, false},
		{code.Action{Act: code.Stop}, false},
		{code.Action{Act: code.Chill, Args: []*code.Func{fn(tI64, push(1))}}, false},
		{code.Action{Act: code.Stack, Depth: 2}, false},
	} {
		p := program(clauseOf(c.action))
		p.Aggs = []code.Agg{{Name: "a", Fn: agg.Count}}
		if m, es := machine(t, p); m.Deferrable(es) != c.want {
			t.Errorf("%v: deferrable %v, want %v", c.action.Act, !c.want, c.want)
		}
		cfg := option.DefaultLimits()
		cfg.BufPolicy = buffer.Fill
		if m, err := New(p, cfg); err != nil || m.Deferrable([]Enabling{{EPID: 1}}) {
			t.Errorf("%v: deferrable with a buffer that fills, %v", c.action.Act, err)
		}
	}
}
