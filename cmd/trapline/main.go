// Command trapline traces kernel images under an emulator. See trapline help.
package main

import (
	"os"
	"runtime"
	"runtime/debug"

	"trapline/cmd/internal/cli"
)

func main() {
	if os.Getenv("GOGC") == "" {
		collectLate()
	}
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// collectLate puts the first garbage collection off until there are 40 MB; most of that is a
// kernel's symbols, and lets the others come as usual. Many a run ends before.
func collectLate() {
	debug.SetGCPercent(1000)
	runtime.AddCleanup(&[1]*int{}, func(percent int) { debug.SetGCPercent(percent) }, 100)
}
