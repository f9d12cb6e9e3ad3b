package testscripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"trapline/kernel/arch"
)

// TestXv6 runs the scripts in xv6/ on a kernel that is not part of this: xv6 for riscv64, of $XV6 or of
// ../shared/guests/xv6-riscv beside the project, if one is there: kernel, and fs.img.xz.
func TestXv6(t *testing.T) {
	dir := os.Getenv("XV6")
	if dir == "" {
		dir = "../../shared/guests/xv6-riscv"
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "kernel")); err != nil {
		t.Skip("no xv6: ", err)
	}
	disk := filepath.Join(t.TempDir(), "fs.img")
	data, err := exec.Command("xz", "-dc", filepath.Join(dir, "fs.img.xz")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(disk, data, 0o666); err != nil {
		t.Fatal(err)
	}
	runFor(t, arch.RISCV64, "xv6", func(_ *arch.Arch, env *testscript.Env) error {
		env.Setenv("TRAPLINE_IMAGE", filepath.Join(dir, "kernel"))
		env.Setenv("DISK", disk)
		return nil
	})
}
