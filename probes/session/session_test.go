package session

import (
	"errors"
	"strings"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/d/syntax"
	"trapline/probes/front"
	"trapline/probes/probetest"
)

// The guest of these tests: two functions.
const guestText = `
vfs_read  ffffffff81000100 55|4889e5|31c0|5d|c3
vfs_write ffffffff81000200 90|cd80|c3
__switch_to ffffffff81000300 90|c3
`

var _ Symbols = (*kernel.Symtab)(nil)

const vfsRead = 0xffffffff81000100

// fakeOS has one thread and a stack of two frames.
type fakeOS struct{ err error }

var fakeSystem = &guestos.System{Name: "fake", Module: guestos.Linux.Module}

func (fakeOS) System() *guestos.System { return fakeSystem }

func (o fakeOS) Thread(_ guestos.Mem, r arch.Regs) (guestos.Thread, error) {
	return guestos.Thread{Key: 7 + r.Reg(arch.RBX), PID: 42, TID: 43, PPID: 1, Execname: "cat", Addr: 64 * r.Reg(arch.RBX)}, o.err
}

func (fakeOS) Stack(_ guestos.Mem, r arch.Regs, pcs []uint64) int {
	return copy(pcs, []uint64{r.Reg(arch.RIP), vfsRead + 0x103})
}

func (fakeOS) Slide(arch.Regs) (uint64, bool) { return 0, true }

func (fakeOS) SwitchFuncs() []string { return []string{"__switch_to"} }
func (fakeOS) OneThread() bool       { return false }
func (fakeOS) Unsafe(uint64) string  { return "" }
func (fakeOS) PanicLine(string) bool { return false }

// rig is a session over a fake guest.
type rig struct {
	*Session
	target      *probetest.Target
	out, errOut strings.Builder
}

// setOS makes the guest one of another OS.
func (r *rig) setOS(os guestos.OS) { r.OS, r.Session.trace.OS = os, os }

func newRig(t testing.TB, opts ...string) *rig {
	t.Helper()
	return newRigOn(t, func(target *probetest.Target) probes.Target { return target }, opts...)
}

// newRigOn is a rig whose session has the target that on makes of the rig's.
func newRigOn(t testing.TB, on func(*probetest.Target) probes.Target, opts ...string) *rig {
	t.Helper()
	funcs, err := probetest.ParseFuncs(guestText)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{target: probetest.New(arch.AMD64)}
	for _, f := range funcs {
		r.target.Map(f.Addr, f.Code)
	}
	symbols := probetest.Symbols(funcs)
	r.Session, err = New(Config{
		Target: on(r.target), Symbols: symbols, Text: symbols.File, OS: fakeOS{}, Stdout: &r.out, Stderr: &r.errOut,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range opts {
		if err := r.Options.SetArg(o); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// spec is the argument of -n.
func spec(text string) front.Source { return front.Source{Text: text, Kind: syntax.ByName} }

// script is a file given to -s.
func script(text string) front.Source { return front.Source{Text: text, File: "x.d"} }

// trace compiles, lets the guest run, and finishes.
func (r *rig) trace(guest func(*probetest.Target), src ...front.Source) error {
	if err := r.Compile(src, front.Macros{}); err != nil {
		return err
	}
	if err := r.Start(); err != nil {
		return err
	}
	if guest != nil {
		guest(r.target)
	}
	return r.Finish()
}

func readTwice(t *probetest.Target) {
	for range 2 {
		t.Run(vfsRead, vfsRead+1, vfsRead+4, vfsRead+6, vfsRead+7)
	}
}

func TestTrace(t *testing.T) {
	tests := []struct {
		name  string
		opts  []string
		src   []front.Source
		guest func(*probetest.Target)
		out   string
		err   string // on stderr
	}{
		{
			name: "columns", src: []front.Source{spec("kinst::vfs_read:4")}, guest: readTwice,
			out: "CPU     ID                    FUNCTION:NAME\n" +
				"  0      4                       vfs_read:4 \n" +
				"  0      4                       vfs_read:4 \n\n",
			err: "dtrace: description 'kinst::vfs_read:4' matched 1 probe\n",
		},
		{
			name: "count by offset", opts: []string{"quiet"},
			src: []front.Source{spec("kinst::vfs_read: { @[probename] = count(); }")}, guest: readTwice,
			out: "\n" + rows(2, "0", "1", "4", "6", "7"),
		},
		{
			name: "order of clauses, BEGIN and END",
			src: []front.Source{script(`#pragma D option quiet
				BEGIN { printf("begin %s %d\n", execname, pid); x = 1; }
				kinst::vfs_read:0 { printf("a%d ", x++); }
				kinst:vmlinux:vfs_*:0, kinst::vfs_read:1 { printf("b%s%s ", probefunc, probename); }
				END { printf("end %d\n", x); }`)},
			guest: readTwice,
			out:   "begin dtrace 0\na1 bvfs_read0 bvfs_read1 a2 bvfs_read0 bvfs_read1 end 3\n\n",
		},
		{
			name: "several sources", opts: []string{"quiet"},
			src: []front.Source{spec(`BEGIN { n = 5 }`), spec(`kinst::vfs_read:0 /n > 4/ { printf("%d ", n--) }`)}, guest: readTwice,
			out: "5 \n",
		},
		{
			name: "options of a program for its compilation",
			src:  []front.Source{script("#pragma D option quiet\n#pragma D option defaultargs\nBEGIN { printf(\"%d%s\", $1, $$2); }")},
			out:  "0\n",
		},
		{
			name: "thread and registers", opts: []string{"quiet"},
			src: []front.Source{spec(`kinst::vfs_read:0 { printf("%d %d %d %s %d %x", pid, tid, ppid, execname, arg0, regs[R_PC]); exit(0) }`)}, guest: readTwice,
			out: "42 43 1 cat 0 ffffffff81000100\n",
		},
		{
			name: "tick", opts: []string{"quiet"},
			src:   []front.Source{spec(`tick-10ms { printf("%d ", timestamp) }`)},
			guest: func(t *probetest.Target) { t.Advance(35e6) },
			out:   "10000000 20000000 30000000 \n",
		},
		{
			name: "nothing fires", src: []front.Source{spec("kinst::vfs_read:4")},
			out: "\n",
			err: "dtrace: description 'kinst::vfs_read:4' matched 1 probe\n",
		},
		{
			name: "fault", src: []front.Source{spec(`kinst::vfs_read:0 /pid/ { trace(*(int *)16) } ERROR { trace(arg4) }`)}, opts: []string{"quiet"}, guest: readTwice,
			out: "11\n",
			err: strings.Repeat("dtrace: error on enabled probe ID 1 (ID 4: kinst:vmlinux:vfs_read:0): invalid address (0x10) in action #1 at DIF offset 1\n", 2),
		},
		{
			name: "two programs of one probe", src: []front.Source{spec("kinst::vfs_write:{ @ = count() }"), script("kinst::vfs_write: { @ = count() }")},
			guest: func(t *probetest.Target) { t.Run(vfsRead+0x100, vfsRead+0x101) },
			out:   "\n                2\n",
			err:   "dtrace: description 'kinst::vfs_write:' matched 2 probes\ndtrace: script 'x.d' matched 2 probes\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.opts...)
			if err := r.trace(tt.guest, tt.src...); err != nil {
				t.Fatal(err)
			}
			if r.out.String() != tt.out {
				t.Errorf("output %q\nwant   %q", r.out.String(), tt.out)
			}
			if r.errOut.String() != tt.err {
				t.Errorf("messages %q\nwant     %q", r.errOut.String(), tt.err)
			}
			if r.target.Err != nil {
				t.Error(r.target.Err)
			}
			if n := len(r.target.Breaks()); n != 0 {
				t.Errorf("%d breakpoints left", n)
			}
		})
	}
}

func rows(n int, keys ...string) string {
	var b strings.Builder
	for _, k := range keys {
		b.WriteString("  " + k + strings.Repeat(" ", 50-len(k)) + strings.Repeat(" ", 16) + string(rune('0'+n)) + "\n")
	}
	return b.String()
}

// After exit nothing fires but END, and what the clause still does counts.
func TestExit(t *testing.T) {
	r := newRig(t, "quiet")
	err := r.trace(readTwice, spec(`kinst::vfs_read:1 { exit(3); printf("last ") } kinst::vfs_read:1, kinst::vfs_read:4 { printf("more ") } END { printf("end") }`))
	if err != nil {
		t.Fatal(err)
	}
	if status, ok := r.Exited(); !ok || status != 3 {
		t.Errorf("exited %v with %d", ok, status)
	}
	if want := "last end\n"; r.out.String() != want || !r.target.Stopped() {
		t.Errorf("output %q, want %q; stopped %v", r.out.String(), want, r.target.Stopped())
	}
}

func TestExitInBegin(t *testing.T) {
	r := newRig(t, "quiet")
	if err := r.trace(readTwice, spec(`BEGIN { exit(7) } BEGIN, kinst::vfs_read: { printf("no") } END { printf("end") }`)); err != nil {
		t.Fatal(err)
	}
	if status, ok := r.Exited(); !ok || status != 7 || r.out.String() != "end\n" {
		t.Errorf("exited %v with %d, output %q", ok, status, r.out.String())
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		opts []string
		src  []front.Source
		want string
	}{
		{nil, []front.Source{spec("nosuch")}, "invalid probe specifier nosuch: probe description :::nosuch does not match any probes"},
		{[]string{"errtags"}, []front.Source{spec("nosuch")}, "invalid probe specifier nosuch: [D_PDESC_ZERO] probe description :::nosuch does not match any probes"},
		{nil, []front.Source{script("BEGIN {}\nnosuch {}")}, "failed to compile script x.d: line 2: probe description :::nosuch does not match any probes"},
		{nil, []front.Source{spec("kinst::vfs_raed:")}, `invalid probe specifier kinst::vfs_raed:: no function "vfs_raed" in vmlinux (nearest: vfs_read, vfs_write, __switch_to)`},
		{nil, []front.Source{script("\nkinst::vfs_read:2 {}")}, "failed to compile script x.d: line 2: offset 2 is inside an instruction of vfs_read: instructions begin at 1 and 4"},
		{nil, []front.Source{spec("BEGIN"), script("END { x = }")}, "failed to compile script x.d: line 1: "},
		{nil, []front.Source{spec("BEGIN { trace(y) }"), spec("BEGIN { y = 1 }")}, "invalid probe specifier BEGIN { trace(y) }: "},
		{nil, []front.Source{script("#pragma D option iregs\nBEGIN {}")}, "failed to compile script x.d: line 1: option iregs: there are no registers in the bytecode: it is a stack machine"},
		{nil, []front.Source{script("#pragma D option cpp\nBEGIN {}")}, "failed to compile script x.d: line 1: option cpp: the program has been read already: give -x cpp on the command line"},
		{nil, []front.Source{script("#pragma D option errtags\nBEGIN { trace($1); }")}, "failed to compile script x.d: [D_MACRO_UNDEF] line 2: "},
		{nil, []front.Source{script("#pragma D option defaultargs=7\nBEGIN { trace($1); }")}, "failed to compile script x.d: line 1: option defaultargs: "},
		{nil, []front.Source{script("#pragma D option nosuch\nBEGIN {}")}, "failed to compile script x.d: line 1: "},
		{nil, []front.Source{script("#pragma D option patch=inplace\nBEGIN {}")}, "failed to compile script x.d: line 1: option patch: the guest is there already: give -x patch=inplace on the command line"},
		{nil, []front.Source{{Text: "kinst", Kind: syntax.ByProvider}}, "invalid probe specifier kinst: probe description kinst::: does not match any probes: kinst makes probes when it and a function are named, as in kinst::FUNCTION:"},
		{nil, []front.Source{spec("vfs_read:5")}, "invalid probe specifier vfs_read:5: probe description ::vfs_read:5 does not match any probes: fbt has entry and return, and kinst makes probes when it is named, as in kinst::vfs_read:"},
		{nil, []front.Source{{Text: "vfs_raed", Kind: syntax.ByFunc}}, `invalid probe specifier vfs_raed: probe description ::vfs_raed: does not match any probes: no function "vfs_raed" in vmlinux (nearest: `},
	}
	for _, tt := range tests {
		r := newRig(t, tt.opts...)
		err := r.trace(nil, tt.src...)
		var ce *front.CompileError
		if !errors.As(err, &ce) || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: got  %v\nwant %s", tt.src, err, tt.want)
		}
	}
}

func TestZeroDefs(t *testing.T) {
	r := newRig(t, "zdefs")
	if err := r.trace(nil, spec("nosuch,kinst::nosuch:")); err != nil {
		t.Fatal(err)
	}
	if want := "dtrace: description 'nosuch,kinst::nosuch:' matched 0 probes\n"; r.errOut.String() != want {
		t.Errorf("messages %q, want %q", r.errOut.String(), want)
	}
	if len(r.Report()) != 2 || len(r.Unmatched()) != 2 {
		t.Errorf("report %q, unmatched %q", r.Report(), r.Unmatched())
	}
}

func TestVerbose(t *testing.T) {
	r := newRig(t, "verbose", "quiet")
	rewrite := func(t *probetest.Target) { t.Rewrite(vfsRead, []byte{0x48, 0x89}) }
	if err := r.trace(rewrite, spec("kinst::vfs_write:, kinst::vfs_read:1 { @ = count() }")); err != nil {
		t.Fatal(err)
	}
	want := "dtrace: kinst: skipped vfs_write+1: a software interrupt saves the address of the next instruction, which would be the trampoline's\n" +
		"dtrace: kinst:vmlinux:vfs_read:1 is suspended: the guest rewrote its text, and no instruction begins there\n"
	if r.errOut.String() != want || r.Hits() != 0 {
		t.Errorf("messages %q\nwant     %q", r.errOut.String(), want)
	}
}

func TestCrossCheck(t *testing.T) {
	r := newRig(t, "crosscheck", "quiet")
	if err := r.trace(readTwice, spec("kinst::vfs_read: {}")); err != nil {
		t.Errorf("no hit lost, but %v", err)
	}
	r = newRig(t, "crosscheck", "quiet")
	r.target.Lose = 3
	err := r.trace(readTwice, spec("kinst::vfs_read: { @ = count() }"))
	want := "cross-check: 3 of 5 instructions differ: vfs_read+0 1 hits of 2 executions, vfs_read+1 1 hits of 2 executions, vfs_read+4 1 hits of 2 executions"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if want := "\n                7\n"; r.out.String() != want {
		t.Errorf("output %q, want %q", r.out.String(), want)
	}
}

// noCheck is a target that cannot count.
type noCheck struct{ probes.Target }

func TestCrossCheckMissing(t *testing.T) {
	r := newRig(t, "crosscheck", "quiet")
	r.Target = noCheck{r.Target}
	if err := r.trace(nil, spec("BEGIN")); err == nil || !strings.HasPrefix(err.Error(), "option crosscheck: ") {
		t.Errorf("error %v", err)
	}
}

func TestList(t *testing.T) {
	r := newRig(t)
	if err := r.Compile([]front.Source{spec("kinst::vfs_write:"), {Text: "dtrace", Kind: syntax.ByProvider}, spec("5")}, front.Macros{}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.List(&out); err != nil {
		t.Fatal(err)
	}
	want := `   ID   PROVIDER            MODULE                          FUNCTION NAME
    4      kinst           vmlinux                         vfs_write 0
    5      kinst           vmlinux                         vfs_write 3
    1     dtrace                                                     BEGIN
    2     dtrace                                                     END
    3     dtrace                                                     ERROR
    5      kinst           vmlinux                         vfs_write 3
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// What was recorded is shown while the guest runs.
func TestSwitchRate(t *testing.T) {
	r := newRig(t, "quiet", "switchrate=5ms")
	if err := r.Compile([]front.Source{spec(`kinst::vfs_read:0 { printf("x") }`)}, front.Macros{}); err != nil {
		t.Fatal(err)
	}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	r.target.Run(vfsRead)
	if r.out.Len() != 0 {
		t.Errorf("shown at once: %q", r.out.String())
	}
	r.target.Advance(5e6)
	if r.out.String() != "x" {
		t.Errorf("after switchrate: %q", r.out.String())
	}
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
}

// A small buffer loses nothing.
func TestSmallBuffer(t *testing.T) {
	r := newRig(t, "quiet", "bufsize=64")
	guest := func(t *probetest.Target) {
		for range 100 {
			t.Run(vfsRead)
		}
	}
	if err := r.trace(guest, spec(`kinst::vfs_read:0 { printf("x") }`)); err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("x", 100) + "\n"; r.out.String() != want || r.errOut.Len() > 0 {
		t.Errorf("output %q, messages %q", r.out.String(), r.errOut.String())
	}
}

func TestBadThread(t *testing.T) {
	r := newRig(t, "quiet")
	r.setOS(fakeOS{&probes.Fault{Addr: 0x1234}})
	if err := r.trace(func(t *probetest.Target) { t.Run(vfsRead) }, spec(`kinst::vfs_read:0 { trace(pid) }`)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.errOut.String(), "invalid address (0x1234) in action #1") {
		t.Errorf("messages %q", r.errOut.String())
	}
	r = newRig(t, "quiet")
	r.setOS(fakeOS{guestos.ErrNoThread})
	if err := r.trace(func(t *probetest.Target) { t.Run(vfsRead) }, spec(`kinst::vfs_read:0 { printf("[%d%s]", pid, execname) }`)); err != nil {
		t.Fatal(err)
	}
	if r.out.String() != "[0]\n" {
		t.Errorf("output %q, messages %q", r.out.String(), r.errOut.String())
	}
}
