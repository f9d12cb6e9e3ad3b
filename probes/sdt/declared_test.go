package sdt

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/ktext"
	"trapline/probes/patch"
	"trapline/probes/probetest"
)

// A kernel of FreeBSD's kind with two functions that share a probe, one that calls for six arguments,
// and one that nothing calls. read's code for the tracer ends in a jump.
//
//	read:  the place; ret; mov $7,%edi; mov %rbx,%rsi; jmp sdt_probe
//	write: the place; ret; call sdt_probe6; jmp behind the place
const declaring = `
read                            ffffffff81000100 0f1f440000|c3|bf07000000|4889de|e9ed000000
write                           ffffffff81000180 0f1f440000|c3|e885000000|ebf8
sdt_probe                       ffffffff81000200 c3
sdt_probe6                      ffffffff81000210 c3
sdt_probes_enabled              ffffffff81003000 00
lockstat_enabled                ffffffff81003001 00
__start_set_sdt_providers_set   ffffffff81002000 00
__stop_set_sdt_providers_set    ffffffff81002010 00
__start_set_sdt_probes_set      ffffffff81002040 00
__stop_set_sdt_probes_set       ffffffff81002058 00
__start_set_sdt_argtypes_set    ffffffff81002080 00
__stop_set_sdt_argtypes_set     ffffffff81002090 00
__start_set_sdt_tracepoint_set  ffffffff81002100 00
__stop_set_sdt_tracepoint_set   ffffffff81002160 00
`

// Addresses of what the sets of declaring point to.
const (
	vfsAt      = 0xffffffff81004000
	lockstatAt = 0xffffffff81004100
	bothAt     = 0xffffffff81004200
	sixAt      = 0xffffffff81004300
	neverAt    = 0xffffffff81004400
	firstArgAt = 0xffffffff81004500
	thirdArgAt = 0xffffffff81004600
	textAt     = 0xffffffff81005000
)

// A teller writes a kernel's memory.
type teller struct {
	target *probetest.Target
	next   uint64 // for texts
}

func (m *teller) words(at uint64, words ...uint64) {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	m.target.Map(at, b)
}

func (m *teller) text(s string) uint64 {
	at := textAt + m.next
	m.target.Map(at, append([]byte(s), make([]byte, 16)...))
	m.next += 64
	return at
}

func (m *teller) probe(at, provider uint64, module, function, name string) {
	m.words(at, 1, provider, 0, 0, 0, 0, 0, 0, m.text(module), m.text(function), m.text(name))
}

func declaringTarget(funcs []probetest.Func) *probetest.Target {
	m := teller{target: probetest.New(arch.AMD64)}
	for _, f := range funcs {
		m.target.Map(f.Addr, f.Code)
	}
	m.words(0xffffffff81002000, vfsAt, lockstatAt)
	m.words(0xffffffff81002040, bothAt, sixAt, neverAt)
	m.words(0xffffffff81002080, thirdArgAt, firstArgAt)
	m.words(0xffffffff81002100, bothAt, 0xffffffff81000100, 0xffffffff81000106, 0,
		sixAt, 0xffffffff81000180, 0xffffffff81000186, 0, bothAt, 0xffffffff81000180, 0xffffffff81000186, 0)
	m.words(vfsAt, m.text("vfs"))
	m.words(lockstatAt, m.text("lockstat"))
	m.probe(bothAt, vfsAt, "namei", "lookup", "on__entry")
	m.probe(sixAt, lockstatAt, "", "", "six")
	m.probe(neverAt, lockstatAt, "", "", "never")
	m.words(firstArgAt, 0, m.text("struct vnode *"), 0, 0, 0, bothAt)
	m.words(thirdArgAt, 2, m.text("uint8_t *"), m.text("ipinfo_t *"), 0, 0, bothAt)
	return m.target
}

func setupDeclared(t *testing.T) (*probes.Registry, *probetest.Target, *[]probes.Firing, *Tracepoints) {
	t.Helper()
	funcs, err := probetest.ParseFuncs(declaring)
	if err != nil {
		t.Fatal(err)
	}
	target := declaringTarget(funcs)
	symbols := probetest.Symbols(funcs)
	all := &[]probes.Firing{}
	set, err := patch.New(target, symbols.File, probes.SinkFunc(func(f *probes.Firing) { *all = append(*all, *f) }))
	if err != nil {
		t.Fatal(err)
	}
	r := probes.NewRegistry()
	text := &ktext.Text{Set: set, Symbols: symbols, Arch: arch.AMD64, System: guestos.FreeBSD}
	points, err := NewTracepoints(guestos.FreeBSD.Tracepoints, text.Kernel(), nil, arch.AMD64, target.ReadMem)
	if err != nil {
		t.Fatal(err)
	}
	points.Write = target.WriteMem
	for _, name := range points.Providers() {
		p := New(name, r, text, arch.AMD64)
		p.AddTracepoints(points)
		r.Add(p)
	}
	return r, target, all, points
}

func match(t *testing.T, r *probes.Registry, desc string) []*probes.Probe {
	t.Helper()
	d, err := probes.ParseDesc(desc)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := r.Match(d)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

// Probes have the names and the arguments that the kernel declares, those that nothing calls too.
func TestDeclared(t *testing.T) {
	r, _, _, _ := setupDeclared(t)
	var got []string
	for _, q := range match(t, r, ":::") {
		got = append(got, q.Desc().String())
	}
	want := []string{"vfs:namei:lookup:on-entry", "lockstat:kernel:none:six", "lockstat:kernel:none:never"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	p, _ := r.Provider("vfs")
	args, ok := p.(*Provider).Declared(probes.Desc{Provider: "vfs", Name: "on-entry"})
	if want := []ctypes.Arg{{Type: "struct vnode *"}, {}, {Type: "uint8_t *", As: "ipinfo_t *"}}; !ok || !slices.Equal(args, want) {
		t.Errorf("arguments %+v, %v, want %+v", args, ok, want)
	}
}

// The arguments are what the call would get: five, unless it is the call for six.
func TestDeclaredArguments(t *testing.T) {
	r, target, all, _ := setupDeclared(t)
	if err := r.Enable(match(t, r, ":::")); err != nil {
		t.Fatal(err)
	}
	const stack = 0xffffffff81006000
	target.Map(stack-64, make([]byte, 128))
	target.Map(stack, binary.LittleEndian.AppendUint64(nil, 16))
	for i, reg := range []arch.Reg{arch.RSI, arch.RDX, arch.RCX, arch.R8, arch.R9} {
		target.CPU.SetReg(reg, uint64(11+i))
	}
	target.CPU.SetReg(arch.RBX, 10)
	target.CPU.SetReg(arch.RSP, stack)
	target.Run(0xffffffff81000100, 0xffffffff81000180)
	want := map[string][10]uint64{
		"on-entry": {10, 12, 13, 14, 15}, "six": {11, 12, 13, 14, 15, 16},
	}
	if len(*all) != 3 {
		t.Fatalf("%d firings, want 3", len(*all))
	}
	for i, f := range *all {
		w := want[f.Probe.Name()]
		if i > 0 { // of the place that two probes share
			w = want["six"]
		}
		if f.Args != w {
			t.Errorf("%s: %d, want %d", f.Probe.Name(), f.Args, w)
		}
	}
}

// A switch is on while a probe of a provider that needs it is, and is set as soon as it is there.
func TestSwitches(t *testing.T) {
	r, target, _, points := setupDeclared(t)
	state := func() (s [2]byte) {
		if err := target.ReadMem(0xffffffff81003000, s[:]); err != nil {
			t.Fatal(err)
		}
		return s
	}
	vfs, locks := match(t, r, "vfs:::"), match(t, r, "lockstat:::")
	for i, step := range []struct {
		do   func([]*probes.Probe) error
		ps   []*probes.Probe
		want [2]byte
	}{
		{r.Enable, vfs, [2]byte{1, 0}},
		{r.Enable, locks, [2]byte{1, 1}},
		{r.Disable, vfs, [2]byte{1, 1}},
		{r.Disable, locks[:1], [2]byte{1, 1}},
		{r.Disable, locks[1:], [2]byte{0, 0}},
	} {
		if err := step.do(step.ps); err != nil {
			t.Fatal(err)
		}
		if got := state(); got != step.want {
			t.Errorf("step %d: %d, want %d", i, got, step.want)
		}
	}
	write := points.Write
	points.Write = func(uint64, []byte) error { return errors.New("nothing is mapped") }
	if err := r.Enable(vfs); err != nil {
		t.Fatal(err)
	}
	points.Write = write
	target.Run(0xffffffff81000100)
	if got := state(); got != [2]byte{1, 0} {
		t.Errorf("after the first firing: %d", got)
	}
}
