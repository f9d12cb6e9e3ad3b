package session

import (
	"slices"
	"strings"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/probetest"
)

// stubText is a kernel of the stub system: its calls begin with do_.
const stubText = `do_read  ffffffff81000100 90|90|c3
do_write ffffffff81000200 90|c3
helper   ffffffff81000300 90|c3
hooked   ffffffff81000400 90|c3
`

// stubSystem is a second operating system: all that it takes is this value and its row in
// guestos.Systems. It has a name for the kernel proper, system calls, a static probe and no
// library of its own.
var stubSystem = &guestos.System{
	Name: "stub", Title: "Stub",
	Is:     func(tab *kernel.Symtab) bool { return len(tab.Lookup("do_read")) > 0 },
	Module: guestos.ModuleName{Name: "stubix", Alias: "unix"},
	Calls:  &guestos.Calls{Find: stubCalls},
	Tracepoints: &guestos.Tracepoints{
		Any:  func(guestos.Symbols) bool { return true },
		Has:  func(_ guestos.Symbols, name string) bool { return name == "hook" },
		Find: stubTracepoints,
		Known: []guestos.Known{
			{Provider: "task", Name: "begin", Functions: []string{"helper"}, Args: []int{0}, When: stubBegins},
		},
	},
}

func stubCalls(symbols guestos.Symbols, _ guestos.Reader) (t guestos.CallTable) {
	t.Prefixes = []string{"do_"}
	for _, s := range symbols.Glob("do_*") {
		s.Name = strings.TrimPrefix(s.Name, "do_")
		t.Functions = append(t.Functions, s)
	}
	return t
}

func stubTracepoints(symbols guestos.Symbols, _ guestos.Reader) (all []guestos.Tracepoint) {
	for _, s := range symbols.Lookup("hooked") {
		all = append(all, guestos.Tracepoint{Name: "hook", Site: s.Addr, Target: s.Addr + 1})
	}
	return all
}

// stubBegins: even arguments do not count.
func stubBegins(_ guestos.Kernel, args *[10]uint64) bool { return args[0]&1 != 0 }

type stubOS struct {
	fakeOS
	system *guestos.System
}

func (s stubOS) System() *guestos.System { return s.system }

func newStub(t *testing.T) *rig { return newRigOf(t, stubSystem) }

func newRigOf(t *testing.T, system *guestos.System) *rig {
	t.Helper()
	funcs, err := probetest.ParseFuncs(stubText)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{target: probetest.New(arch.AMD64)}
	for _, f := range funcs {
		r.target.Map(f.Addr, f.Code)
	}
	symbols := probetest.Symbols(funcs)
	r.Session, err = New(Config{
		Target: r.target, Symbols: symbols, Text: symbols.File, OS: stubOS{system: system}, Stdout: &r.out, Stderr: &r.errOut,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSecondSystem: every provider goes by the system of the guest.
func TestSecondSystem(t *testing.T) {
	for desc, want := range map[string]string{
		"kinst:stubix:helper:0": "kinst:stubix:helper:0",
		"kinst:unix:helper:0":   "kinst:stubix:helper:0",
		"kinst:vmlinux:helper:": `no module "vmlinux": name its file with --module (the kernel itself is "stubix")`,
		"fbt::helper:entry":     "fbt:stubix:helper:entry",
		"syscall:::entry":       "syscall:stubix:read:entry syscall:stubix:write:entry",
		"syscall::do_read:":     "syscall:stubix:do_read:entry syscall:stubix:do_read:return",
		"sdt:::":                "sdt:stubix:hooked:hook",
		"task:::begin":          "task:stubix:helper:begin",
		"sched:::on-cpu":        "",
	} {
		r := newStub(t)
		d, err := probes.ParseDesc(desc)
		if err != nil {
			t.Fatal(err)
		}
		ps, err := r.Registry().Match(d)
		got := ""
		for _, p := range ps {
			got += " " + p.Desc().String()
		}
		if err != nil {
			got = " " + err.Error()
		}
		if got = strings.TrimPrefix(got, " "); got != want {
			t.Errorf("%s: %s, want %s", desc, got, want)
		}
	}
}

// TestSecondSystemTraces: a program on it runs, and conditions of known probes hold.
func TestSecondSystemTraces(t *testing.T) {
	r := newStub(t)
	run := func(target *probetest.Target) {
		for _, arg := range []uint64{1, 2, 3} {
			target.CPU.SetReg(arch.RDI, arg)
			target.Run(0xffffffff81000300, 0xffffffff81000301)
		}
	}
	src := script("#pragma D option quiet\n#pragma D depends_on module unix\ntask:::begin { printf(\"%d \", arg0); }")
	if err := r.trace(run, src); err != nil {
		t.Fatal(err)
	}
	if got := r.out.String(); got != "1 3 \n" && got != "1 3 " {
		t.Errorf("printed %q", got)
	}
	if slices.Contains(guestos.Systems, stubSystem) {
		t.Error("the stub has a row for good")
	}
}

// TestNoTracepoints: a kernel that is built without tracepoints has none, and how it would have some is said.
func TestNoTracepoints(t *testing.T) {
	system, points := *stubSystem, *stubSystem.Tracepoints
	points.Any, points.Needs = func(guestos.Symbols) bool { return false }, "CONFIG_POINTS"
	system.Tracepoints = &points
	for _, desc := range []string{"sdt:::hook", "task:::begin"} {
		r := newRigOf(t, &system)
		d, err := probes.ParseDesc(desc)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Registry().Match(d)
		if err == nil || !strings.HasSuffix(err.Error(), ": this kernel has no tracepoints: build it with CONFIG_POINTS") {
			t.Errorf("%s: %v", desc, err)
		}
	}
}
