package tracetest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"trapline/tracetest"
)

func TestMain(m *testing.M) { tracetest.Main(m) }

var images = []string{"tiny/amd64", "tiny/arm64", "tiny/riscv64"}

// The same golden file for every architecture.
func TestGolden(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, image := range images {
		trace := tracetest.Trace{Image: image, Command: "forks 3", Program: `kinst::sys_fork:0 { @[execname] = count(); }`}
		result, err := trace.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tracetest.Golden(t, "testdata/forks.txt", result.Stdout)
	}
}

func TestScripts(t *testing.T) {
	tracetest.Scripts(t, "../examples/ci/suite")
}

func TestStatus(t *testing.T) {
	r, err := tracetest.Trace{Program: `BEGIN { exit(7); }`}.Run(t.Context())
	if err != nil || r.Status != 7 {
		t.Error(r, err)
	}
	r, err = tracetest.Trace{Program: `kinst::sys_frok:0`}.Run(t.Context())
	if !errors.Is(err, tracetest.ErrTrace) || r.Status != 1 || !strings.Contains(err.Error(), "nearest: sys_fork") {
		t.Error(r, err)
	}
}

// failures counts the failures that Golden reports.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.n++ }

func TestGoldenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "golden")
	t.Setenv("TRACETEST_UPDATE", "1")
	tracetest.Golden(t, file, "one\n")
	t.Setenv("TRACETEST_UPDATE", "")
	f := &failures{TB: t}
	tracetest.Golden(f, file, "one\n")
	if f.n != 0 {
		t.Error("a text differs from itself")
	}
	tracetest.Golden(f, file, "two\n")
	if text, _ := os.ReadFile(file); f.n != 1 || string(text) != "one\n" {
		t.Errorf("%d failures, and the file holds %q", f.n, text)
	}
}
