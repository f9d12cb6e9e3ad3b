package testscripts

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// A script traces in commands of its own and of a shell's; elsewhere it is the text of a message.
var (
	running = regexp.MustCompile(`(?m)^(exec |status \d+ |trapline ).*$`)
	tracing = []byte("trapline dtrace ")
)

// TestEngineHook runs the scripts once more with probes that fire by the emulator's own code hook,
// where nothing is patched and no instruction is displaced: what they print is the same.
func TestEngineHook(t *testing.T) {
	runScripts(t, hooked(t, "tiny"), onTiny)
}

// inGuest are options by which the guest sees what it does not by that engine: breakpoints,
// trampolines.
var inGuest = regexp.MustCompile("-x (patch=inplace|tramp=thread)")

// hooked copies the scripts of a directory that trace, with the other engine.
func hooked(t *testing.T, dir string) string {
	to := t.TempDir()
	for _, file := range glob(t, dir+"/*.txtar") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		other := running.ReplaceAllFunc(text, func(line []byte) []byte {
			return bytes.ReplaceAll(line, tracing, []byte("trapline dtrace -x engine=hook "))
		})
		if bytes.Equal(other, text) || inGuest.Match(text) {
			continue
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), other, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return to
}
