//go:build freebsdimage

package freebsd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// arches are those of the images.
var arches = []string{"amd64", "arm64", "riscv64"}

// trapline runs a command and returns what it prints, and its status.
func trapline(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), said.String(), cmd.ProcessState.ExitCode()
}

var statsLine = regexp.MustCompile(`(?m)^(end=\w+) (clock=\d+) .*(state=\S+)`)

// ends is how a guest that runs a line has ended: how, when and in which state.
func ends(t *testing.T, stderr string) string {
	t.Helper()
	m := statsLine.FindStringSubmatch(stderr)
	if m == nil {
		t.Fatalf("no line of --stats in %q", stderr)
	}
	return strings.Join(m[1:], " ")
}

// A guest runs a line, passes on its output and status, and switches itself off; it does the same from
// its first instruction and from a snapshot.
func TestBoot(t *testing.T) {
	const line = "uname -s; echo wrong >&2; sleep 1000 & echo ok > /tmp/x; cat /tmp/x; exit 3"
	for _, a := range arches {
		t.Run(a, func(t *testing.T) {
			var all []string
			for _, flags := range [][]string{{"--no-snapshot"}, {"--no-snapshot"}, nil, nil} {
				out, said, status := trapline(t, append([]string{"boot", "-q", "--stats", "-k", "freebsd/" + a, "-c", line}, flags...)...)
				if out != "FreeBSD\nok\n" || status != 3 || !strings.Contains(said, "wrong\n") {
					t.Errorf("%v: %q, %q, status %d", flags, out, said, status)
				}
				all = append(all, ends(t, said))
			}
			for _, e := range all {
				if e != all[0] || !strings.HasPrefix(e, "end=poweroff ") {
					t.Errorf("it ends as %s, and as %s", all[0], e)
				}
			}
		})
	}
}

// A line is as long as the protocol allows, though the driver of the serial line takes less at once.
func TestLongLine(t *testing.T) {
	line := ": " + strings.Repeat("x", 30000) + "; echo done"
	for _, a := range arches {
		for _, flags := range [][]string{nil, {"--no-snapshot"}} {
			out, said, status := trapline(t, append([]string{"boot", "-q", "-k", "freebsd/" + a, "-c", line}, flags...)...)
			if out != "done\n" || status != 0 {
				t.Errorf("%s %v: %q, %q, status %d", a, flags, out, said, status)
			}
		}
	}
}

// Several CPUs: an order of them that comes of a seed is the same each time, and no order is one in which
// the kernel fails. Modules are loaded meanwhile.
func TestCPUs(t *testing.T) {
	const line = "sysctl -n hw.ncpu; kldload dtraceall & for i in 1 2 3 4 5 6; do ls /bin | cat | cat > /dev/null & done; wait; echo done"
	for _, a := range arches {
		t.Run(a, func(t *testing.T) {
			for seed := range 21 {
				cpus := 2 + seed%2*2
				run := func() string {
					out, said, status := trapline(t, "boot", "-q", "--stats", "--cpus", fmt.Sprint(cpus), "--seed", fmt.Sprint(seed), "-k", "freebsd/"+a, "-c", line)
					if want := fmt.Sprintf("%d\ndone\n", cpus); out != want || status != 0 {
						t.Errorf("seed %d: %q, want %q; %q, status %d", seed, out, want, said, status)
					}
					return ends(t, said)
				}
				if first := run(); seed < 2 {
					if again := run(); again != first {
						t.Errorf("seed %d: %s, and then %s", seed, first, again)
					}
				}
			}
		})
	}
}

// unpack unpacks a file of the oracle's directory.
func unpack(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(name))
	out, err := exec.Command("xz", "-dc", filepath.Join(oracles(), name+".xz")).Output()
	if err == nil {
		err = os.WriteFile(path, out, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A kernel as it is released, which wants ACPI and an I/O APIC, with the root of the image.
func TestGeneric(t *testing.T) {
	kernel, debug := unpack(t, "amd64-generic/kernel"), unpack(t, "amd64-generic/kernel.debug")
	for _, cpus := range []string{"1", "2"} {
		out, said, status := trapline(t, "boot", "-q", "--cpus", cpus, kernel, "-c", "uname -i; sysctl -n hw.ncpu")
		if want := "GENERIC\n" + cpus + "\n"; out != want || status != 0 {
			t.Errorf("%q, want %q; %q, status %d", out, want, said, status)
		}
	}
	out, said, status := trapline(t, "dtrace", "-q", "-k", kernel, "--debug-file", debug, "-c", "ls /",
		"-n", `fbt::kern_statat:entry /execname == "ls"/ { @["hit"] = count(); }`)
	if !strings.Contains(out, "hit") || status != 0 {
		t.Errorf("%q, %q, status %d", out, said, status)
	}
}

// What is wrong with a kernel's files is said in one line.
func TestWrongFiles(t *testing.T) {
	kernel, other := unpack(t, "amd64/kernel"), unpack(t, "amd64-generic/kernel.debug")
	_, said, status := trapline(t, "dtrace", "-k", kernel, "--debug-file", other, "-c", "true", "-n", "BEGIN")
	if status == 0 || strings.Count(said, "\n") != 1 || !strings.Contains(said, "--debug-file") {
		t.Errorf("another kernel's debug file: %q, status %d", said, status)
	}
}
