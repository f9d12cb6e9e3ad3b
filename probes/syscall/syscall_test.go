package syscall

import (
	"encoding/binary"
	"strings"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/fbt"
	"trapline/probes/ktext"
	"trapline/probes/patch"
	"trapline/probes/probetest"
)

// Two kernels: one whose functions take the caller's registers in memory, one with a table
// of functions that take the arguments themselves. xor %eax,%eax; ret.
const (
	inMemory = "__x64_sys_read ffffffff81000100 31c0|c3\n__x64_sys_fork ffffffff81000200 c3\nsys_helper ffffffff81000300 c3\n"
	inTable  = "sys_read ffffffff81000100 31c0|c3\nsys_helper ffffffff81000300 c3\nsys_call_table ffffffff81002000 00010081ffffffff\n"
)

func setup(t *testing.T, functions string) (*fbt.Provider, *probetest.Target, *probes.Registry, *[]uint64) {
	t.Helper()
	return setupWith(t, functions, func(*fbt.Config) {})
}

func setupWith(t *testing.T, functions string, also func(*fbt.Config)) (*fbt.Provider, *probetest.Target, *probes.Registry, *[]uint64) {
	t.Helper()
	funcs, err := probetest.ParseFuncs(functions)
	if err != nil {
		t.Fatal(err)
	}
	target := probetest.New(arch.AMD64)
	for _, f := range funcs {
		target.Map(f.Addr, f.Code)
	}
	symbols := probetest.Symbols(funcs)
	args := &[]uint64{}
	var p *fbt.Provider
	set, err := patch.New(target, symbols.File, probes.SinkFunc(func(f *probes.Firing) {
		*args = append(*args, p.Arg(f, 0), p.Arg(f, 1), p.Arg(f, 5), p.Arg(f, 6))
	}))
	if err != nil {
		t.Fatal(err)
	}
	r := probes.NewRegistry()
	c := fbt.Config{Registry: r, Text: &ktext.Text{Set: set, Symbols: symbols, Arch: arch.AMD64, System: guestos.Linux}, Target: target}
	also(&c)
	p, err = New(c)
	if err != nil {
		t.Fatal(err)
	}
	r.Add(p)
	return p, target, r, args
}

func TestConformance(t *testing.T) {
	for _, functions := range []string{inMemory, inTable} {
		p, target, r, _ := setup(t, functions)
		probetest.TestProvider(t, r, p, "syscall::read:")
		if target.Err != nil {
			t.Error(target.Err)
		}
	}
}

func TestNames(t *testing.T) {
	for functions, want := range map[string]string{
		inMemory: "read:entry read:return fork:entry fork:return",
		inTable:  "read:entry read:return",
	} {
		_, _, r, _ := setup(t, functions)
		ps, err := r.Match(probes.Desc{Provider: Name})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, q := range ps {
			got = append(got, q.Function()+":"+q.Name())
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
}

func TestArguments(t *testing.T) {
	for functions, want := range map[string][]uint64{
		inMemory: {1, 2, 6, 0},
		inTable:  {0xffffffff81004000, 12, 0, 0},
	} {
		p, target, r, args := setup(t, functions)
		frame := make([]byte, 160)
		for i, off := range []uint64{112, 104, 96, 56, 72, 64} {
			binary.LittleEndian.PutUint64(frame[off:], uint64(i+1))
		}
		target.Map(0xffffffff81004000, frame)
		target.CPU.SetReg(arch.RDI, 0xffffffff81004000)
		target.CPU.SetReg(arch.RSI, 12)
		target.CPU.SetReg(arch.RAX, 77)
		ps, err := p.Provide(probes.Desc{Provider: Name, Function: "read"})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Enable(ps); err != nil {
			t.Fatal(err)
		}
		target.Run(0xffffffff81000100, 0xffffffff81000102)
		want = append(want, 77, 77, 0, 0)
		if len(*args) != len(want) {
			t.Fatalf("%d, want %d", *args, want)
		}
		for i := range want {
			if (*args)[i] != want[i] {
				t.Errorf("%#x, want %#x", *args, want)
				break
			}
		}
	}
}

// resized is a symbol table in which every table has the same size.
type resized struct {
	ktext.Symbols
	size uint64
}

func (r resized) Lookup(name string) []kernel.Symbol {
	all := r.Symbols.Lookup(name)
	for i := range all {
		all[i].Size = r.size
	}
	return all
}

// The size of the table is what the image says: one that cannot be read is not used.
func TestTableSize(t *testing.T) {
	for size, want := range map[uint64]int{8: 1, 7: 0, 0: 0, 1 << 20: 0, 1 << 63: 0, 1<<64 - 1: 0} {
		_, _, r, _ := setupWith(t, inTable, func(c *fbt.Config) { c.Text.Symbols = resized{c.Text.Symbols, size} })
		d, err := probes.ParseDesc("syscall:::entry")
		if err != nil {
			t.Fatal(err)
		}
		if ps, _ := r.Match(d); len(ps) != want {
			t.Errorf("of %d bytes: %d system calls, want %d", size, len(ps), want)
		}
	}
}
