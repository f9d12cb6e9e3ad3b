//go:build linuximage && linuxfull

package testscripts

import (
	"testing"

	"trapline/kernel/arch"
)

var full = map[*arch.Arch]string{arch.RISCV64: "linux/riscv64-full"}

// TestLinuxFull runs the scripts that need Linux on riscv64's larger kernel, and those that
// need what it has. That a kernel rewrites its own text is what it is for.
func TestLinuxFull(t *testing.T) {
	for _, dir := range []string{"linux", "full"} {
		t.Run(dir, func(t *testing.T) { runFull(t, dir) })
	}
}

func runFull(t *testing.T, dir string) {
	runFor(t, arch.RISCV64, scriptsFor(t, dir, arch.RISCV64), linuxSetup(t, full))
}

// TestLinuxEngineHook is to TestLinux what TestEngineHook is to TestScripts.
func TestLinuxEngineHook(t *testing.T) { runScripts(t, hooked(t, "linux"), linuxSetup(t, linuxImages)) }

// TestLinuxFullEngineHook likewise.
func TestLinuxFullEngineHook(t *testing.T) {
	for _, dir := range []string{"linux", "full"} {
		t.Run(dir, func(t *testing.T) { runFull(t, hooked(t, dir)) })
	}
}
