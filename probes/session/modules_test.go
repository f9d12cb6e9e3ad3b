package session

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes/front"
	"trapline/probes/modules"
	"trapline/probes/probetest"
)

// loader are the functions of a kernel that tell of modules.
const loader = `
vfs_read                 ffffffff81000100 55|c3
do_init_module           ffffffff81000200 55|c3
module_arch_freeing_init ffffffff81000240 55|c3
free_module              ffffffff81000280 55|c3
`

const loaded1, initGone, unloaded = 0xffffffff81000200, 0xffffffff81000240, 0xffffffff81000280

// modularOS is a kernel with the modules that the test names, by the address of what describes them.
type modularOS struct {
	fakeOS
	all map[uint64]guestos.Module
}

func (modularOS) ModuleEvents() (guestos.ModuleEvents, error) {
	return guestos.ModuleEvents{Loaded: "do_init_module", InitGone: "module_arch_freeing_init", Unloaded: "free_module"}, nil
}

func (o modularOS) Modules(guestos.Mem) (all []guestos.Module, err error) {
	for _, m := range o.all {
		if m.Live {
			all = append(all, m)
		}
	}
	return all, nil
}

func (o modularOS) Module(_ guestos.Mem, addr uint64) (guestos.Module, error) {
	return o.all[addr], nil
}

func (modularOS) Unwind(guestos.Mem, []*kernel.Image) {}

// moduleRig is a session whose guest may load a module, which is compiled for it.
type moduleRig struct {
	rig
	image *kernel.Image
	os    modularOS
}

func newModuleRig(t *testing.T, opts ...string) *moduleRig {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test_module.ko")
	cmd := exec.Command("gcc", "-O1", "-ffreestanding", "-fno-pie", "-fcf-protection=none", "-c", "-o", path, "../../kernel/testdata/module.c")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, text)
	}
	image, err := kernel.OpenModule(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { image.Close() })
	funcs, err := probetest.ParseFuncs(loader)
	if err != nil {
		t.Fatal(err)
	}
	r := &moduleRig{rig: rig{target: probetest.New(arch.AMD64)}, image: image, os: modularOS{all: map[uint64]guestos.Module{}}}
	for _, f := range funcs {
		r.target.Map(f.Addr, f.Code)
	}
	symbols := probetest.Symbols(funcs)
	r.Session, err = New(Config{
		Target: r.target, Symbols: symbols, Text: symbols.File, OS: r.os, Stdout: &r.out, Stderr: &r.errOut,
		Modules: []*modules.Module{{Image: image, Debug: modules.Debug{At: image}}},
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

// place puts the module's text at an address, its init's a page behind.
func (r *moduleRig) place(t *testing.T, addr uint64, live bool) {
	t.Helper()
	at := map[string]uint64{".text": addr, ".init.text": addr + 0x1000}
	for name, addr := range at {
		text, _, ok := r.image.Section(name)
		if !ok {
			t.Fatalf("the module has no %s", name)
		}
		r.target.Map(addr, text)
	}
	r.os.all[addr] = guestos.Module{Addr: addr, Name: "test_module", Sections: at, Live: live}
}

// tell runs one of the functions of the kernel that tell of the module at an address.
func (r *moduleRig) tell(event, addr uint64) {
	r.target.CPU.SetReg(arch.RDI, addr)
	r.target.Run(event)
}

// run runs the first instruction of a function of the module.
func (r *moduleRig) run(t *testing.T, function string, arg uint64) {
	t.Helper()
	found := r.image.Symtab().Lookup(function)
	if len(found) != 1 {
		t.Fatalf("%d functions %s", len(found), function)
	}
	r.target.CPU.SetReg(arch.RDI, arg)
	r.target.Run(found[0].Addr)
}

// TestModules: a module comes, its init goes, it goes, and comes back elsewhere.
func TestModules(t *testing.T) {
	r := newModuleRig(t)
	err := r.trace(func(*probetest.Target) {
		for _, addr := range []uint64{0xffffffffc0000000, 0xffffffffc0100000} {
			r.place(t, addr, false)
			r.tell(loaded1, addr)
			r.run(t, "start", 0)
			r.run(t, "work", addr>>20&1)
			r.tell(initGone, addr)
			r.run(t, "work", 7)
			r.tell(unloaded, addr)
			r.target.Run(addr) // nothing of ours is there any more
		}
	}, spec(`fbt:test_module:start:entry { printf("%s:%d", probefunc, id) } fbt:test_module:work:entry { printf("%s %d:%d", probefunc, arg0, id) }`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := lastWords(r.out.String()), "start:7 0:8 7:8 start:7 1:8 7:8"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	told := "dtrace: module test_module is loaded, and has 2 probes\ndtrace: module test_module is unloaded, and with it 1 probe\n"
	if !strings.HasSuffix(r.errOut.String(), told+told) {
		t.Errorf("messages %q", r.errOut.String())
	}
	if n := len(r.target.Breaks()); n != 0 || r.target.Err != nil {
		t.Errorf("%d breakpoints are left, %v", n, r.target.Err)
	}
	if r.Hits() != 6 || r.Watched() != 6 {
		t.Errorf("%d hits, %d of our own; want 6 and 6", r.Hits(), r.Watched())
	}
}

// lastWords are the last words of the lines of firings.
func lastWords(out string) string {
	var words []string
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 3 && f[0] == "0" {
			words = append(words, f[len(f)-1])
		}
	}
	return strings.Join(words, " ")
}

// TestModuleThere: a module that is loaded when tracing begins has its probes at once, without
// those of its init. The cross-check leaves out what is gone at the end.
func TestModuleThere(t *testing.T) {
	r := newModuleRig(t, "crosscheck")
	const addr = 0xffffffffc0000000
	r.place(t, addr, true)
	err := r.trace(func(*probetest.Target) {
		r.run(t, "work", 1)
		r.tell(unloaded, addr)
	}, spec(`fbt:test_module::entry { printf("%s", probefunc) }`))
	if err != nil {
		t.Fatal(err)
	}
	if got := lastWords(r.out.String()); got != "work" {
		t.Errorf("fired: %s", got)
	}
	for _, want := range []string{"is loaded, and has 2 probes", "is unloaded, and with it 2 probes", "cross-check: 1 hits are not compared"} {
		if !strings.Contains(r.errOut.String(), want) {
			t.Errorf("%q is missing in %q", want, r.errOut.String())
		}
	}
}

// TestModuleForeseen: what a program may say of a module that is not loaded.
func TestModuleForeseen(t *testing.T) {
	for _, test := range []struct{ desc, want string }{
		{"fbt:test_module:work:", "work entry, work return"},
		{"fbt:test_module:w*:entry", "work entry"},
		{"kinst:test_module:work:0", "work 0"},
		{"fbt:other::", ""},
		{"sdt:test_module::", ""},
		{"fbt::vfs_read:entry", ""},
	} {
		r := newModuleRig(t, "zdefs")
		if err := r.Compile([]front.Source{spec(test.desc)}, front.Macros{}); err != nil {
			t.Errorf("%s: %v", test.desc, err)
			continue
		}
		var list strings.Builder
		if err := r.List(&list); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(list.String()) {
			if f := strings.Fields(line); f[0] == "-" {
				got = append(got, f[3]+" "+f[4])
			}
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%s: %s, want %s", test.desc, text, test.want)
		}
	}
	r := newModuleRig(t)
	err := r.Compile([]front.Source{spec("fbt:test_module:wrok:entry")}, front.Macros{})
	if err == nil || !strings.Contains(err.Error(), `no function "wrok" in test_module (nearest: work)`) {
		t.Errorf("error %v", err)
	}
}
