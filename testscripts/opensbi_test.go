package testscripts

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"trapline/kernel/arch"
)

// TestOpenSBI boots guests under Debian's OpenSBI (make test installs it).
func TestOpenSBI(t *testing.T) {
	const dir = "/usr/lib/riscv64-linux-gnu/opensbi/generic"
	if _, err := os.Stat(dir); err != nil {
		t.Fatal("apt-get install opensbi: ", err)
	}
	runFor(t, arch.RISCV64, "opensbi", func(_ *arch.Arch, env *testscript.Env) error {
		env.Setenv("OPENSBI", dir)
		env.Setenv("TRAPLINE_IMAGE", "tiny/riscv64")
		return nil
	})
}
