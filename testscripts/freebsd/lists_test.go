//go:build freebsdimage

package freebsd

import (
	"bufio"
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"trapline/cmd/clitest"
)

// asCommand in the environment makes this test the trapline command.
const asCommand = "TRAPLINE_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		clitest.Main()
		return
	}
	os.Exit(m.Run())
}

// list is what trapline dtrace -l prints, in words.
func list(t *testing.T, args ...string) (rows [][]string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"dtrace", "-l"}, args...)...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	for line := range bytes.Lines(out) {
		rows = append(rows, strings.Fields(string(line)))
	}
	return rows
}

// oracles is the directory with FreeBSD's kernels and what the original prints of them.
func oracles() string { return cmp.Or(os.Getenv("FREEBSD"), "../../../shared/freebsd") }

// oracle are the lines of a list of the original, in words.
func oracle(t *testing.T, name string) (rows [][]string) {
	t.Helper()
	path := filepath.Join(oracles(), name+".xz")
	out, err := exec.Command("xz", "-dc", path).Output()
	if err != nil {
		t.Fatalf("reading %s: %v", path, err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		rows = append(rows, strings.Fields(lines.Text()))
	}
	return rows
}

// named are the differences, with the reason.
var named = map[string]map[string]string{
	"amd64": {
		"fpudna 75": "x87", "fpudna 77": "x87", "fpu_activate_sw 76": "x87", "fpu_activate_sw 78": "x87",
	},
	// The original's list is of a kernel with the debugger.
	"arm64": {"disasm": "DDB", "dbg_monitor_init": "DDB"},
}

// TestKinst: every function of the original's list has the same probes with kinstpolicy=freebsd.
func TestKinst(t *testing.T) {
	for _, a := range []string{"amd64", "arm64", "riscv64"} {
		t.Run(a, func(t *testing.T) {
			ours := map[string][]int{}
			for _, row := range list(t, "-k", "freebsd/"+a, "-x", "kinstpolicy=freebsd", "-n", "kinst::*:*") {
				add(ours, row, 3)
			}
			real := map[string][]int{}
			for _, row := range oracle(t, a+"/oracle/kinst-real-half.txt") {
				add(real, row, 0)
			}
			probes := 0
			for name, offsets := range real {
				probes += len(offsets)
				compare(t, a, name, offsets, ours[name])
			}
			t.Logf("%d functions, %d probes", len(real), probes)
			if len(real) < 400 {
				t.Errorf("only %d functions", len(real))
			}
		})
	}
}

// add notes an offset of a row, which has the function at a place.
func add(of map[string][]int, row []string, function int) {
	if len(row) != function+2 {
		return
	}
	if off, err := strconv.Atoi(row[function+1]); err == nil {
		of[row[function]] = append(of[row[function]], off)
	}
}

func compare(t *testing.T, a, name string, real, ours []int) {
	slices.Sort(real)
	slices.Sort(ours)
	if named[a][name] != "" {
		return
	}
	real = slices.DeleteFunc(real, func(off int) bool { return named[a][name+" "+strconv.Itoa(off)] != "" })
	if !slices.Equal(real, ours) {
		t.Errorf("%s: the original has %d probes, here are %d", name, len(real), len(ours))
	}
}

// TestFBT: the original's entries and returns. What it lacks here are returns by a jump to another function,
// which it does not see on amd64; what is listed here under another name is a function that the kernel
// chooses.
func TestFBT(t *testing.T) {
	ours := map[string]bool{}
	for _, row := range list(t, "-k", "freebsd/amd64", "-x", "kinstpolicy=freebsd", "-P", "fbt") {
		if len(row) == 5 {
			ours[row[3]+" "+row[4]] = true
		}
	}
	real, names := map[string]bool{}, map[string]bool{}
	for _, row := range oracle(t, "amd64/oracle/dtrace-l.txt") {
		if len(row) == 5 && row[1] == "fbt" && row[2] == "kernel" {
			real[row[3]+" "+row[4]] = true
		}
	}
	for probe := range real {
		if name, _, _ := strings.Cut(probe, " "); !ours[probe] {
			names[name] = true
		}
	}
	for probe := range ours {
		if !real[probe] && strings.HasSuffix(probe, " entry") {
			t.Errorf("the original does not have %s", probe)
		}
	}
	if len(names) != 37 {
		t.Errorf("%d functions of the original are not here under their names, want the 37 that the kernel chooses", len(names))
	}
	chosen := []string{"-k", "freebsd/amd64", "-Z"}
	for name := range names {
		chosen = append(chosen, "-n", "fbt::"+name+":entry")
	}
	// The kernel itself uses two of them nowhere.
	if n := len(list(t, chosen...)) - 1; n != 35 {
		t.Errorf("%d of them have probes under their names, want 35", n)
	}
}
