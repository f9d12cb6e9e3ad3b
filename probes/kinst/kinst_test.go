package kinst

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/ktext"
	"trapline/probes/patch"
	"trapline/probes/probetest"
)

// setup makes a provider over the functions of testdata/functions.txt.
func setup(t testing.TB, policy *guestos.Policy) (*Provider, *probetest.Target) {
	t.Helper()
	return setupFor(t, arch.AMD64, "testdata/functions.txt", policy)
}

// setupFor makes a provider over the functions of a file.
func setupFor(t testing.TB, a *arch.Arch, file string, policy *guestos.Policy) (*Provider, *probetest.Target) {
	t.Helper()
	return setupSink(t, a, file, policy, probes.SinkFunc(func(*probes.Firing) {}))
}

// setupSink makes one whose probes fire to sink.
func setupSink(t testing.TB, a *arch.Arch, file string, policy *guestos.Policy, sink probes.Sink) (*Provider, *probetest.Target) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	funcs, err := probetest.ParseFuncs(string(text))
	if err != nil {
		t.Fatal(err)
	}
	target := probetest.New(a)
	for _, f := range funcs {
		target.Map(f.Addr, f.Code)
	}
	symbols := probetest.Symbols(funcs)
	set, err := patch.New(target, symbols.File, sink)
	if err != nil {
		t.Fatal(err)
	}
	p := New(probes.NewRegistry(), &ktext.Text{
		Set: set, Symbols: symbols, Arch: a, Policy: policy,
		Unsafe: func(addr uint64) string {
			if addr == 0xffffffff81000301 {
				return "it is in .noinstr.text"
			}
			return ""
		},
	}, a.Args)
	p.registry.Add(p)
	return p, target
}

func TestConformance(t *testing.T) {
	for _, desc := range []string{"kinst::vfs_read:", "kinst:vmlinux:vfs_*:", "kinst:kernel:twice:3", "kinst::*:*", "kinst::sys_a:1"} {
		t.Run(desc, func(t *testing.T) {
			p, target := setup(t, nil)
			probetest.TestProvider(t, p.registry, p, desc)
			if target.Err != nil {
				t.Error(target.Err)
			}
			if n := len(target.Breaks()); n != 0 {
				t.Errorf("%d breakpoints left", n)
			}
		})
	}
}

// TestParseDesc: which descriptions name one instruction.
func TestParseDesc(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"f:0", "kinst::f:0"},
		{"kinst:m:f:7", "kinst:m:f:7"},
		{"fbt::f:0", ""},
		{"f", ""},
		{"kinst::f:", ""},
		{"a:b:c:d:e", ""},
	} {
		d, err := ParseDesc(c.text)
		if err != nil && c.want != "" || err == nil && d.String() != c.want {
			t.Errorf("%s: %v, %v, want %q", c.text, d, err, c.want)
		}
	}
}

func TestProvide(t *testing.T) {
	tests := []struct {
		desc   string
		policy *guestos.Policy
		want   string // names of the probes, or the error
	}{
		{"kinst::vfs_read:", nil, "vfs_read:0 vfs_read:4 vfs_read:9 vfs_read:10 vfs_read:13 vfs_read:15 vfs_read:16"},
		{"kinst::vfs_read:*", nil, "vfs_read:0 vfs_read:4 vfs_read:9 vfs_read:10 vfs_read:13 vfs_read:15 vfs_read:16"},
		{"kinst::vfs_read:1?", nil, "vfs_read:10 vfs_read:13 vfs_read:15 vfs_read:16"},
		{"kinst:vmlinux:vfs_read:0", nil, "vfs_read:0"},
		{"kinst:kernel:vfs_read:0", nil, "vfs_read:0"},
		{"kinst:k*:vfs_read:0", nil, "vfs_read:0"},
		{"kinst::vfs_*:1", nil, "vfs_write:1"},
		{"kinst::twice:", nil, "twice:0 twice:1 twice:0 twice:2 twice:3 twice:4"},
		{"kinst::twice:3", nil, "twice:3"},
		{"kinst::vfs_write:", nil, "vfs_write:0 vfs_write:1 vfs_write:2 vfs_write:5"},
		{"kinst::alias_a:0", nil, "alias_a:0"},
		{"kinst::*_a:0", nil, "sys_a:0"},
		{"kinst::bad:", nil, "bad:0"},
		{"kinst::nosuch*:", nil, ""},
		{"kinst:ext4*:vfs_read:", nil, ""},

		{"kinst::label:", nil, "label:0 label:1"},
		{"kinst::whole:", nil, "whole:0 whole:1 whole:2"},

		// nothing is made unless it is asked for
		{"kinst:::", nil, ""},
		{"::vfs_read:", nil, ""},
		{"k*::vfs_read:", nil, ""},
		{":::BEGIN", nil, ""},

		{"kinst::vfs_raed:", nil, `no function "vfs_raed" in vmlinux (nearest: vfs_read, vfs_write, twice)`},
		{"kinst:ext4:vfs_read:", nil, `no module "ext4": name its file with --module (the kernel itself is "vmlinux")`},
		{"kinst::vfs_read:1", nil, "offset 1 is inside an instruction of vfs_read: instructions begin at 0 and 4"},
		{"kinst::vfs_read:17", nil, "offset 17 is outside vfs_read, which has 17 bytes"},
		{"kinst::vfs_write:4", nil, "offset 4 is inside an instruction of vfs_write: instructions begin at 3 and 5"},
		{"kinst::gate:1", nil, "offset 1 is inside the last instruction of gate, which begins at 0"},
		{"kinst::vfs_read:entry", nil, `"entry" is not an offset (want decimal bytes from the start of the function)`},
		{"kinst::vfs_read:-1", nil, `"-1" is not an offset (want decimal bytes from the start of the function)`},
		{"kinst::vfs_read:04", nil, `"04" is not an offset (want decimal bytes from the start of the function)`},
		{"kinst::vfs_write:3", nil, "vfs_write+3 cannot be traced: a software interrupt saves the address of the next instruction, which would be the trampoline's"},
		{"kinst::gate:", nil, "nothing of gate can be traced: a software interrupt saves the address of the next instruction, which would be the trampoline's"},
		{"kinst::bad:1", nil, "offset 1 of bad: decode the instruction at offset 1: no such instruction"},

		{"kinst::vfs_write:", guestos.FreeBSDPolicy, "vfs_write:0 vfs_write:5"},
		{"kinst::vfs_write:1", guestos.FreeBSDPolicy, "vfs_write+1 cannot be traced: popf changes the interrupt mask"},
		{"kinst::vfs_write:2", guestos.FreeBSDPolicy, "vfs_write+2 cannot be traced: sti changes the interrupt mask"},
		{"kinst::vfs_read:9", guestos.FreeBSDPolicy, "vfs_read:9"},
		{"kinst::label:", guestos.FreeBSDPolicy, "nothing of label can be traced: the function has no push %rbp"},
		{"kinst::label:0", guestos.FreeBSDPolicy, "label+0 cannot be traced: the function has no push %rbp"},
		{"kinst::vfs_w*:", guestos.FreeBSDPolicy, "vfs_write:0 vfs_write:5"},
		{"kinst::twice:1", guestos.LinuxPolicy, "twice+1 cannot be traced: it is in .noinstr.text"},
		{"kinst::twice:", guestos.LinuxPolicy, "twice:0 twice:0 twice:2 twice:3 twice:4"},
	}
	for _, tt := range tests {
		t.Run(tt.desc+" "+tt.policy.String(), func(t *testing.T) {
			p, _ := setup(t, tt.policy)
			d, err := probes.ParseDesc(tt.desc)
			if err != nil {
				t.Fatal(err)
			}
			ps, err := p.registry.Match(d)
			if got := describe(ps, err); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func describe(ps []*probes.Probe, err error) string {
	if err != nil {
		return strings.ReplaceAll(err.Error(), "\n", `\n`)
	}
	var names []string
	for _, p := range ps {
		names = append(names, p.Function()+":"+p.Name())
	}
	return strings.Join(names, " ")
}

// Two names of one instruction are two probes and one breakpoint.
func TestAlias(t *testing.T) {
	p, target := setup(t, nil)
	var all []*probes.Probe
	for _, name := range []string{"sys_a", "alias_a"} {
		ps, err := p.Provide(probes.Desc{Provider: "kinst", Function: name})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ps...)
	}
	if err := p.registry.Enable(all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 6 || len(target.Breaks()) != 3 {
		t.Errorf("%d probes, %d breakpoints", len(all), len(target.Breaks()))
	}
}

// A symbol that reaches further than another at its address.
func TestLonger(t *testing.T) {
	p, target := setup(t, nil)
	for _, name := range []string{"label", "whole", "label"} {
		ps, err := p.Provide(probes.Desc{Provider: "kinst", Function: name})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]int{"label": 2, "whole": 3}[name]; len(ps) != want {
			t.Errorf("%s: %d probes, want %d", name, len(ps), want)
		}
		if err := p.registry.Enable(ps); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(target.Breaks()); n != 3 || target.Err != nil {
		t.Errorf("%d breakpoints, %v", n, target.Err)
	}
}

func TestReport(t *testing.T) {
	p, _ := setup(t, nil)
	for range 2 {
		if _, err := p.Provide(probes.Desc{Provider: "kinst", Function: "*"}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"kinst: skipped 2, the first at vfs_write+3: a software interrupt saves the address of the next instruction, which would be the trampoline's",
		"kinst: skipped bad: decode the instruction at offset 1: no such instruction",
	}
	if got := p.Report(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func ExampleProvider() {
	var t testing.T
	p, target := setup(&t, nil)
	ps, _ := p.Provide(probes.Desc{Provider: "kinst", Function: "twice", Name: "3"})
	_ = p.registry.Enable(ps)
	for _, b := range target.Breaks() {
		fmt.Printf("%v: %d byte at %#x\n", ps[0].Desc(), b.Len, b.Addr)
	}
	// Output: kinst:vmlinux:twice:3: 1 byte at 0xffffffff81000403
}
