//go:build freebsdimage

package freebsd

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// elsewhere are providers whose lists other tests compare, or that the guest's dtrace makes by itself.
var elsewhere = []string{"PROVIDER", "dtrace", "fbt", "profile", "dtmalloc"}

// TestDeclared: the probes of system calls, and those that the kernel declares, are the original's.
func TestDeclared(t *testing.T) {
	probes := func(rows [][]string) (all []string) {
		for _, row := range rows {
			if len(row) == 5 && !slices.Contains(elsewhere, row[1]) {
				all = append(all, strings.Join(row[1:], ":"))
			}
		}
		slices.Sort(all)
		return all
	}
	ours, real := probes(list(t, "-k", "freebsd/amd64")), probes(oracle(t, "amd64/oracle/dtrace-l.txt"))
	if len(real) < 1700 || !slices.Equal(ours, real) {
		t.Errorf("%d probes, the original has %d", len(ours), len(real))
		differ(t, real, ours)
	}
}

// prepared is what the guest does before what is traced: the name cache is warm, and the program has a
// name of its own, so that no other process counts.
const prepared = "cp /bin/ls /tmp/lt; ls -l / >/dev/null; "

const traced = "/tmp/lt -l / /nonexistent"

// both are the lines that a D program prints of a command, with the guest's own dtrace and with ours.
// The original begins when the program's start is over: what begins with first is the first line of
// either. Addresses differ, so every number of six digits or more is P.
func both(t *testing.T, program, first string) (real, ours []string) {
	script := "cat > /tmp/p.d <<'EOF'\n" + program + "\nEOF\n"
	real = lines(t, first, "boot", "-q", "freebsd/amd64", "-c", "kldload dtraceall; "+prepared+script+"dtrace -q -s /tmp/p.d -c '"+traced+"'")
	ours = lines(t, first, "dtrace", "-q", "-k", "freebsd/amd64", "-n", program, "-c", prepared+traced)
	return real, ours
}

var address = regexp.MustCompile(`-?[0-9]{6,}`)

// lines are those of trapline's output that begin with "= ", from a certain one on.
func lines(t *testing.T, first string, args ...string) (out []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output() // ls fails, and so may the command
	for line := range strings.Lines(string(text)) {
		if line, ok := strings.CutPrefix(strings.TrimSpace(line), "= "); ok {
			out = append(out, address.ReplaceAllString(line, "P"))
		}
	}
	i := slices.IndexFunc(out, func(line string) bool { return strings.HasPrefix(line, first) })
	if i < 0 {
		t.Fatalf("%v: no line %q in %d, %v: %s", args, first, len(out), err, stderr.Bytes())
	}
	return out[i:]
}

// differ shows the first lines that only one of two sorted lists has.
func differ(t *testing.T, real, ours []string) {
	t.Helper()
	for _, x := range []struct {
		who  string
		a, b []string
	}{{"only the original", real, ours}, {"only here", ours, real}} {
		left := slices.DeleteFunc(slices.Clone(x.a), func(line string) bool { return slices.Contains(x.b, line) })
		t.Logf("%s: %q", x.who, left[:min(len(left), 10)])
	}
}

// TestCalls: the system calls of a program, their arguments, results and errors, in their order.
func TestCalls(t *testing.T) {
	real, ours := both(t, `
		syscall:::entry /execname == "lt"/ { printf("= %s %d %d %d\n", probefunc, (int)arg0, arg2, arg3); }
		syscall:::return /execname == "lt"/ { printf("= %s returns %d %d, errno %d\n", probefunc, arg0, arg1, errno); }`, "ioctl")
	if len(real) < 100 || !slices.Equal(real, ours) {
		t.Errorf("%d lines, the original prints %d", len(ours), len(real))
		differ(t, real, ours)
	}
}

// TestStatic: the arguments of static probes of a program, in their order.
func TestStatic(t *testing.T) {
	real, ours := both(t, `
vfs:namei:lookup:entry /execname=="lt"/{printf("= lookup %s\n",stringof(args[1]));}
vfs:namei:lookup:return /execname=="lt"/{printf("= gives %d\n",args[0]);}
priv::priv_check: /execname=="lt"/{printf("= %s %d\n",probename,arg0);}`, "lookup /nonexistent")
	if len(real) < 30 || !slices.Equal(real, ours) {
		t.Errorf("%d lines, the original prints %d", len(ours), len(real))
		differ(t, real, ours)
	}
}
