// Package tracetest is for tests, written in Go, of what kernels do.
//
//	func TestMain(m *testing.M) { tracetest.Main(m) }
//
//	func TestForks(t *testing.T) {
//		run := tracetest.Trace{Command: "forks 3", Program: `kinst::sys_fork:0 { @ = count(); }`}
//		result, err := run.Run(t.Context())
//		if err != nil {
//			t.Fatal(err)
//		}
//		tracetest.Golden(t, "testdata/forks.txt", result.Stdout)
//	}
//
// The test's own program is trapline too: Main sees to that, and nothing else has to be
// installed but the emulator's library. Each trace is a process, so tests may run in
// parallel. A trace is what the guest did and does not depend on the host: what it prints
// can be compared with a file, byte for byte.
//
// # What comes with it
//
// The emulator's library is linked into the test's program, and with it C functions that take the
// place of other libraries' in the whole process: the C library's gettimeofday and mmap64,
// qemu_clock_get_ns, and more of what libunicorn exports. For C code of the tests' own, outside of a
// guest, mmap64 does what the C library's does, and so does gettimeofday, but for the time zone,
// which it leaves alone. qemu_clock_get_ns is 0. A test that uses libunicorn, or another library
// with QEMU's code, needs a process of its own. Go's clock and memory are not concerned.
//
// # Programs are to be trusted
//
// A D program may act on the host that runs the tests, with the rights of the tests: system() runs
// commands and freopen() writes files when the program is allowed destructive actions, by the flag
// -w or by its own "#pragma D option destructive". The flags -C and -x cpppath run a preprocessor,
// which includes files. So trace only what you would run as a shell script too.
package tracetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"trapline/cmd/clitest"
	"trapline/cmd/script"
	"trapline/cmd/tracejson"
)

// Main runs a package's tests; call it from TestMain. It ends the process.
func Main(m *testing.M) {
	testscript.Main(m, map[string]func(){"trapline": clitest.Main})
}

// A Trace is a guest, what it runs, and the D program that watches.
type Trace struct {
	Image   string   // a name that trapline image ls shows, or the path of a kernel; "" is tiny/amd64
	Command string   // shell line for the guest's init; "": the guest's boot is traced
	Program string   // in D
	Flags   []string // more flags of trapline dtrace
}

// A Result is what a trace has printed.
type Result struct {
	Stdout string // what D printed, and the command's output
	Stderr string
	Status int // that of exit(n) in D, or 0; otherwise as in 'trapline help'
}

// ErrTrace is wrapped by the error of a trace that could not run to its end.
var ErrTrace = errors.New("trapline dtrace")

func (t Trace) args() []string {
	args := []string{"dtrace", "-q", "-n", t.Program}
	if t.Image != "" {
		args = append(args, "-k", t.Image)
	}
	if t.Command != "" {
		args = append(args, "-c", t.Command)
	}
	return append(args, t.Flags...)
}

// Run traces. A status other than 0 is no error of Run's unless trapline complains: then
// the error wraps ErrTrace and has its last line.
func (t Trace) Run(ctx context.Context) (Result, error) {
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, "trapline", t.args()...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	r := Result{Stdout: stdout.String(), Stderr: stderr.String(), Status: cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case errors.As(err, &exit) && r.Stderr == "":
		return r, nil
	case errors.As(err, &exit):
		lines := strings.Split(strings.TrimSpace(r.Stderr), "\n")
		return r, fmt.Errorf("%w: status %d: %s", ErrTrace, r.Status, lines[len(lines)-1])
	}
	return r, err
}

// Aggregate traces and returns the aggregations of the program, sorted as it prints them.
// Errors are those of Run.
func (t Trace) Aggregate(ctx context.Context) ([]tracejson.Row, error) {
	t.Flags = append([]string{"--format", "json"}, t.Flags...)
	r, err := t.Run(ctx)
	if err != nil {
		return nil, err
	}
	return tracejson.Read(strings.NewReader(r.Stdout))
}

// updating reports whether golden files are to be rewritten. It is not a flag, for tests often
// have one for this purpose already.
func updating() bool { return os.Getenv("TRACETEST_UPDATE") != "" }

// Golden fails the test if have is not what the file holds. With TRACETEST_UPDATE=1 in the
// environment it writes the file instead.
func Golden(t testing.TB, file, have string) {
	t.Helper()
	if updating() {
		if err := os.WriteFile(file, []byte(have), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (TRACETEST_UPDATE=1 writes it)", err)
	}
	if diff := cmp.Diff(string(want), have); diff != "" {
		t.Errorf("%s (-want +have; TRACETEST_UPDATE=1 rewrites it):\n%s", file, diff)
	}
}

// Scripts runs the test scripts of a directory, each as a subtest: those of trapline
// script. With TRACETEST_UPDATE=1 in the environment their golden text is rewritten.
func Scripts(t *testing.T, dir string) {
	p := script.Params()
	p.Dir = dir
	p.UpdateScripts = updating()
	p.Setup = func(env *testscript.Env) error {
		script.UseCache(env)
		return nil
	}
	testscript.Run(t, p)
}
