package unicorn

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"trapline/kernel/arch"
)

// Libraries that differ from the known one in a single function, which is put in front
// of it. The engine has to be refused, in one line that says what to do.
var foreign = []struct{ arch, name, source, want, advice string }{
	{"amd64", "C library", `const char *gnu_get_libc_version(void) { return "2.30"; }`,
		"C library is too old: glibc 2.30 (want 2.31 or later", "Debian 11"},
	{"amd64", "version", `unsigned uc_version(unsigned *a, unsigned *b) {
		if (a) *a = 2;
		if (b) *b = 1;
		return 0x02010000;
	}`, "its version is 2.1", Advice},
	{"amd64", "self-modifying code", `void tb_invalidate_phys_page_fast_x86_64(void *uc, void *p, unsigned long a, int n, unsigned long r) {
		(void)uc; (void)p; (void)a; (void)n; (void)r;
	}`, "does not run a page of self-modifying code right", Advice},
	{"amd64", "layout", `int uc_reg_write(void *uc, int reg, const void *v) { (void)uc; (void)reg; (void)v; return 0; }`,
		"registers are not laid out as known", Advice},
	{"arm64", "layout", `int uc_reg_write(void *uc, int reg, const void *v) { (void)uc; (void)reg; (void)v; return 0; }`,
		"registers are not laid out as known", Advice},
	{"amd64", "operations", `#define _GNU_SOURCE
	#include <dlfcn.h>
	#include "host.h"
	void tcg_context_init_x86_64(char *s) {
		((void (*)(char *))dlsym(RTLD_NEXT, "tcg_context_init_x86_64"))(s);
		(*(char ***)(s + TL_TCG_OPERATIONS_AMD64))[4 * 0x49] = "another";
	}`, "operations are not those that are known", Advice},
	{"amd64", "CPU", `static char cs[1 << 20];
	void *qemu_get_cpu_x86_64(void *uc, int i) { (void)uc; (void)i; return cs; }`, "it has no CPU where one is known to be", Advice},
	{"riscv64", "restoring", `int cpu_restore_state_riscv64(void *cs, unsigned long r, int e) { (void)cs; (void)r; (void)e; return 0; }`,
		"does not run a page of code right", Advice},
}

func TestRefuses(t *testing.T) {
	for _, tt := range foreign {
		t.Run(tt.name, func(t *testing.T) {
			lib := build(t, tt.source)
			cmd := exec.Command(os.Args[0], "-test.run=^TestOpens$/^"+tt.arch+"$", "-test.v")
			cmd.Env = append(os.Environ(), "LD_PRELOAD="+lib)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("the engine opens")
			}
			for _, want := range []string{tt.want, tt.advice} {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
		})
	}
}

// TestOpens is also what TestRefuses runs with another library.
func TestOpens(t *testing.T) {
	for _, a := range arch.All {
		t.Run(a.Name, func(t *testing.T) {
			e, err := Open(a, 16*mib, 8*mib, nothing{})
			if err != nil {
				t.Fatal(err)
			}
			e.Close()
		})
	}
}

func build(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	file, lib := filepath.Join(dir, "stub.c"), filepath.Join(dir, "stub.so")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-I.", "-o", lib, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return lib
}
