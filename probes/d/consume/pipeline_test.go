package consume_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"trapline/probes/d/buffer"
	"trapline/probes/d/check"
	"trapline/probes/d/check/checktest"
	"trapline/probes/d/code"
	"trapline/probes/d/compile"
	"trapline/probes/d/consume"
	"trapline/probes/d/desugar"
	"trapline/probes/d/option"
	"trapline/probes/d/syntax"
	"trapline/probes/d/vm"
)

var update = flag.Bool("update", false, "rewrite the output in testdata")

// Each testdata/*.txtar is a D program (prog.d) and what it prints (stdout, stderr) on the
// fixed history of firings below.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var src []byte
			want := map[string]string{}
			for _, f := range a.Files {
				want[f.Name] = string(f.Data)
				if f.Name == "prog.d" {
					src = f.Data
				}
			}
			out, errs := trace(t, src)
			if *update {
				a.Files = []txtar.File{{Name: "prog.d", Data: src}, {Name: "stdout", Data: out}}
				if len(errs) > 0 {
					a.Files = append(a.Files, txtar.File{Name: "stderr", Data: errs})
				}
				if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if string(out) != want["stdout"] || string(errs) != want["stderr"] {
				t.Errorf("got\n%s-- stderr --\n%s", out, errs)
			}
		})
	}
}

// A firing is a moment of the history. It is the Env of that moment.
type firing struct {
	probe  vm.Probe
	thread vm.Thread
	args   [10]uint64
	now    uint64
	fault  *vm.Fault
}

func (f *firing) Probe() *vm.Probe             { return &f.probe }
func (f *firing) CPU() int                     { return 0 }
func (f *firing) Reg(i int) uint64             { return uint64(i) * 0x1111 }
func (f *firing) Now() uint64                  { return f.now }
func (f *firing) VNow() uint64                 { return f.now / 2 }
func (f *firing) Wall() int64                  { return 1735689600e9 + int64(f.now) }
func (f *firing) Thread() (*vm.Thread, uint64) { return &f.thread, 0 }
func (f *firing) Caller() uint64               { return 0x1234 }
func (f *firing) Stack(pcs []uint64) int       { return copy(pcs, []uint64{0x1000, 0x1234, 0x9999}) }

func (f *firing) UStack(pcs []uint64) int { return copy(pcs, []uint64{0x401000, 0x401234}) }

func (f *firing) Arg(i int) uint64 {
	if f.fault != nil {
		return f.fault.Arg(i)
	}
	return f.args[i]
}

// memory of the guest: a string at 0x5000, and nothing else.
func (f *firing) Read(addr uint64, p []byte) (bad uint64, ok bool) {
	const base, text = 0x5000, "/etc/passwd\x00"
	for i := range p {
		at := addr + uint64(i)
		if at < base || at >= base+4096 {
			return at, false
		}
		p[i] = 0
		if at-base < uint64(len(text)) {
			p[i] = text[at-base]
		}
	}
	return 0, true
}

func history() []*firing {
	begin := &firing{probe: vm.Probe{ID: 1, Prov: "dtrace", Name: "BEGIN"}}
	h := []*firing{begin}
	for i, exec := range []string{"sh", "grep", "sh", "grep", "grep", "init"} {
		pid := int32(100 + i%3)
		f := &firing{
			probe:  vm.Probe{ID: 10, Prov: "kinst", Module: "vmlinux", Func: "vfs_read", Name: "0"},
			thread: vm.Thread{Key: uint64(pid), PID: pid, TID: pid, PPID: 1, Execname: exec},
			args:   [10]uint64{0x5000, uint64(1) << (2 * i), uint64(-int64(i))},
			now:    uint64(1000 * (i + 1)),
		}
		if i%2 == 1 {
			f.probe.ID, f.probe.Func = 11, "vfs_write"
		}
		h = append(h, f)
	}
	return append(h, &firing{probe: vm.Probe{ID: 2, Prov: "dtrace", Name: "END"}, now: 9000})
}

// A tracer joins compiler, machine and printer as a session does.
type tracer struct {
	prog      *code.Program
	m         *vm.Machine
	text      consume.Sink
	enablings []consume.Enabling // by EPID-1
	byProbe   map[vm.Probe][]vm.Enabling
}

func trace(t *testing.T, src []byte) (stdout, stderr []byte) {
	t.Helper()
	tree, err := syntax.Parse("prog.d", src, syntax.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tree = new(desugar.Desugarer).Program(tree)
	env := check.Env{Regs: map[string]int{"RAX": 1}, Types: checktest.New(), Symbol: checktest.Symbol}
	if err := check.Check(tree, env); err != nil {
		t.Fatal(err)
	}
	prog, err := compile.Compile(tree)
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	tr := newTracer(t, prog, &out, &errs)
	tr.run(t)
	return out.Bytes(), errs.Bytes()
}

func newTracer(t *testing.T, prog *code.Program, out, errs *bytes.Buffer) *tracer {
	t.Helper()
	opts := option.New()
	for _, o := range prog.Options {
		if err := opts.Set(o.Name, o.Value); err != nil {
			t.Fatal(err)
		}
	}
	m, err := vm.New(prog, opts.Limits)
	if err != nil {
		t.Fatal(err)
	}
	tr := &tracer{prog: prog, m: m, byProbe: make(map[vm.Probe][]vm.Enabling)}
	trace := &consume.Trace{Program: prog, Layouts: m.Layouts(), Tables: m.Tables(), Enabling: tr.enabling, Symbol: symbol}
	if tr.text, err = consume.New(trace, opts.View, out, errs); err != nil {
		t.Fatal(err)
	}
	m.Base = func(form code.Form, addr uint64) uint64 {
		if addr >= 0x1000 && addr < 0x2000 {
			return 0x1000
		}
		return addr
	}
	m.OnFault = func(env vm.Env, f vm.Fault) { tr.onFault(t, env, f) }
	r := consume.NewReader(trace)
	m.Buffers()[0].OnFull = func(b *buffer.Buffer) {
		if err := r.Drain(b, tr.text); err != nil {
			t.Error(err)
		}
	}
	return tr
}

func symbol(addr uint64) (module, name string, off uint64, ok bool) {
	if addr >= 0x1000 && addr < 0x2000 {
		return "vmlinux", "vfs_read", addr - 0x1000, true
	}
	return "", "", 0, false
}

func (tr *tracer) enabling(epid uint32) *consume.Enabling {
	if epid == 0 || int(epid) > len(tr.enablings) {
		return nil
	}
	return &tr.enablings[epid-1]
}

// enable gives the enablings of a probe, made when it first fires.
func (tr *tracer) enable(p vm.Probe) []vm.Enabling {
	if es, ok := tr.byProbe[p]; ok {
		return es
	}
	var es []vm.Enabling
	for i, c := range tr.prog.Clauses {
		if matches(c.Probes[0], p) {
			tr.enablings = append(tr.enablings, consume.Enabling{Probe: consume.Probe(p), Clause: i})
			es = append(es, vm.Enabling{EPID: uint32(len(tr.enablings)), Clause: i})
		}
	}
	tr.byProbe[p] = es
	return es
}

// matches knows NAME and PROVIDER:MODULE:FUNCTION:NAME, with empty parts for any.
func matches(desc string, p vm.Probe) bool {
	parts := strings.Split(":::"+desc, ":")
	for i, want := range []string{p.Prov, p.Module, p.Func, p.Name} {
		if part := parts[len(parts)-4+i]; part != "" && part != want {
			return false
		}
	}
	return true
}

func (tr *tracer) run(t *testing.T) {
	for _, f := range history() {
		if _, ok := tr.m.Exited(); !ok || f.probe.Name == "END" {
			tr.fire(f)
		}
	}
	d := consume.Drops{Variables: tr.m.VarDrops(), Spec: tr.m.SpecDrops, SpecFails: tr.m.SpecFails, Errors: tr.m.ErrorFaults}
	for _, tab := range tr.m.Tables() {
		d.Aggregations += tab.Drops
	}
	if err := tr.text.Drops(d); err != nil {
		t.Error(err)
	}
	if err := tr.text.End(); err != nil {
		t.Error(err)
	}
}

// fire drains after every firing: printa shows what is known then.
func (tr *tracer) fire(f *firing) {
	tr.m.Fire(f, tr.enable(f.probe))
	b := tr.m.Buffers()[0]
	b.OnFull(b)
}

func (tr *tracer) onFault(t *testing.T, env vm.Env, f vm.Fault) {
	e := tr.enabling(f.EPID)
	shown := consume.Fault{EPID: f.EPID, Probe: e.Probe, Text: f.Text(), Action: f.Action, Offset: f.Offset}
	if err := tr.text.Fault(shown); err != nil {
		t.Error(err)
	}
	p := vm.Probe{ID: 3, Prov: "dtrace", Name: "ERROR"}
	thread, _ := env.Thread()
	tr.m.Fire(&firing{probe: p, thread: *thread, now: env.Now(), fault: &f}, tr.enable(p))
}

func (f *firing) Write(addr uint64, p []byte) (bad uint64, ok bool) {
	if bad, ok := f.Read(addr, make([]byte, len(p))); !ok {
		return bad, false
	}
	f.write(addr, string(p))
	return 0, true
}

func (f *firing) Progeny(pid int32) (yes bool, bad uint64, ok bool) {
	return pid == 1 || pid == f.thread.PID, 0, true
}

// Do lets only time pass.
func (f *firing) Do(a code.Act, n uint64) bool {
	f.now += n
	return a == code.Chill
}

// write is a copy to the guest that is never read again.
func (f *firing) write(uint64, string) {}

func (f *firing) Local(name string) (uint64, []byte, error) {
	return 0, nil, errors.New(name + ": optimized out")
}
func (f *firing) UReg(i int) uint64 { return uint64(i) * 0x2222 }

func (f *firing) Execargs() (args string, bad uint64, ok bool) { return "cat /etc/passwd", 0, true }
