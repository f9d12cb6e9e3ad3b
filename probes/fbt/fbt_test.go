package fbt

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/ktext"
	"trapline/probes/patch"
	"trapline/probes/probetest"
)

// A rig is a provider over the functions of testdata/functions.txt.
type rig struct {
	*Provider
	t      *testing.T
	target *probetest.Target
	funcs  probetest.Symbols
	fired  []string
}

func newRig(t *testing.T, policy *guestos.Policy) *rig {
	t.Helper()
	text, err := os.ReadFile("testdata/functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	funcs, err := probetest.ParseFuncs(string(text))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, target: probetest.New(arch.AMD64)}
	for _, f := range funcs {
		r.target.Map(f.Addr, f.Code)
		if f.Name != "-" {
			r.funcs = append(r.funcs, f)
		}
	}
	set, err := patch.New(r.target, r.funcs.File, r)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Registry: probes.NewRegistry(), Target: r.target,
		Text: &ktext.Text{Set: set, Symbols: r.funcs, Arch: arch.AMD64, Policy: policy},
	}
	c.Types = func(module string) []Typed {
		if !c.Text.InKernel(module) {
			return nil
		}
		return []Typed{{c.Text.Kernel(), protos{}}}
	}
	if r.Provider, err = New(c); err != nil {
		t.Fatal(err)
	}
	c.Registry.Add(r)
	return r
}

// Fire remembers a firing: "tail:return 5 0 ffffffff81000100", with the arguments of a
// return.
func (r *rig) Fire(f *probes.Firing) {
	text := f.Probe.Function() + ":" + f.Probe.Name()
	if !isEntry(f.Probe) {
		text += fmt.Sprintf(" %d %d %x", int64(r.Arg(f, 0)), r.Arg(f, 1), r.Arg(f, 2))
	}
	r.fired = append(r.fired, text)
}

// provide gives the names of the probes of a description, or the error.
func (r *rig) provide(desc string) string {
	r.t.Helper()
	d, err := probes.ParseDesc(desc)
	if err != nil {
		r.t.Fatal(err)
	}
	ps, err := r.Provide(d)
	if err != nil {
		return err.Error()
	}
	var names []string
	for _, q := range ps {
		names = append(names, q.Function()+":"+q.Name())
	}
	return strings.Join(names, " ")
}

// enable switches on all probes of descriptions.
func (r *rig) enable(descs ...string) []*probes.Probe {
	r.t.Helper()
	var all []*probes.Probe
	for _, desc := range descs {
		d, _ := probes.ParseDesc(desc)
		ps, err := r.Provide(d)
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, ps...)
	}
	if err := r.Registry.Enable(all); err != nil {
		r.t.Fatal(err)
	}
	return all
}

func (r *rig) addr(place string) uint64 {
	name, off, _ := strings.Cut(place, "+")
	i := slices.IndexFunc(r.funcs, func(f probetest.Func) bool { return f.Name == name })
	n := 0
	if off != "" {
		fmt.Sscan(off, &n)
	}
	return r.funcs[i].Addr + uint64(n)
}

// run lets the CPU come to places, "plain+2", and returns what has fired.
func (r *rig) run(places ...string) string {
	r.fired = nil
	for _, place := range places {
		r.target.Run(r.addr(place))
	}
	return strings.Join(r.fired, ", ")
}

// protos are the types of two functions.
type protos struct{}

func (protos) Function(name string) (*ctypes.Type, bool) {
	long, file := ctypes.LongType, ctypes.PointerTo(ctypes.Incomplete(ctypes.Struct, "file"))
	pair := &ctypes.Type{Kind: ctypes.Struct, Name: "pair", Size: 16}
	switch name {
	case "plain":
		return ctypes.FuncOf(long, []*ctypes.Type{file, long}, false), true
	case "tail":
		return ctypes.FuncOf(ctypes.VoidType, []*ctypes.Type{file, pair, long}, false), true
	}
	return nil, false
}

func TestConformance(t *testing.T) {
	for _, desc := range []string{"fbt::tail:", "fbt:vmlinux:t*:return", "fbt:::entry", "::split:return", "fbt:kernel:alias_a:entry", ":::"} {
		t.Run(desc, func(t *testing.T) {
			r := newRig(t, nil)
			probetest.TestProvider(t, r.Registry, r, desc)
			if r.target.Err != nil {
				t.Error(r.target.Err)
			}
			if n := len(r.target.Breaks()); n != 0 {
				t.Errorf("%d breakpoints left", n)
			}
		})
	}
}

func TestProvide(t *testing.T) {
	for _, c := range []struct {
		desc   string
		policy *guestos.Policy
		want   string
	}{
		{"fbt::plain:", nil, "plain:entry plain:return"},
		{"fbt::plain:entry", nil, "plain:entry"},
		{"fbt::plain:r*", nil, "plain:return"},
		{"fbt:kernel:plain:return", nil, "plain:return"},
		{"::plain:return", nil, "plain:return"},
		{"fbt::sys_a:", nil, "sys_a:entry sys_a:return"},
		{"fbt::alias_a:", nil, "alias_a:entry alias_a:return"},
		{"fbt::forever:", nil, "forever:entry"},
		{"fbt::gate:", nil, "gate:return"},
		{"fbt::bad:", nil, "bad:entry"},
		{"fbt::s*:return", nil, "split:return sys_a:return"},
		{"fbt::*thunk*:", nil, "thunked:entry thunked:return"},
		{"fbt::nosuch*:entry", nil, ""},
		{"fbt:ext4*:plain:entry", nil, ""},
		{"::nosuch:entry", nil, ""},
		{":::BEGIN", nil, ""},
		{"kinst::plain:", nil, "plain:entry plain:return"}, // who asks sees to the provider

		{"fbt::plian:entry", nil, `no function "plian" in vmlinux (nearest: plain, tail, maybe)`},
		{"fbt:ext4:plain:entry", nil, `no module "ext4": name its file with --module (the kernel itself is "vmlinux")`},
		{"fbt::plain:0", nil, `fbt has no probe "0" (only entry and return)`},
		{"fbt::forever:return", nil, "forever has no return: no instruction leaves it"},
		{"fbt::narrow:return", nil, "narrow has no return: processors disagree on what a branch with a 16-bit operand size does"},
		{"fbt::gate:entry", nil, "the entry of gate cannot be traced: a software interrupt saves the address of the next instruction, which would be the trampoline's"},
		{"fbt::bad:return", nil, "bad has no return: decode the instruction at offset 1: no such instruction"},
		{"fbt::split.cold:entry", nil, "split.cold is a piece of split: its returns are those of split"},
		{"fbt::__x86_return_thunk:entry", nil, "__x86_return_thunk is not a function: it stands for one instruction"},

		{"fbt::plain:", guestos.FreeBSDPolicy, "plain:entry plain:return"},
		{"fbt::sys_a:entry", guestos.FreeBSDPolicy, "the entry of sys_a cannot be traced: the function has no push %rbp"},
	} {
		r := newRig(t, c.policy)
		if got := r.provide(c.desc); got != c.want {
			t.Errorf("%s, policy %v:\n%s\nwant\n%s", c.desc, c.policy, got, c.want)
		}
	}
}

// TestFire sends the CPU to places with registers set, and looks at what fires.
func TestFire(t *testing.T) {
	const plain, zero = 0xffffffff81000100, 1 << 6
	for _, c := range []struct {
		function   string
		rax, flags uint64
		places     string
		want       string
	}{
		{"plain", 7, 0, "plain plain+2", "plain:entry, plain:return 2 7 0"},
		{"tail", 7, 0, "tail tail+4", "tail:entry, tail:return 4 7 0"},
		{"tail", 7, 0, "tail tail+5", "tail:entry, tail:return 5 0 ffffffff81000100"},
		{"maybe", 7, 0, "maybe+2", "maybe:return 2 0 ffffffff81000100"},
		{"maybe", 7, zero, "maybe+2 maybe+8", "maybe:return 8 7 0"},
		{"table", plain, 0, "table", "table:entry, table:return 0 0 ffffffff81000100"},
		{"table", 0xffffffff81000402, 0, "table table+2", "table:entry, table:return 2 18446744071578846210 0"},
		{"split", 0, 0, "split+2 split.cold+2 split+8", "split:return 8 0 0"},
		{"split", 3, 0, "split.cold+7", "split:return 263 3 0"},
		{"again", 0, 0, "again again+2 again", "again:entry, again:return 2 0 ffffffff81000700, again:entry"},
		{"again", 5, zero, "again again+2 again+4", "again:entry, again:return 4 5 0"},
		{"thunked", 9, 0, "thunked+1", "thunked:return 1 9 0"},
		{"viarax", plain, 0, "viarax+1", "viarax:return 1 0 ffffffff81000100"},
		{"viarax", 0xffffffff81000b01, 0, "viarax+1", ""},
		{"maybevia", plain, 0, "maybevia+2", "maybevia:return 2 0 ffffffff81000100"},
		{"maybevia", plain, zero, "maybevia+2", ""},
		{"aside", 4, 0, "aside+1 aside+6", "aside:return 6 4 0"},
		{"sys_a", 4, 0, "sys_a", "sys_a:entry, sys_a:return 0 4 0"},
	} {
		r := newRig(t, nil)
		r.enable("fbt::"+c.function+":entry", "fbt::"+c.function+":return")
		r.target.CPU.Regs[arch.RAX], r.target.CPU.Regs[arch.RFLAGS] = c.rax, c.flags
		if got := r.run(strings.Fields(c.places)...); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.places, got, c.want)
		}
	}
}

// The guest rewrites text under probes: what was a way out is none, what was none is one.
func TestRewrite(t *testing.T) {
	r := newRig(t, nil)
	ps := r.enable("fbt::tail:return", "fbt::plain:entry")
	steps := []struct {
		code  string // at tail+4
		place string
		want  string
	}{
		{"\xc3\xe9\xf6\xfe\xff\xff", "tail+4", "tail:return 4 0 0"},
		{"\x90\xe9\xf6\xfe\xff\xff", "tail+4", ""},                                 // nop in place of ret
		{"\x90\x90\x90\x90\x90\xc3", "tail+5", ""},                                 // and in place of jmp, ret behind it
		{"\x90\x90\x90\x90\x90\xc3", "tail+9", "tail:return 9 0 0"},                //
		{"\xc3\xe9\xf6\xfe\xff\xff", "tail+5", "tail:return 5 0 ffffffff81000100"}, // as it was
	}
	for _, s := range steps {
		r.target.Rewrite(r.addr("tail+4"), []byte(s.code))
		if got := r.run(s.place); got != s.want {
			t.Errorf("% x: %q, want %q", s.code, got, s.want)
		}
	}
	if err := r.Registry.Disable(ps); err != nil {
		t.Fatal(err)
	}
	if n := len(r.target.Breaks()); n != 0 || r.target.Err != nil || r.Text.Set.Err() != nil {
		t.Errorf("%d breakpoints left; %v, %v", n, r.target.Err, r.Text.Set.Err())
	}
}

func TestArguments(t *testing.T) {
	r := newRig(t, nil)
	ps := r.enable("fbt::plain:entry")
	cpu := &r.target.CPU
	for i, reg := range arch.AMD64.Args {
		cpu.Regs[reg] = uint64(10 + i)
	}
	const stack = 0xffff888000001000
	cpu.Regs[arch.RSP] = stack
	var words []byte
	for i := range uint64(4) { // the return address, then arguments
		words = binary.LittleEndian.AppendUint64(words, 15+i)
	}
	r.target.Map(stack, words)
	f := &probes.Firing{Probe: ps[0], CPU: cpu}
	for i := range 9 {
		if got := r.Arg(f, i); got != uint64(10+i) {
			t.Errorf("arg%d is %d", i, got)
		}
	}
	cpu.Regs[arch.RSP] = 0xffff888000100000
	if got := r.Arg(f, 6); got != 0 {
		t.Errorf("arg6 on a stack that is not mapped is %d", got)
	}
}

func TestArgTypes(t *testing.T) {
	r := newRig(t, nil)
	for desc, want := range map[string]string{
		"fbt::plain:entry":     "struct file *, long",
		"fbt::plain:return":    "long, long",
		"fbt::tail:entry":      "struct file *", // a structure by value follows
		"fbt::tail:return":     "long",          // it returns nothing
		"fbt::[pt]*[ln]:entry": "struct file *", // what plain and tail have in common
		"fbt::plain:":          "",              // entry and return differ
		"fbt::split:entry":     "",
		"fbt:::entry":          "",
		"fbt:ext4:plain:entry": "",
	} {
		d, _ := probes.ParseDesc(desc)
		var got []string
		for _, typ := range r.ArgTypes(d) {
			got = append(got, typ.String())
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s has %q, want %q", desc, s, want)
		}
	}
}

func TestReport(t *testing.T) {
	r := newRig(t, nil)
	for range 2 {
		r.provide("fbt:::")
	}
	want := []string{
		"fbt: skipped bad: decode the instruction at offset 1: no such instruction",
		"fbt: skipped forever: no instruction leaves it",
		"fbt: skipped gate: a software interrupt saves the address of the next instruction, which would be the trampoline's",
		"fbt: skipped narrow: processors disagree on what a branch with a 16-bit operand size does",
	}
	if got := r.Report(); !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What of the guest is read at a hit.
func TestReads(t *testing.T) {
	r := newRig(t, nil)
	for _, c := range []struct {
		desc, place string
		args        uint16
		want        string
	}{
		{"fbt::plain:entry", "plain", 0, "[]"},
		{"fbt::plain:entry", "plain", 1<<0 | 1<<2, fmt.Sprint([]arch.Reg{arch.RDI, arch.RDX})},
		{"fbt::plain:entry", "plain", 1<<0 | 1<<6, "memory"},
		{"fbt::plain:return", "plain+2", 1 << 1, fmt.Sprint([]arch.Reg{arch.RAX})},
		{"fbt::plain:return", "plain+1", 0, "memory"}, // nothing leaves there
		{"fbt::tail:return", "tail+5", 7, "[]"},
		{"fbt::thunked:return", "thunked+1", 0, fmt.Sprint([]arch.Reg{arch.RAX})},
		{"fbt::maybe:return", "maybe+2", 0, "memory"},
		{"fbt::table:return", "table", 0, "memory"},
	} {
		q := r.enable(c.desc)[0]
		got := "memory"
		if regs, ok := r.Reads(q, r.addr(c.place), c.args); ok {
			got = fmt.Sprint(regs)
		}
		if got != c.want {
			t.Errorf("%s at %s with arguments %b reads %s, want %s", c.desc, c.place, c.args, got, c.want)
		}
	}
}
