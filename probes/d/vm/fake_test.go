package vm

import (
	"errors"
	"testing"

	"trapline/probes/d/code"
	"trapline/probes/d/option"
)

// A guest is an Env made of literals. Memory is mapped in pages of 4096 bytes.
type guest struct {
	probe  Probe
	thread *Thread
	args   [10]uint64
	regs   [32]uint64
	now    uint64
	pcs    []uint64
	pages  map[uint64][]byte

	asked int // calls of Thread
}

func newGuest() *guest {
	return &guest{
		probe:  Probe{ID: 7, Prov: "kinst", Module: "vmlinux", Func: "vfs_read", Name: "3"},
		thread: &Thread{Key: 0xffff888003a00000, PID: 42, TID: 43, PPID: 1, UID: 1000, GID: 100, Errno: -2, Addr: 0xffff888003a00000, Execname: "busybox"},
		now:    1500,
		pcs:    []uint64{0xffffffff81000010, 0xffffffff81000020},
		pages:  make(map[uint64][]byte),
	}
}

func (g *guest) Probe() *Probe    { return &g.probe }
func (g *guest) CPU() int         { return 0 }
func (g *guest) Arg(i int) uint64 { return g.args[i] }
func (g *guest) Reg(i int) uint64 { return g.regs[i%len(g.regs)] }
func (g *guest) Now() uint64      { return g.now }
func (g *guest) VNow() uint64     { return g.now / 2 }
func (g *guest) Wall() int64      { return 1735689600e9 + int64(g.now) }
func (g *guest) Caller() uint64   { return g.pcs[1] }
func (g *guest) Stack(p []uint64) int {
	return copy(p, g.pcs)
}

func (g *guest) UStack(p []uint64) int {
	return copy(p, []uint64{0x401000, 0x402000})
}

func (g *guest) Thread() (*Thread, uint64) {
	g.asked++
	return g.thread, 0x10
}

func (g *guest) write(addr uint64, s string) {
	for i := range len(s) {
		a := addr + uint64(i)
		if g.pages[a>>12] == nil {
			g.pages[a>>12] = make([]byte, 4096)
		}
		g.pages[a>>12][a&4095] = s[i]
	}
}

func (g *guest) Read(addr uint64, p []byte) (bad uint64, ok bool) {
	for i := range p {
		a := addr + uint64(i)
		page := g.pages[a>>12]
		if page == nil {
			return a, false
		}
		p[i] = page[a&4095]
	}
	return 0, true
}

var (
	tInt  = code.Type{Kind: code.Int, Size: 4, Signed: true, Name: "int"}
	tI8   = code.Type{Kind: code.Int, Size: 1, Signed: true, Name: "char"}
	tU16  = code.Type{Kind: code.Int, Size: 2, Name: "uint16_t"}
	tI64  = code.Type{Kind: code.Int, Size: 8, Signed: true, Name: "long"}
	tStr  = code.Type{Kind: code.String, Size: 256, Name: "string"}
	tStr8 = code.Type{Kind: code.String, Size: 8, Name: "string"}
)

// fn makes a function of type t.
func fn(t code.Type, ins ...code.Instr) *code.Func { return &code.Func{Code: ins, Type: t} }

func op(o code.Op) code.Instr              { return code.Instr{Op: o} }
func imm(o code.Op, v uint64) code.Instr   { return code.Instr{Op: o, Imm: v} }
func narrowOp(o code.Op, n int) code.Instr { return code.Instr{Op: o, N: uint16(n)} }
func push(v int64) code.Instr              { return imm(code.OpPush, uint64(v)) }
func builtin(b code.Builtin) code.Instr    { return imm(code.OpBuiltin, uint64(b)) }
func call(s code.Sub, n int) code.Instr {
	return code.Instr{Op: code.OpCall, N: uint16(n), Imm: uint64(s)}
}
func eval(f *code.Func) code.Action  { return code.Action{Act: code.Eval, Args: []*code.Func{f}} }
func trace(f *code.Func) code.Action { return code.Action{Act: code.Trace, Args: []*code.Func{f}} }
func count(keys ...*code.Func) code.Action {
	return code.Action{Act: code.Aggregate, Aggs: []int{0}, Args: keys}
}

func program(clauses ...*code.Clause) *code.Program {
	return &code.Program{Clauses: clauses}
}

func clauseOf(actions ...code.Action) *code.Clause { return &code.Clause{Actions: actions} }

// machine makes a machine of a program; enable is every clause of it, numbered from 1.
func machine(t testing.TB, p *code.Program) (m *Machine, enable []Enabling) {
	t.Helper()
	cfg := option.DefaultLimits()
	cfg.BufSize = 64 << 10
	m, err := New(p, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Clauses {
		enable = append(enable, Enabling{EPID: uint32(i + 1), Clause: i})
	}
	return m, enable
}

func (g *guest) Write(addr uint64, p []byte) (bad uint64, ok bool) {
	if bad, ok := g.Read(addr, make([]byte, len(p))); !ok {
		return bad, false
	}
	g.write(addr, string(p))
	return 0, true
}

func (g *guest) Progeny(pid int32) (yes bool, bad uint64, ok bool) {
	return pid == 1 || pid == g.thread.PID, 0, true
}

// Do lets only time pass.
func (g *guest) Do(a code.Act, n uint64) bool {
	g.now += n
	return a == code.Chill
}

// Local has bytes at an address, bytes that are nowhere, and nothing.
func (g *guest) Local(name string) (uint64, []byte, error) {
	switch name {
	case "placed":
		return 0x1000, nil, nil
	case "held":
		return 0, []byte{1, 2, 3, 4}, nil
	}
	return 0, nil, errors.New(name + ": optimized out")
}

func (g *guest) UReg(i int) uint64 { return uint64(i) * 0x2222 }

func (g *guest) Execargs() (args string, bad uint64, ok bool) { return "cat /etc/passwd", 0, true }
