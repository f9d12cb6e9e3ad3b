//go:build linuximage

package kernel_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"trapline/kernel"
)

func openLinux(t *testing.T) *kernel.Image {
	t.Helper()
	path := os.Getenv("TRAPLINE_VMLINUX")
	if path == "" {
		t.Fatal("TRAPLINE_VMLINUX does not name a vmlinux")
	}
	img, err := kernel.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	return img
}

// The symbols of a whole kernel cost little time and memory.
func TestLinuxSymtabCost(t *testing.T) {
	rss := residentKB(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	img := openLinux(t)
	funcs := len(img.Symtab().Funcs())
	parsed := time.Since(start)
	img.Symtab().Lookup("vfs_read")
	indexed := time.Since(start)
	runtime.ReadMemStats(&after)
	grown := residentKB(t) - rss
	t.Logf("%d functions: parsed in %v, indexed by name in %v, %d KB allocated, RSS +%d KB",
		funcs, parsed, indexed, (after.TotalAlloc-before.TotalAlloc)>>10, grown)
	if grown > 60<<10 {
		t.Errorf("RSS grew by %d KB, more than 60 MB", grown)
	}
}

func residentKB(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kb int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kb); n == 1 {
			return kb
		}
	}
	t.Fatal("no VmRSS in /proc/self/status")
	return 0
}

// Every symbol of nm is found by name, at its address and with its size, and the
// functions with a size are nm's.
func TestLinuxSymbolsAgainstNM(t *testing.T) {
	img := openLinux(t)
	tab := img.Symtab()
	out, err := exec.Command("nm", "-S", "--defined-only", img.Name()).Output()
	if err != nil {
		t.Fatal(err)
	}
	seen, bad := 0, 0
	for line := range strings.Lines(string(out)) {
		seen++
		if msg := checkLine(tab, line); msg != "" {
			t.Error(msg)
			bad++
		}
		if bad == 20 {
			t.Fatal("and so on")
		}
	}
	if seen < 50000 {
		t.Errorf("nm listed %d symbols only", seen)
	}
}

// checkLine compares one line of nm -S: address, size if any, kind, name.
func checkLine(tab *kernel.Symtab, line string) string {
	f := strings.Fields(line)
	var want kernel.Symbol
	fmt.Sscanf(f[0], "%x", &want.Addr)
	if len(f) == 4 {
		fmt.Sscanf(f[1], "%x", &want.Size)
	}
	if len(f) < 3 || strings.HasPrefix(f[len(f)-1], "$") {
		return ""
	}
	kind, name := f[len(f)-2], f[len(f)-1]
	i := slices.IndexFunc(tab.Lookup(name), func(s kernel.Symbol) bool {
		return s.Addr == want.Addr && (s.Label || s.Size == want.Size)
	})
	if i < 0 {
		return fmt.Sprintf("nm has %q, Lookup %v", line, tab.Lookup(name))
	}
	got := tab.Lookup(name)[i]
	if isText := strings.ContainsAny(kind, "tTwW"); isText && want.Size > 0 && !got.Func && kind != "w" && kind != "W" {
		return fmt.Sprintf("%q is not a function: %+v", line, got)
	}
	if got.Func && want.Size > 0 {
		if at, ok := tab.At(want.Addr); !ok || at.Addr != want.Addr {
			return fmt.Sprintf("At(%#x) = %+v, not %s", want.Addr, at, name)
		}
	}
	return ""
}

// The functions that the tests of probing use are there, with sizes.
func TestLinuxNames(t *testing.T) {
	tab := openLinux(t).Symtab()
	for _, name := range []string{
		"vfs_read", "do_syscall_64", "entry_SYSCALL_64", "exc_page_fault", "asm_exc_page_fault",
		"error_entry", "__schedule", "__switch_to_asm", "finish_task_switch*", "memcpy",
		"copy_user_*", "clear_page_*", "_raw_spin_lock_irqsave", "do_exit", "default_idle",
		"do_int3", "exc_int3", "__x64_sys_*", "asm_sysvec_apic_timer_interrupt",
		"native_irq_return_iret", "entry_SYSCALL_64_after_hwframe", "ftrace_ops_list_func",
	} {
		found := tab.Glob(name)
		if len(found) == 0 {
			t.Errorf("no function %s; nearest: %q", name, tab.Nearest(name, 3))
		}
		for _, s := range found {
			if !s.Func || s.Size == 0 {
				t.Errorf("%s: %+v", name, s)
			}
		}
		t.Logf("%s: %d, first %+v", name, len(found), found[:min(1, len(found))])
	}
	start := time.Now()
	if got := tab.Nearest("vfs_raed", 3); len(got) == 0 || got[0] != "vfs_read" {
		t.Errorf("nearest to vfs_raed: %q", got)
	}
	t.Logf("Nearest took %v", time.Since(start))
}

// Functions in order of address do not overlap, but for a few that assembly nests.
func TestLinuxFuncsOrdered(t *testing.T) {
	img := openLinux(t)
	funcs := img.Symtab().Funcs()
	nested := 0
	for i := 1; i < len(funcs); i++ {
		a, b := funcs[i-1], funcs[i]
		if a.Addr >= b.Addr {
			t.Fatalf("%v does not come before %v", a, b)
		}
		if a.Addr+a.Size > b.Addr {
			t.Logf("%s is inside %s", b.Name, a.Name)
			nested++
		}
	}
	if nested > 60 {
		t.Errorf("%d of %d functions overlap", nested, len(funcs))
	}
	t.Logf("%s: %d functions; build ID %s", img.Banner("linux_banner"), len(funcs), img.BuildID())
}
