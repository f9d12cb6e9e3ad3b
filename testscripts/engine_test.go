package testscripts

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// tracing is how a script traces: not the text of a message.
var tracing = regexp.MustCompile(`(?m)^(exec |status \d+ )?trapline dtrace `)

// TestEngineHook runs the scripts once more with probes that fire by the emulator's own code hook,
// where nothing is patched and no instruction is displaced: what they print is the same.
func TestEngineHook(t *testing.T) {
	runScripts(t, hooked(t, "tiny"), onTiny)
}

// hooked copies the scripts of a directory that trace, with the other engine.
func hooked(t *testing.T, dir string) string {
	to := t.TempDir()
	for _, file := range glob(t, dir+"/*.txtar") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !tracing.Match(text) {
			continue
		}
		other := tracing.ReplaceAll(text, []byte("$0-x engine=hook "))
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), other, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return to
}
