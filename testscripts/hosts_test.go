package testscripts

import (
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHosts runs the commands of hosts/, whose output make fresh compares on other hosts.
func TestHosts(t *testing.T) {
	trapline, err := exec.LookPath("trapline")
	if err != nil {
		t.Fatal(err)
	}
	have, err := exec.Command("hosts/run", trapline).Output()
	if err != nil {
		t.Fatal(err)
	}
	const file = "hosts/want.txt"
	want, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	if string(have) == string(want) {
		return
	}
	if !*update {
		t.Fatalf("%s (-want +have; -update rewrites it):\n%s", file, cmp.Diff(string(want), string(have)))
	}
	if err := os.WriteFile(file, have, 0o666); err != nil {
		t.Fatal(err)
	}
}
