package tracetest_test

import (
	"debug/elf"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"trapline/tracetest"
)

// What the package's comment says of C functions: they are this program's, in place of libraries'.
func TestInterposed(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("tracetest.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gettimeofday", "mmap64", "qemu_clock_get_ns"} {
		if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == name && s.Section != elf.SHN_UNDEF }) {
			t.Errorf("the program has no %s of its own", name)
		}
		if !strings.Contains(string(text), name) {
			t.Errorf("the package's comment does not name %s", name)
		}
	}
}

// What it says of programs: they act on the host if they are allowed to, which they can do themselves.
func TestDestructive(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const program = `BEGIN { system("echo from the host"); exit(0); }`
	for _, c := range []struct {
		pragma string
		flags  []string
		ran    bool
	}{
		{"", nil, false},
		{"", []string{"-w"}, true},
		{"#pragma D option destructive\n", nil, true},
	} {
		r, err := tracetest.Trace{Command: "true", Program: c.pragma + program, Flags: c.flags}.Run(t.Context())
		ran := strings.Contains(r.Stdout, "from the host")
		if ran != c.ran || ran == errors.Is(err, tracetest.ErrTrace) {
			t.Errorf("%q %q: %v, printed %q", c.pragma, c.flags, err, r.Stdout)
		}
	}
}
