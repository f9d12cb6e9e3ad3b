package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStatus has the ends that a guest can come to, with their statuses and messages.
func TestStatus(t *testing.T) {
	hermetic(t)
	const never = "spin 1000000000000"
	count := []string{"dtrace", "-q", "-n", "kinst::sys_*:0 { @ = count(); }"}
	for _, tt := range []struct {
		name   string
		args   []string
		status int
		end    string // of --stats
		stderr string // a pattern of what comes before
	}{
		{"command", []string{"boot", "-q", "-c", "exit 3"}, 3, "poweroff", ""},
		{"image by flag", []string{"boot", "-q", "-k", "tiny/riscv64", "-c", "exit 4"}, 4, "poweroff", ""},
		{"panic", []string{"boot", "-q", "-c", "panic"}, 126, "panic", `trapline: the guest's kernel panicked at [\d.]+ s of its time: --console shows its log\n`},
		{"triple fault", []string{"boot", "-q", "-c", "triple"}, 127, "triple-fault", `trapline: the guest triple-faulted at [\d.]+ s of its time\n`},
		{"reboot", []string{"boot", "-q", "-c", "reboot"}, 1, "reboot", `trapline: the guest ended \(reboot\) before its command did\n`},
		{"until", []string{"boot", "-q", "--until", "0.1", "-c", never}, 124, "limit", `trapline: the guest was stopped at 0.100000 s of its time: limit reached\n`},
		{"timeout", []string{"boot", "-q", "--timeout", "0.1", "-c", never}, 124, "limit", `trapline: the guest was stopped at [\d.]+ s of its time: limit reached\n`},
		{"traced command", append(count, "-c", "exit 3"), 0, "poweroff", `dtrace: the command ended with status 3\n`},
		{"traced panic", append(count, "-c", "panic"), 126, "panic", `trapline: the guest's kernel panicked .*\n`},
		{"traced limit", append(count, "--until", "0.1", "-c", never), 124, "limit", `trapline: the guest was stopped at 0.100000 s .*\n`},
		{"limit before", append(count, "--until", "0.001", "-c", never), 124, "limit", `trapline: the guest was stopped at 0.001000 s .*\n`},
		{"exit", []string{"dtrace", "-q", "-c", never, "-n", "tick-1ms { exit(7) }"}, 7, "stopped", ""},
		{"exit in BEGIN", []string{"dtrace", "-q", "-n", "BEGIN { exit(256) }"}, 0, "stopped", ""},
	} {
		got := run(append(tt.args, "--stats")...)
		want := regexp.MustCompile("^" + tt.stderr + "end=" + tt.end + ` clock=\d+ virtual=[\d.]+ wall=[\d.]+ hits=\d+ state=sha256:[0-9a-f]{64}` + "\n$")
		if got.status != tt.status || !want.MatchString(got.stderr) {
			t.Errorf("%s: status %d, want %d; stderr %q", tt.name, got.status, tt.status, got.stderr)
		}
		if strings.HasPrefix(tt.name, "traced") && !regexp.MustCompile(`\n +\d+\n$`).MatchString(got.stdout) {
			t.Errorf("%s: no aggregation: %q", tt.name, got.stdout)
		}
	}
}

// state is the part of the line of --stats that two runs must have in common.
func state(r result) string {
	return regexp.MustCompile(` wall=[\d.]+ hits=\d+`).ReplaceAllString(r.stderr, "")
}

// Two runs are the same, and so is one with probes.
func TestTwice(t *testing.T) {
	hermetic(t)
	boot := []string{"boot", "-q", "--stats", "-c", "forks 3; awkward"}
	trace := []string{"dtrace", "-q", "--stats", "-c", "forks 3; awkward", "-x", "crosscheck", "-n", "kinst::sys_*: { @[probefunc, probename] = count(); }"}
	a, b, c, d := run(boot...), run(boot...), run(trace...), run(trace...)
	if a.stdout != b.stdout || state(a) != state(b) {
		t.Errorf("two boots: %+v, %+v", a, b)
	}
	if c.stdout != d.stdout || state(c) != state(d) || c.status != 0 {
		t.Errorf("two traces: %+v, %+v", c, d)
	}
	if state(a) != state(c) {
		t.Errorf("with probes %s, without %s", c.stderr, a.stderr)
	}
}

// interrupter interrupts the program when it hears from the guest.
type interrupter struct {
	bytes.Buffer
	done bool
}

func (w *interrupter) Write(p []byte) (int, error) {
	if !w.done {
		w.done = true
		syscall.Kill(os.Getpid(), syscall.SIGINT)
		time.Sleep(50 * time.Millisecond) // the signal takes its way through another goroutine
	}
	return w.Buffer.Write(p)
}

// An interrupt is a good end of a trace, but not of a boot.
func TestInterrupt(t *testing.T) {
	hermetic(t)
	const line = "echo up; spin 1000000000000"
	for _, tt := range []struct {
		args   []string
		status int
		stdout string
	}{
		{[]string{"boot", "-q", "--stats", "-c", line}, 130, "up\n"},
		{[]string{"dtrace", "-q", "--stats", "-c", line, "-n", `kinst::sys_write:0 { @ = count(); } END { printf("bye"); }`}, 0, "up\nbye\n                1\n"},
	} {
		var stdout interrupter
		var stderr bytes.Buffer
		status := mainIn(nil, tt.args, nil, &stdout, &stderr)
		if status != tt.status || stdout.String() != tt.stdout || !strings.HasPrefix(stderr.String(), "end=interrupted ") {
			t.Errorf("%q: status %d, stdout %q, stderr %q", tt.args, status, stdout.String(), stderr.String())
		}
	}
}

// A guest that waits for its timer again and again, and says nothing, hangs; unless it may.
func TestSilence(t *testing.T) {
	hermetic(t)
	defer func(n uint64) { longestSilence = n }(longestSilence)
	longestSilence = 1e9
	if got := run("boot", "-q", "-c", "sleep 5000"); got.status != 125 ||
		!strings.HasSuffix(got.stderr, " s of its time: it has said nothing for 1 s and only waits; --until lets it\n") {
		t.Errorf("%+v", got)
	}
	if got := run("boot", "-q", "--until", "2", "-c", "sleep 5000"); got.status != 124 {
		t.Errorf("with --until: %+v", got)
	}
	if got := run("boot", "-q", "-c", "sleep 900; echo a; sleep 900; echo b"); got.status != 0 || got.stdout != "a\nb\n" {
		t.Errorf("one that says something: %+v", got)
	}
}

// What is given to the guest reaches it, and what it says goes where it should.
func TestStreams(t *testing.T) {
	hermetic(t)
	if got := run("boot", "-q", "-c", "echo out; exit 0"); got != (result{0, "out\n", ""}) {
		t.Errorf("quiet: %+v", got)
	}
	if got := run("boot", "-q", "--console", "--append", "hello=1", "-c", "echo out"); got.stdout != "out\n" || !strings.Contains(got.stderr, "command line: hello=1\n") {
		t.Errorf("console on stderr: %+v", got)
	}
	if got := run("boot", "-c", "echo out"); got.stderr != "" || !strings.Contains(got.stdout, "\nout\n") || !strings.Contains(got.stdout, "tiny kernel") {
		t.Errorf("console on stdout: %+v", got)
	}
}

// Macro arguments may stand between flags, and look like them after --.
func TestArguments(t *testing.T) {
	hermetic(t)
	const d = `BEGIN { printf("%d %s %s", $1, $$2, $$0); exit(0); }`
	for _, args := range [][]string{
		{"-q", "-n", d, "5", "--", "-x"},
		{"5", "-n", d, "-q", "--", "-x"},
		{"-qn", d, "--", "5", "-x"},
	} {
		if got := run(append([]string{"dtrace"}, args...)...); got != (result{0, "5 -x dtrace\n", ""}) {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// -o appends.
func TestOutput(t *testing.T) {
	hermetic(t)
	file := filepath.Join(t.TempDir(), "trace")
	for range 2 {
		if got := run("dtrace", "-q", "-o", file, "-c", "echo out", "-n", `END { printf("end") }`); got != (result{0, "out\n", ""}) {
			t.Errorf("%+v", got)
		}
	}
	if text, err := os.ReadFile(file); string(text) != "end\nend\n" {
		t.Errorf("%q, %v", text, err)
	}
	if got := run("dtrace", "-q", "-o", "/dev/full", "-c", "echo out", "-n", `END { printf("end") }`); got.status != 1 || got.stderr != "trapline: writing the trace: write /dev/full: no space left on device\n" {
		t.Errorf("full disk: %+v", got)
	}
}

// -l goes on after what matches nothing, and ends with an error then.
func TestList(t *testing.T) {
	hermetic(t)
	const head = "   ID   PROVIDER            MODULE                          FUNCTION NAME\n"
	const fork = "    4      kinst           vmlinux                          sys_fork 0\n"
	for _, tt := range []struct {
		args   []string
		status int
		stdout string
		stderr string
	}{
		{[]string{"-n", "kinst::sys_fork:0"}, 0, head + fork, ""},
		{[]string{"-P", "kinst"}, 1, head, "dtrace: invalid probe specifier kinst: probe description kinst::: does not match any probes: kinst makes probes when it and a function are named, as in kinst::FUNCTION:\n"},
		{[]string{"-n", "nosuch", "-n", "kinst::sys_fork:0"}, 1, head + fork, "dtrace: invalid probe specifier nosuch: probe description :::nosuch does not match any probes\n"},
		{[]string{"-Z", "-n", "nosuch"}, 0, head, ""},
	} {
		if got := run(append([]string{"dtrace", "-l"}, tt.args...)...); got != (result{tt.status, tt.stdout, tt.stderr}) {
			t.Errorf("%q: %+v", tt.args, got)
		}
	}
}
