package testscripts

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stacksProgram tells the thread and the stack at every instruction of the kernel.
const stacksProgram = `kinst::*: { printf("@%s %d\n", probefunc, tid); stack(32); }`

// TestStacks holds the stacks of two successive instructions of a thread against each other: an
// instruction leaves the callers alone, a call adds one, a return takes one away. Only
// the function that switches stacks may do otherwise. amd64 is left out: at the way into
// its kernel there are no frame pointers.
func TestStacks(t *testing.T) {
	program := filepath.Join(t.TempDir(), "trapline")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/trapline").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, image := range []string{"tiny/arm64", "tiny/riscv64"} {
		t.Run(image, func(t *testing.T) {
			cmd := exec.Command(program, "dtrace", "-q", "-k", image, "-x", "bufsize=512m", "-n", stacksProgram, "-c", "forks 1")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil || strings.Contains(stderr.String(), "drop") {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			checkStacks(t, readStacks(out))
		})
	}
}

// A moment is the stack, innermost first, at one instruction.
type moment struct {
	function, thread string
	stack            []string
}

func readStacks(text []byte) (all []moment) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if at, ok := strings.CutPrefix(line, "@"); ok {
			var m moment
			fmt.Sscan(at, &m.function, &m.thread)
			all = append(all, m)
		} else if len(all) > 0 && strings.Contains(line, "`") {
			m := &all[len(all)-1]
			m.stack = append(m.stack, line)
		}
	}
	return all
}

func checkStacks(t *testing.T, all []moment) {
	if len(all) < 100_000 {
		t.Errorf("only %d instructions were traced", len(all))
	}
	reported := 0
	for i := 1; i < len(all) && reported < 10; i++ {
		a, b := all[i-1], all[i]
		if a.thread != b.thread || b.function == "switch_context" || steady(a.stack, b.stack) {
			continue
		}
		reported++
		t.Errorf("%v is followed by %v", a.stack, b.stack)
	}
}

// steady reports whether one instruction can make the second of two stacks of the first.
func steady(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	next := slices.Equal(a[1:], b[1:])
	call := len(b) > 1 && slices.Equal(a[1:], b[2:])
	ret := len(a) > 1 && slices.Equal(a[2:], b[1:])
	return next || call || ret
}
