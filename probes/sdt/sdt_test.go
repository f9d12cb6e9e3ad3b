package sdt

import (
	"encoding/binary"
	"fmt"
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

// functions of a kernel with a tracepoint that has a condition, and static probes.
//
//	read:  the site, 5 bytes; ret; its target: test %rdi,%rdi; je behind the site;
//	       mov funcs(__tracepoint_reading),%rax; test %rax,%rax; je behind the site;
//	       mov %rdi,%rsi; mov $5,%edx; call the function for the tracepoint; jmp behind the site
//	write: a site that leads to an instruction that is not known
const functions = `
read                 ffffffff81000100 0f1f440000|c3|4885ff|74fa|488b052e0f0000|4885c0|74ee|4889fe|ba05000000|e8dc000000|ebdf
write                ffffffff81000180 6690|90|90|c3|0f20c0
__traceiter_reading  ffffffff81000200 c3
__traceiter_writing  ffffffff81000210 c3
__tracepoint_reading ffffffff81001000 0000
__tracepoint_writing ffffffff81001100 0000
__start___jump_table ffffffff81002000 00
__stop___jump_table  ffffffff81002030 00
`

// A jump is an entry of the jump table, of jumpSize bytes.
type jump struct{ site, target, key uint64 }

const jumpSize = 16

// table has the sites of the two tracepoints, and one of another key.
var table = []jump{
	{0xffffffff81000180, 0xffffffff81000185, 0xffffffff81001108},
	{0xffffffff81000183, 0xffffffff81000185, 0xffffffff81001200},
	{0xffffffff81000100, 0xffffffff81000106, 0xffffffff81001008 | 2},
}

type types struct{}

func (types) Tagged(ctypes.Kind, string) (*ctypes.Type, bool) { return nil, false }

func (types) Function(name string) (*ctypes.Type, bool) {
	data := ctypes.PointerTo(ctypes.VoidType)
	return ctypes.FuncOf(ctypes.VoidType, []*ctypes.Type{data, data, ctypes.LongType}, false), name == "__traceiter_reading"
}

// A fired is a firing that was seen.
type fired struct {
	name string
	args [3]uint64
}

func setup(t *testing.T) (*Provider, *probes.Registry, *probetest.Target, *[]fired) {
	t.Helper()
	p, r, target, all := setupWith(t, functions, table)
	p.Add(Place{Module: "vmlinux", Name: "twice", Addr: 0xffffffff81000183}, Place{Module: "vmlinux", Name: "twice", Addr: 0xffffffff81000182},
		Place{Module: "vmlinux", Name: "lost", Addr: 0xffffffff81000101})
	return p, r, target, all
}

func setupWith(t *testing.T, functions string, table []jump) (*Provider, *probes.Registry, *probetest.Target, *[]fired) {
	t.Helper()
	funcs, err := probetest.ParseFuncs(functions)
	if err != nil {
		t.Fatal(err)
	}
	target := probetest.New(arch.AMD64)
	for _, f := range funcs {
		target.Map(f.Addr, f.Code)
	}
	for i, j := range table {
		at := 0xffffffff81002000 + uint64(i)*jumpSize
		entry := binary.LittleEndian.AppendUint32(nil, uint32(j.site-at))
		entry = binary.LittleEndian.AppendUint32(entry, uint32(j.target-at-4))
		target.Map(at, binary.LittleEndian.AppendUint64(entry, j.key-at-8))
	}
	symbols := probetest.Symbols(funcs)
	all := &[]fired{}
	var p *Provider
	set, err := patch.New(target, symbols.File, probes.SinkFunc(func(f *probes.Firing) {
		*all = append(*all, fired{f.Probe.Name(), [3]uint64{p.Arg(f, 0), p.Arg(f, 1), p.Arg(f, 9)}})
	}))
	if err != nil {
		t.Fatal(err)
	}
	r := probes.NewRegistry()
	text := &ktext.Text{Set: set, Symbols: symbols, Arch: arch.AMD64}
	points, err := NewTracepoints(guestos.Linux.Tracepoints, text.Kernel(), types{}, arch.AMD64, target.ReadMem)
	if err != nil {
		t.Fatal(err)
	}
	p = New("sdt", r, text, arch.AMD64)
	p.AddTracepoints(points)
	r.Add(p)
	return p, r, target, all
}

func TestConformance(t *testing.T) {
	for _, desc := range []string{"sdt:::", "sdt:vmlinux:read:", "sdt:kernel::twice", "sdt:::reading", "::write:"} {
		t.Run(desc, func(t *testing.T) {
			p, r, target, _ := setup(t)
			probetest.TestProvider(t, r, p, desc)
			if n := len(target.Breaks()); n != 0 || target.Err != nil {
				t.Errorf("%d breakpoints left, %v", n, target.Err)
			}
		})
	}
}

func TestProvide(t *testing.T) {
	for _, test := range []struct{ desc, want string }{
		{"sdt:::", "read:reading write:writing write:twice"},
		{"sdt::read:", "read:reading"},
		{"sdt:::t*", "write:twice"},
		{"sdt:ext4::", `no module "ext4"`},
		{"*:ext4::", ""},
		{"sdt:::readin", `no probe "readin" of sdt (nearest: reading)`},
		{"sdt::write:reading", "no probe sdt::write:reading (nearest: reading)"},
		{"*:::readin", ""},
	} {
		_, r, _, _ := setup(t)
		d, err := probes.ParseDesc(test.desc)
		if err != nil {
			t.Fatal(err)
		}
		ps, err := r.Match(d)
		var got []string
		for _, q := range ps {
			got = append(got, q.Function()+":"+q.Name())
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if text := strings.Join(got, " "); !strings.HasPrefix(text, test.want) || test.want == "" && text != "" {
			t.Errorf("%s: %s, want %s", test.desc, text, test.want)
		}
	}
}

// TestFire: a tracepoint fires with what the call of it would have got, if its condition
// holds; a probe with two places fires at both.
func TestFire(t *testing.T) {
	p, r, target, all := setup(t)
	ps, err := p.Provide(probes.Desc{Provider: "sdt"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Enable(ps); err != nil {
		t.Fatal(err)
	}
	target.CPU.SetReg(arch.RDI, 77)
	target.CPU.SetReg(arch.RSI, 88)
	target.Run(0xffffffff81000100, 0xffffffff81000182, 0xffffffff81000183)
	target.CPU.SetReg(arch.RDI, 0)
	target.Run(0xffffffff81000100, 0xffffffff81000180)
	want := []fired{{"reading", [3]uint64{77, 5}}, {"twice", [3]uint64{77, 88}}, {"twice", [3]uint64{77, 88}}, {"writing", [3]uint64{}}}
	if !slices.Equal(*all, want) {
		t.Errorf("%v, want %v", *all, want)
	}
	report := []string{
		"sdt: skipped lost in read: no instruction begins there",
	}
	if got := p.Report(); !slices.Equal(got, report) {
		t.Errorf("%q", got)
	}
	lost := []string{"sdt: writing fired without arguments: at 0xffffffff81000185: it is not known what the instruction does"}
	if got := p.Lost(); !slices.Equal(got, lost) {
		t.Errorf("%q", got)
	}
}

func TestArgTypes(t *testing.T) {
	for desc, want := range map[string]string{
		"sdt:::reading": "[void * long]", "sdt:::writing": "[]", "sdt:::twice": "[]", "sdt:::": "[]", "sdt:::nosuch": "[]",
	} {
		p, _, _, _ := setup(t)
		d, err := probes.ParseDesc(desc)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.ArgTypes(d)); got != want {
			t.Errorf("%s: %s, want %s", desc, got, want)
		}
	}
}

// asking has a function that asks whether the tracepoint is on and calls another, which asks
// again and calls it; and one that asks, and returns.
const asking = `
ask                  ffffffff81000300 0f1f440000|c3|e835000000|c3
helper               ffffffff81000340 0f1f440000|c3|4889fe|ba09000000|e8adfeffff|ebf0
leave                ffffffff81000380 0f1f440000|c3|c3
__traceiter_reading  ffffffff81000200 c3
__tracepoint_reading ffffffff81001000 0000
__start___jump_table ffffffff81002000 00
__stop___jump_table  ffffffff81002030 00
`

// TestAsking: where a function asks and calls another that asks too, the tracepoint is on for
// both. Where nothing is called before the function returns, it does not fire.
func TestAsking(t *testing.T) {
	const key = 0xffffffff81001008
	p, r, target, all := setupWith(t, asking, []jump{
		{0xffffffff81000300, 0xffffffff81000306, key}, {0xffffffff81000340, 0xffffffff81000346, key}, {0xffffffff81000380, 0xffffffff81000386, key},
	})
	ps, err := p.Provide(probes.Desc{Provider: "sdt"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Enable(ps); err != nil {
		t.Fatal(err)
	}
	const stack = 0xffffffff81005000
	target.Map(stack, make([]byte, 64))
	target.CPU.SetReg(arch.RSP, stack+32)
	target.CPU.SetReg(arch.RDI, 77)
	target.Run(0xffffffff81000300, 0xffffffff81000380)
	if want := []fired{{"reading", [3]uint64{77, 9}}}; !slices.Equal(*all, want) || len(p.Report()) != 0 {
		t.Errorf("%v, want %v; %q", *all, want, p.Report())
	}
}

// TestOtherNames: a name that no tracepoint has, as in BEGIN, does not have them all looked for; one
// that some have does.
func TestOtherNames(t *testing.T) {
	p, _, _, _ := setupWith(t, functions, table)
	for _, c := range []struct {
		name  string
		n     int
		asked bool
	}{{"BEGIN", 0, false}, {"reading", 1, true}} {
		ps, err := p.Provide(probes.Desc{Name: c.name})
		if err != nil || len(ps) != c.n || p.asked != c.asked {
			t.Errorf("%s: %d probes, %v; asked %v; want %d, %v", c.name, len(ps), err, p.asked, c.n, c.asked)
		}
	}
}
