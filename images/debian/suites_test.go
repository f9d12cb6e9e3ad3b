package debian

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHostSuite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "os-release")
	for text, want := range map[string]string{
		"VERSION_CODENAME=trixie\n": "trixie", "VERSION_CODENAME=bookworm\n": "bookworm",
		"VERSION_CODENAME=noble\n": defaultSuite, "ID=fedora\n": defaultSuite,
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := HostSuite(file); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := HostSuite(file + "?"); got != defaultSuite {
		t.Errorf("no file: %s", got)
	}
}
