// Package hostile is what tests of files that somebody has changed have in common.
package hostile

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Mutations is how many changed files of a kind a test tries: what TRAPLINE_MUTATIONS says, or few.
func Mutations(t testing.TB, few int) int { return count(t, "TRAPLINE_MUTATIONS", few) }

// Kills is how many processes of a kind a test kills: what TRAPLINE_KILLS says, or few.
func Kills(t testing.TB, few int) int { return count(t, "TRAPLINE_KILLS", few) }

func count(t testing.TB, variable string, few int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q (want a number of tries)", variable, text)
	}
	return n
}

// values are what a byte, or eight, may become: what counts and lengths are tested with.
var values = []byte{0, 1, 0x7f, 0x80, 0xff, 0x21, 0x93, 0x1f}

// Change changes the first byte of p, or the first eight, always the same for the same r.
func Change(p []byte, r *rand.Rand) {
	if len(p) == 0 {
		return
	}
	switch r.IntN(4) {
	case 0:
		p[0] ^= 1 << r.IntN(8)
	case 1:
		p[0] = values[r.IntN(len(values))]
	case 2:
		p[0] = byte(r.Uint32())
	case 3:
		v := values[r.IntN(len(values))]
		for i := range p[:min(8, len(p))] {
			p[i] = v
		}
	}
}

// Places changes up to most places of p, from lo on.
func Places(p []byte, lo, most int, r *rand.Rand) {
	for range 1 + r.IntN(most) {
		if len(p) > lo {
			Change(p[lo+r.IntN(len(p)-lo):], r)
		}
	}
}

// OneLine fails the test if err is not one line of ours: several, or the text of a panic.
func OneLine(t testing.TB, name string, err error) {
	t.Helper()
	if err != nil && (strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "runtime error")) {
		t.Errorf("%s: %v", name, err)
	}
}

// Nothing is meant to take longer than slow; a machine that does other things besides may take up to ends.
const (
	slow = 10 * time.Second
	ends = 3 * time.Minute
)

// Ends runs do, and ends all tests with everyone's stack if that does not end. What takes long is in the
// test's log.
func Ends(t testing.TB, name string, do func()) {
	t.Helper()
	stuck := time.AfterFunc(ends, func() {
		buf := make([]byte, 1<<16)
		panic(fmt.Sprintf("%s takes more than %v\n%s", name, ends, buf[:runtime.Stack(buf, true)]))
	})
	defer stuck.Stop()
	began := time.Now()
	do()
	if took := time.Since(began); took > slow {
		t.Logf("%s took %v", name, took)
	}
}

// foreign are the ways in which a file or a directory is not this user's alone.
var foreign = map[string]func(name string) error{
	"group":  func(name string) error { return os.Chmod(name, 0o770) },
	"world":  func(name string) error { return os.Chmod(name, 0o702) },
	"sticky": func(name string) error { return os.Chmod(name, 0o777|fs.ModeSticky) },
	"owner":  func(name string) error { return os.Chown(name, 12345, -1) },
}

// Foreign runs do as a subtest for each way in which others than this user could write to a file or a
// directory: change makes one so. Only root can give files away.
func Foreign(t *testing.T, do func(t *testing.T, change func(name string) error)) {
	for name, change := range foreign {
		if name != "owner" || os.Geteuid() == 0 {
			t.Run(name, func(t *testing.T) { do(t, change) })
		}
	}
}
