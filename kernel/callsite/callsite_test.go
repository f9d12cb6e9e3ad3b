package callsite_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"trapline/images/tiny"
	"trapline/kernel/callsite"
)

func TestParse(t *testing.T) {
	for _, test := range []struct{ symbol, want string }{
		{"__dtrace_probe_read__done", "sdt:read-done true"},
		{"__dtrace_probe_hello___read__done", "hello:read-done true"},
		{"__dtrace_probe_x", "sdt:x true"},
		{"__dtrace_probe_", ": false"},
		{"__dtrace_stub", ": false"},
	} {
		provider, name, ok := callsite.Parse(test.symbol)
		if got := fmt.Sprintf("%s:%s %t", provider, name, ok); got != test.want {
			t.Errorf("%s: %s, want %s", test.symbol, got, test.want)
		}
	}
}

// The kernels of tiny are linked, and their calls have been made nops.
func TestLinked(t *testing.T) {
	for _, name := range tiny.Names() {
		data, err := tiny.Kernel(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		sites, err := callsite.Find(f)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range sites {
			names = append(names, s.Provider+":"+s.Name)
			section := f.Sections[s.Section]
			code := data[section.Offset+s.Addr-section.Addr:][:s.Len]
			if !bytes.Equal(code, callsite.Nops(f.Machine)) {
				t.Errorf("%s: at %#x is % x", name, s.Addr, code)
			}
		}
		got := strings.Join(names, " ")
		for _, want := range []string{"test:args-0", "test:args-5", "proc:exit", "sched:off-cpu sched:on-cpu"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %s in %s", name, want, got)
			}
		}
	}
}

// source uses a probe in three functions; of the second compilers could make a jump.
const source = `#include "dtrace_probe.h"
int f(int a) { DTRACE_PROBE(one, a, 2, 3, 4, 5); return a; }
void g(void) { DTRACE_PROVIDER_PROBE(mine, last__call); }
void h(void) { DTRACE_PROBE(one, 5, 4, 3, 2, 1); }
`

// TestRelocatable compiles for each architecture, and looks at what stands at the sites.
func TestRelocatable(t *testing.T) {
	for _, test := range []struct {
		compiler string
		opcode   func(code []byte) bool
	}{
		{"x86_64-linux-gnu-gcc-12", func(c []byte) bool { return c[0] == 0xe8 }},
		{"aarch64-linux-gnu-gcc-12", func(c []byte) bool { return c[3]&0xfc == 0x94 }},
		{"riscv64-linux-gnu-gcc-12", func(c []byte) bool { return c[0]&0x7f == 0x17 && c[4]&0x7f == 0x67 }},
	} {
		t.Run(test.compiler, func(t *testing.T) {
			object := compile(t, test.compiler, source)
			f, err := elf.Open(object)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			sites, err := callsite.Find(f)
			if err != nil || len(sites) != 3 {
				t.Fatalf("%d sites, %v", len(sites), err)
			}
			for i, want := range []string{"sdt:one", "mine:last-call", "sdt:one"} {
				s := sites[i]
				code := make([]byte, s.Len)
				if _, err := f.Sections[s.Section].ReadAt(code, int64(s.Addr)); err != nil {
					t.Fatal(err)
				}
				if s.Provider+":"+s.Name != want || !test.opcode(code) || len(callsite.Nops(f.Machine)) != s.Len {
					t.Errorf("%+v is no call of %s: % x", s, want, code)
				}
			}
		})
	}
}

// A probe's function whose address is taken is not a site.
func TestNoCall(t *testing.T) {
	object := compile(t, "x86_64-linux-gnu-gcc-12", `extern void __dtrace_probe_x(void);
void f(void (*volatile *p)(void)) { *p = __dtrace_probe_x; }
`)
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := callsite.Find(f); err == nil || !strings.Contains(err.Error(), "__dtrace_probe_x is used, but not called") {
		t.Error(err)
	}
}

func compile(t *testing.T, compiler, text string) (object string) {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "probe.c")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	object = filepath.Join(dir, "probe.o")
	out, err := exec.Command(compiler, "-O2", "-ffreestanding", "-fno-pic", "-mcmodel="+models[compiler], "-I../../images/tiny/src", "-c", name, "-o", object).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return object
}

var models = map[string]string{
	"x86_64-linux-gnu-gcc-12": "kernel", "aarch64-linux-gnu-gcc-12": "small", "riscv64-linux-gnu-gcc-12": "medany",
}
