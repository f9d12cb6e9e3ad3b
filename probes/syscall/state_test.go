package syscall

import (
	"encoding/binary"
	"slices"
	"testing"

	"trapline/kernel"

	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/fbt"
	"trapline/probes/ktext"
	"trapline/probes/patch"
	"trapline/probes/probetest"
)

// A kernel of FreeBSD's kind: read takes (struct thread *, struct read_args *), nosys serves two calls,
// and nothing leaves _exit.
const counted = `
sys_read     ffffffff81000100 31c0|c3
nosys        ffffffff81000200 31c0|c3
sys__exit    ffffffff81000300 ebfe
sysent       ffffffff81002000 00
syscallnames ffffffff81003000 00
`

// countedTypes are the types of such a kernel.
type countedTypes struct{}

func (countedTypes) Tagged(_ ctypes.Kind, tag string) (*ctypes.Type, bool) {
	sa := &ctypes.Type{Kind: ctypes.Struct, Size: 8, Fields: []ctypes.Field{{Name: "code", Type: ctypes.Named("uint32_t"), Offset: 4}}}
	ret := &ctypes.Type{Kind: ctypes.Union, Size: 8, Fields: []ctypes.Field{{Name: "tdu_retval", Type: ctypes.LongType}}}
	thread := &ctypes.Type{Kind: ctypes.Struct, Name: "thread", Size: 24}
	thread.Fields = []ctypes.Field{{Name: "td_sa", Type: sa}, {Name: "td_uretoff", Type: ret, Offset: 16}}
	return thread, tag == "thread"
}

func (countedTypes) Function(name string) (*ctypes.Type, bool) {
	char := ctypes.Named("char")
	args := &ctypes.Type{Kind: ctypes.Struct, Size: 16, Fields: []ctypes.Field{
		{Name: "fd_l_", Type: ctypes.ArrayOf(char, 0)}, {Name: "fd", Type: ctypes.IntType}, {Name: "fd_r_", Type: ctypes.ArrayOf(char, 4), Offset: 4},
		{Name: "mode", Type: ctypes.Named("uint16_t"), Offset: 8},
	}}
	data := ctypes.PointerTo(ctypes.VoidType)
	return ctypes.FuncOf(ctypes.IntType, []*ctypes.Type{data, ctypes.PointerTo(args)}, false), name == "sys_read"
}

const (
	threadAt = 0xffffffff81008000
	argsAt   = 0xffffffff81008100
)

// setupCounted makes the provider. names are what syscallnames has for the functions of sysent.
func setupCounted(t *testing.T, fire func(p *fbt.Provider, f *probes.Firing)) (*probetest.Target, *probes.Registry) {
	t.Helper()
	funcs, err := probetest.ParseFuncs(counted)
	if err != nil {
		t.Fatal(err)
	}
	target := probetest.New(arch.AMD64)
	for _, f := range funcs {
		target.Map(f.Addr, f.Code)
	}
	for i, c := range []struct {
		name     string
		function uint64
	}{{"read", 0xffffffff81000100}, {"obs_a", 0xffffffff81000200}, {"obs_b", 0xffffffff81000200}, {"_exit", 0xffffffff81000300}, {"read", 0xffffffff81000100}} {
		text := 0xffffffff81009000 + uint64(64*i)
		target.Map(text, append([]byte(c.name), make([]byte, 16)...))
		target.Map(0xffffffff81002000+uint64(32*i), append(binary.LittleEndian.AppendUint64(nil, c.function), make([]byte, 24)...))
		target.Map(0xffffffff81003000+uint64(8*i), binary.LittleEndian.AppendUint64(nil, text))
	}
	symbols := probetest.Symbols(funcs)
	var p *fbt.Provider
	set, err := patch.New(target, symbols.File, probes.SinkFunc(func(f *probes.Firing) { fire(p, f) }))
	if err != nil {
		t.Fatal(err)
	}
	r := probes.NewRegistry()
	text := &ktext.Text{Set: set, Symbols: tables{symbols}, Arch: arch.AMD64, System: guestos.FreeBSD}
	p, err = New(fbt.Config{
		Registry: r, Text: text, Target: target,
		Types: func(string) []fbt.Typed { return []fbt.Typed{{Part: text.Kernel(), Types: countedTypes{}}} },
		Await: func(probes.CPU) guestos.Thread { return guestos.Thread{Key: 1, Addr: threadAt} },
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Add(p)
	return target, r
}

// tables is a symbol table whose tables have their sizes, five calls, and whose objects are no functions.
type tables struct{ ktext.Symbols }

func (s tables) Lookup(name string) (all []kernel.Symbol) {
	all = s.Symbols.Lookup(name)
	for i := range all {
		switch name {
		case "sysent":
			all[i].Size = 5 * 32
		case "syscallnames":
			all[i].Size = 5 * 8
		}
	}
	return all
}

// Every call of the table has two probes, of the module freebsd, each name once.
func TestCountedNames(t *testing.T) {
	_, r := setupCounted(t, func(*fbt.Provider, *probes.Firing) {})
	ps, err := r.Match(probes.Desc{Provider: Name})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, q := range ps {
		got = append(got, q.Module()+":"+q.Function()+":"+q.Name())
	}
	want := []string{
		"freebsd:read:entry", "freebsd:read:return", "freebsd:obs_a:entry", "freebsd:obs_a:return",
		"freebsd:obs_b:entry", "freebsd:obs_b:return", "freebsd:_exit:entry", "freebsd:_exit:return",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The call is the one that the thread is in; its arguments have their types, and its result is an int
// or -1 and an error.
func TestCountedCall(t *testing.T) {
	type fired struct {
		probe      string
		arg0, arg1 int64
		errno      int32
	}
	var got []fired
	target, r := setupCounted(t, func(p *fbt.Provider, f *probes.Firing) {
		errno, _ := p.ErrorOf(f)
		if f.Probe.Name() == "entry" {
			errno = 0
		}
		got = append(got, fired{f.Probe.Function() + " " + f.Probe.Name(), int64(p.Arg(f, 0)), int64(p.Arg(f, 1)), errno})
	})
	ps, err := r.Match(probes.Desc{Provider: Name})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Enable(ps); err != nil {
		t.Fatal(err)
	}
	call := func(number int, result uint64, errno uint64, at ...uint64) {
		target.Map(threadAt, binary.LittleEndian.AppendUint64(make([]byte, 16), result))
		target.Map(threadAt+4, []byte{byte(number), 0, 0, 0})
		target.CPU.SetReg(arch.RAX, errno)
		target.CPU.SetReg(arch.RSI, argsAt)
		target.Run(at...)
	}
	target.Map(argsAt, []byte{0x9c, 0xff, 0xff, 0xff, 1, 2, 3, 4, 0xa4, 0x81, 9, 9, 9, 9, 9, 9})
	call(4, 0x1_0000_0005, 0, 0xffffffff81000100, 0xffffffff81000102)
	call(0, 5, 9, 0xffffffff81000102)
	call(2, 0, 78, 0xffffffff81000200, 0xffffffff81000202)
	call(3, 0, 0, 0xffffffff81000100)
	want := []fired{
		{"read entry", -100, 0x81a4, 0}, {"read return", 5, 5, 0}, {"read return", -1, -1, 9},
		{"obs_b entry", argsRaw, 0, 0}, {"obs_b return", -1, -1, 78},
	}
	got[3].arg0, got[3].arg1 = argsRaw, 0 // nothing is known of the types of nosys
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

const argsRaw = 0
